"""Pictures of layouts and campaigns with matplotlib; every function returns the axes that it drew on.

>>> import vindeby
>>> results = vindeby.ResultSet("layouts.h5")                    # doctest: +SKIP
>>> axes = vindeby.plots.layout(results, "farm0_t5_s0")          # doctest: +SKIP
>>> axes.figure.savefig("layout.pdf")                            # doctest: +SKIP

Colours are steps of viridis, of one blue or of grey, so they keep their order in black and white and for every kind
of colour vision, and each has a contrast of at least 3 against its page, light or dark. What a colour tells, a place,
a sign or a figure tells too.
"""

from vindeby.plots.campaign import PICTURES
from vindeby.plots.compare import compare
from vindeby.plots.gallery import gallery
from vindeby.plots.layout import layout
from vindeby.plots.style import FORMATS, save

__all__ = ["FORMATS", "PICTURES", "compare", "gallery", "layout", "save"]
