"""From words to wind: builds the objects that compute out of what a campaign describes.

``campaign`` knows names and figures, ``wake`` and ``layout`` know physics, and none of them knows the others. This is
the one place that knows both sides, so that ``run``, ``validate``, ``show`` and whatever else looks at a result
compute it the same way. It may import ``campaign``, ``wake``, ``layout`` and ``store``; ``runner``, ``results``
and what stands above may import it.

Names are loaded when first used: who only checks where turbines stand does not wait for Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.lazy import names_on_demand

if TYPE_CHECKING:
    from vindeby.assembly.physics import physics_checks as physics_checks
    from vindeby.assembly.search import pipeline_of as pipeline_of
    from vindeby.assembly.search import problem_of as problem_of
    from vindeby.assembly.wind import site_of as site_of
    from vindeby.assembly.wind import turbine_of as turbine_of
    from vindeby.assembly.wind import wake_model_of as wake_model_of
    from vindeby.assembly.wind import wind_farm as wind_farm
    from vindeby.assembly.wind import wind_farm_of as wind_farm_of

__getattr__, __all__ = names_on_demand(
    __name__,
    {
        "vindeby.assembly.physics": "physics_checks",
        "vindeby.assembly.search": "pipeline_of problem_of",
        "vindeby.assembly.wind": "site_of turbine_of wake_model_of wind_farm wind_farm_of",
    },
)
