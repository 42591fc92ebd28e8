"""From words to wind: builds the objects that compute out of what a campaign describes.

``campaign`` knows names and figures, ``wake`` and ``layout`` know physics, and none of them knows the others. This is
the one place that knows both sides, so that ``run``, ``validate``, ``show`` and whatever else looks at a result
compute it the same way. It may import ``campaign``, ``wake``, ``layout`` and the record of ``store``; ``runner``,
``interop`` and ``looking`` may import it.
"""

from vindeby.assembly.physics import physics_checks
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.assembly.wind import site_of, turbine_of, wake_model_of, wind_farm

__all__ = [
    "physics_checks",
    "pipeline_of",
    "problem_of",
    "site_of",
    "turbine_of",
    "wake_model_of",
    "wind_farm",
]
