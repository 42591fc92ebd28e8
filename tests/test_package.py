from __future__ import annotations

import ast
import inspect
import pickle
import subprocess
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path

import pydantic
import pytest

import vindeby
from vindeby import errors, units

PUBLIC = {
    "__version__",
    *("Campaign", "Database", "Record", "ResultSet", "Summary", "open_database", "run"),
    *("Neighbours", "FlowMap", "Turbine", "WakeModel", "WindFarm", "wake_models"),
    *(
        "TableSite",
        "TimeSeriesSite",
        "TurbulenceTable",
        "UniformSite",
        "WeibullSite",
        "GriddedSite",
        "WindGrid",
    ),
    *("Boundary", "Layout", "LayoutProblem", "Result"),
    *("Annealing", "Auto", "Gradient", "Lattice", "Method", "Pipeline"),
    *("RandomSearch", "RandomStart", "SmartStart"),
    *("VindebyError", "errors", "evaluate", "plots"),
}


def test_a_class_name_means_one_thing() -> None:
    """A reader who searches for a name finds one class; names that begin with _ stay in their module."""
    files = Path(str(vindeby.__file__)).parent.rglob("*.py")
    names = Counter(
        node.name
        for file in files
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_the_public_names_are_these() -> None:
    """A name here is a promise; adding or removing one is a decision."""
    assert set(vindeby.__all__) == PUBLIC
    assert len(vindeby.__all__) == len(PUBLIC)
    assert dir(vindeby) == sorted([*PUBLIC, "open"])
    for name in vindeby.__all__:
        assert getattr(vindeby, name) is not None


def test_what_is_public_says_what_it_does() -> None:
    """Classes, functions, methods and properties, or what they inherit from; the linter asks for no docstrings."""
    of_pydantic = dir(pydantic.BaseModel)
    public = [getattr(vindeby, name) for name in PUBLIC]
    members = [
        (f"{one.__name__}.{name}", member)
        for one in public
        if inspect.isclass(one)
        for name, member in inspect.getmembers(one)
        if name not in of_pydantic
        and not name.startswith("_")
        and (callable(member) or isinstance(member, property | cached_property))
    ]
    functions = [(one.__name__, one) for one in public if inspect.isclass(one) or inspect.isfunction(one)]
    undocumented = [name for name, one in [*functions, *members] if not inspect.getdoc(one)]
    assert undocumented == []
    assert len(members) > 100


def test_the_modules_among_the_public_names_are_reached_without_importing_them() -> None:
    """In a process of its own: here another test may have imported them."""
    code = "import vindeby; print(vindeby.errors.__name__, vindeby.plots.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "vindeby.errors vindeby.plots\n"


def test_open_is_short_for_open_database_and_no_star_import_takes_the_builtin_away() -> None:
    assert vindeby.open is vindeby.open_database
    namespace: dict[str, object] = {}
    exec("from vindeby import *", namespace)  # the point of the test
    assert "open" not in namespace
    assert namespace["open_database"] is vindeby.open_database


def test_a_type_checker_sees_the_public_names_that_there_are() -> None:
    source = inspect.getsource(vindeby)
    imported = source[source.index("if TYPE_CHECKING") : source.index("__getattr__")]
    names = {
        line.split(" as ")[1].split()[0]
        for line in imported.splitlines()
        if " import " in line and " as " in line
    }
    assert names == PUBLIC - {"__version__", "wake_models"}
    assert "    wake_models = MODELS" in imported
    assert "    open = open_database" in imported


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        vindeby.nothing  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, vindeby; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "numpy",
        "numba",
        "dask",
        "matplotlib",
        "h5py",
        "pydantic",
        "shapely",
        "pandas",
        "xarray",
        "rich",
        "typer",
        "scipy",
    }
    assert heavy & set(loaded) == set()


def error_classes() -> list[type[errors.VindebyError]]:
    members: list[type] = [member for _, member in inspect.getmembers(errors, inspect.isclass)]
    return [member for member in members if issubclass(member, errors.VindebyError)]


@pytest.mark.parametrize("error", error_classes())
def test_every_error_is_in_the_tree_of_the_docstring_with_its_exit_status(
    error: type[errors.VindebyError],
) -> None:
    assert error.__name__ in errors.__all__
    assert error.__name__ in (errors.__doc__ or "")
    expected = (
        2 if issubclass(error, errors.InputError) else 130 if issubclass(error, errors.StoppedError) else 1
    )
    assert error.exit_status == expected


def test_a_campaign_error_survives_pickling_with_its_problems() -> None:
    error = errors.CampaignError([errors.Problem("c.yaml", "seeds", "is wrong", "0", "write 1", 7)])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == "c.yaml:7: seeds: is wrong (got 0); write 1"


def test_conversions_are_right() -> None:
    assert units.mean_power_to_aep_gwh(1e9) == pytest.approx(8760.0, rel=1e-15)
    assert (units.KW, units.MW, units.KM2) == (1e3, 1e6, 1e6)
