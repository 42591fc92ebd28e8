"""Run TopFarm + PyWake on the cases and write down where it puts the turbines.

    python -m tests.layout.make_golden [--missing]

``--missing`` keeps what the file has and adds the cases that it lacks.

Needs ``topfarm`` (2.7.1 with ``py_wake`` 2.6.20 made the file that is here). One of TopFarm's dependencies
cannot be built everywhere; for smart start, ``pip install --no-deps topfarm`` and then ``py_wake``,
``"openmdao<3.45"``, ``shapely``, ``scikit-learn``, ``ipython``, ``six`` and ``tqdm`` are enough.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.layout.cases import CASES
from tests.layout.topfarm_oracle import smart_start

GOLDEN = Path(__file__).with_name("golden.json")


def main() -> None:
    found: dict[str, Any] = json.loads(GOLDEN.read_text()) if "--missing" in sys.argv[1:] else {}
    for case in CASES:
        if case.name in found:
            continue
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            x, y, types = smart_start(case)
        found[case.name] = {"x": x, "y": y, "types": types}
        print(case.name, flush=True)  # noqa: T201
        lines = [f"{json.dumps(name)}: {json.dumps(layout)}" for name, layout in found.items()]
        GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
