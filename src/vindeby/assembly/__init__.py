"""The assembly of the objects that compute, from the description in a campaign.

``campaign`` knows names and figures, ``wake`` and ``layout`` know physics, and none of them knows the others. This is
the one place that knows both sides, so that ``run``, ``validate``, ``show`` and whatever else looks at a result
compute it the same way. It may import ``campaign``, ``wake``, ``layout`` and ``store``; ``runner``, ``results``
and what stands above may import it.
"""
