"""Open cases of layout optimisation: their figures, their judges, and the best layouts that are known.

A case is a campaign file (``vindeby run case:NAME``), an entry in ``campaign/presets/cases/index.yaml`` with what
others have published, and a table of the best layout that vindeby has found. Its judge says what a layout is worth and
whether it keeps to the rules. Judges share no code with the engine that searches: nothing of ``vindeby.wake``,
``vindeby.layout`` or ``vindeby.assembly`` is used in this package.
"""

from vindeby.cases.catalogue import Case, PublishedLayout, all_cases, case_named, read_layout
from vindeby.cases.judges import CaseVerdict, judged

__all__ = ["Case", "CaseVerdict", "PublishedLayout", "all_cases", "case_named", "judged", "read_layout"]
