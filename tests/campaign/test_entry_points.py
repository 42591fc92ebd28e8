"""Wake models and search methods of other packages, by the names under which they are offered."""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.examples import small
from vindeby.campaign import Campaign
from vindeby.campaign.json_schema import json_schema
from vindeby.campaign.reading import code_files
from vindeby.errors import CampaignError, InputError

SEARCHES = """
from dataclasses import dataclass
from vindeby.layout import Method, RandomStart

@dataclass(frozen=True)
class Tried(Method):
    trials: int = 1

    def prepare(self, problem):
        search = RandomStart().prepare(problem)
        return lambda seed, start: max((search(seed + n, None) for n in range(self.trials)), key=energy)

def energy(found):
    return found.aep_gwh

class NotAMethod:
    pass
"""
WAKES = """
from vindeby.wake.models import jensen

def quick(k=0.1):
    return jensen(k=k)
"""
POINTS = """
[vindeby.wake_models]
quick-wake = offering.wakes:quick
broken-wake = offering.nowhere:quick
jensen = offering.wakes:quick
extra-wake = offering.wakes:quick [fast]

[vindeby.search_methods]
tried = offering.searches:Tried
wrong = offering.searches:NotAMethod
bad-form = offering.searches
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package that pip has installed into a folder on Python's path."""
    files = {
        "offering/__init__.py": "",
        "offering/wakes.py": WAKES,
        "offering/searches.py": SEARCHES,
        "offering-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: offering\nVersion: 1.5\n",
        "offering-1.5.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "offering-1.5.dist-info/entry_points.txt": POINTS,
    }
    wheel, record = tmp_path / "offering-1.5-py3-none-any.whl", "offering-1.5.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        lines = [f"{record},,"]
        for name, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
            lines.append(f"{name},sha256={digest},{len(text)}")
            archive.writestr(name, text)
        archive.writestr(record, "\n".join(lines) + "\n")
    target = tmp_path / "site-packages"
    words = ["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, *words, "--target", str(target), str(wheel)], check=True, capture_output=True
    )
    monkeypatch.syspath_prepend(target)
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] == "offering"]:
        monkeypatch.delitem(sys.modules, name)
    return target


def campaign(**changes: Any) -> Campaign:
    return Campaign.from_data({**small(), **changes})


def test_names_stand_for_the_code_with_a_digest_of_its_sources(package: Path) -> None:
    given = campaign(wake={"quick-wake": {"k": 0.2}}, method=["smart-start", {"tried": {"trials": 3}}])
    assert given.wake.python is not None
    assert given.wake.python.model == "offering.wakes:quick"
    assert given.wake.python.options == {"k": 0.2}
    assert given.wake.title == "quick-wake"
    assert given.search_in_words == "wake quick-wake; search smart-start -> tried"
    kept = Campaign.loads(given.dumps())
    assert kept == given
    assert kept.fingerprints() == given.fingerprints()
    (package / "offering" / "wakes.py").write_text(WAKES + "# edited\n")
    edited = campaign(wake={"quick-wake": {"k": 0.2}}, method=["smart-start", {"tried": {"trials": 3}}])
    assert edited.fingerprints() != given.fingerprints()
    with pytest.raises(InputError, match=r"wake\.python: offering\.wakes:quick: its code is not that of"):
        given.wake.python.refuse_other_code()


@pytest.mark.usefixtures("package")
def test_a_bare_name_takes_the_defaults_and_what_vindeby_has_comes_first() -> None:
    bare = campaign(wake="quick-wake", method="tried")
    assert bare.wake.python is not None
    assert bare.method[0].python is not None
    assert bare.method[0].python.options == {}
    assert campaign(wake="jensen").wake.python is None


@pytest.mark.usefixtures("package")
def test_a_broken_one_is_named_and_does_not_stop_others() -> None:
    with pytest.raises(CampaignError, match=r"wake\.broken-wake: cannot be used: .* offering\.nowhere"):
        campaign(wake={"broken-wake": {}})
    with pytest.raises(
        CampaignError, match=r"bad-form: cannot be used: offering\.searches is not of the form"
    ):
        campaign(method=["smart-start", {"bad-form": {}}])


@pytest.mark.usefixtures("package")
def test_extras_behind_the_code_are_not_part_of_its_name() -> None:
    offer = code_files.offers("vindeby.wake_models")["extra-wake"]
    assert (offer.code, offer.trouble) == ("offering.wakes:quick", "")


def also_offered(folder: Path, module: str) -> None:
    """Another package that offers quick-wake, as a module that need not be there."""
    information = folder / "also-2.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: also\nVersion: 2.0\n")
    (information / "entry_points.txt").write_text(f"[vindeby.wake_models]\nquick-wake = {module}:quick\n")
    importlib.invalidate_caches()


def test_only_offers_that_can_be_used_compete_for_a_name(package: Path) -> None:
    also_offered(package, "also_nowhere")
    offer = code_files.offers("vindeby.wake_models")["quick-wake"]
    assert (offer.package, offer.trouble) == ("offering 1.5", "")
    (package / "also_nowhere.py").write_text(WAKES)
    importlib.invalidate_caches()
    trouble = code_files.offers("vindeby.wake_models")["quick-wake"].trouble
    assert trouble.endswith("offers it too; uninstall one of them")


def test_a_package_that_a_finder_of_its_own_finds_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip installs some packages with --editable."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "edited_wakes.py").write_text(WAKES)

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> Any:
            file = tmp_path / "sources" / "edited_wakes.py"
            return importlib.util.spec_from_file_location(name, file) if name == "edited_wakes" else None

    also_offered(tmp_path / "site-packages", "edited_wakes")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    assert code_files.offers("vindeby.wake_models")["quick-wake"].trouble == "there is no module edited_wakes"
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    given = campaign(wake="quick-wake")
    assert given.wake.python is not None
    assert given.wake.python.model == "edited_wakes:quick"
    edited = code_files.own_code("edited_wakes", code_files.search_path())
    assert edited is not None


@pytest.mark.usefixtures("package")
def test_the_schema_has_what_packages_offer_beside_what_vindeby_has() -> None:
    forms = json_schema()["$defs"]["WakeSection"]["anyOf"]
    plain = json_schema(offered=False)["$defs"]["WakeSection"]["anyOf"]
    assert forms[0]["properties"]["jensen"] == plain[0]["properties"]["jensen"]
    new = forms[0]["properties"].keys() - plain[0]["properties"].keys()
    assert new == {"quick-wake", "extra-wake"}  # not those that cannot be used
    [names] = [form["enum"] for form in forms if "enum" in form]
    assert len(set(names)) == len(names)
    assert new <= set(names)
    assert {one["required"][0] for one in forms[0]["oneOf"]} >= new


def test_a_name_that_nobody_offers_is_refused() -> None:
    with pytest.raises(CampaignError, match=r"wake\.quick-wake: is not a known key"):
        campaign(wake={"quick-wake": {}})


@pytest.mark.usefixtures("package")
@pytest.mark.slow
def test_the_steps_of_a_search_may_be_methods_of_other_packages() -> None:
    from vindeby.assembly.search import pipeline_of

    steps = pipeline_of(campaign(method=[{"tried": {"trials": 3}}, "gradient"])).steps
    assert (type(steps[0]).__name__, vars(steps[0])) == ("Tried", {"trials": 3})
    with pytest.raises(InputError, match=r"offering\.searches:NotAMethod gives a NotAMethod, not a vindeby"):
        pipeline_of(campaign(method=["smart-start", "wrong"]))
    with pytest.raises(InputError, match=r"offering\.searches:Tried.* raised TypeError"):
        pipeline_of(campaign(method=[{"tried": {"unknown": 3}}]))
