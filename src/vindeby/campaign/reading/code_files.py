"""Python code that a campaign names: its files, found without executing anything, and its import."""

import ast
import hashlib
import importlib
import importlib.util
import site
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from vindeby.errors import InputError


def search_path() -> list[str]:
    """Return the folders to search for modules: Python's path and the current folder."""
    here = str(Path.cwd())
    path = [entry or here for entry in sys.path]
    return path if here in path else [*path, here]


def file_of(module: str, path: Sequence[str]) -> Path | None:
    """Return the first file or folder that importing a module would execute outside of installed packages, if any.

    The packages above a module are executed too. Nothing is imported here: each part of the name is only looked up.
    """
    file = None
    for _, file in _places(module, path):
        if not is_installed(file):
            return file
    return file


def own_code(module: str, path: Sequence[str]) -> str | None:
    """Return a digest of the code outside of installed packages that importing a module executes; None without any.

    That is the module, the packages above it, and what these import by a statement, as far as it is the user's own.
    """
    found: dict[str, bytes] = {}
    left = [module]
    while left:
        for name, file in _places(left.pop(), path):
            if name in found or is_installed(file):
                continue
            found[name] = file.read_bytes() if file.is_file() else b""
            left += _imported(found[name], name if file.name == "__init__.py" else name.rpartition(".")[0])
    parts = (f"{name} {hashlib.sha256(code).hexdigest()}" for name, code in sorted(found.items()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16] if found else None


def digest_of_files(options: Mapping[str, Any]) -> str | None:
    """Return a digest of the files that options name as ``file`` or ``..._file``, at any depth; None without any."""
    found: list[str] = []

    def look(value: Any, name: str) -> None:
        if isinstance(value, Mapping):
            for key, part in value.items():
                look(part, str(key))
        elif isinstance(value, list | tuple):
            for part in value:
                look(part, name)
        elif isinstance(value, str) and (name == "file" or name.endswith("_file")) and Path(value).is_file():
            with Path(value).open("rb") as file:
                found.append(f"{value} {hashlib.file_digest(file, 'sha256').hexdigest()}")

    look(options, "")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16] if found else None


def imported(field: str, name: str, kind: str, *, may_be: type | tuple[()] = ()) -> Any:
    """Import ``package.module:name``, a callable or a ``may_be``; raise InputError about ``field`` if that fails.

    The current folder stays on Python's path, as it is in workers: functions may import when they are called.
    """
    module, _, path = name.partition(":")
    sys.path.extend(entry for entry in search_path() if entry not in sys.path)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{field}: {name}: {error}; is the module installed, or in the folder you started from?"
        ) from None
    except Exception as error:  # code of the user's may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{place.filename}, line {place.lineno}: importing {module} raised {type(error).__name__}: {error}"
        raise InputError(f"{field}: {name}: {message}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{field}: {name}: {module} has no {path}; name a {kind} in it")
        found = getattr(found, part)
    if not callable(found) and not isinstance(found, may_be):
        raise InputError(f"{field}: {name} is a {type(found).__name__}, not a {kind}")
    return found


def _imported(code: bytes, package: str) -> Iterator[str]:
    """Yield the modules that import statements name; for ``from a import b`` also ``a.b``, which may be a module."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):  # importing it says what is wrong
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _places(module: str, path: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield the packages above a module and the module, as far as they exist, each with its file or folder."""
    places: Sequence[str] | None = path
    names = module.split(".")
    for length, name in enumerate(names, 1):
        # By its last part: of a folder without an __init__.py Python would ask for the imported package above it.
        spec = PathFinder.find_spec(name, list(places)) if places is not None else None
        if spec is None and length == 1:
            spec = _found_otherwise(name)
        if spec is None:
            return
        places = spec.submodule_search_locations
        file = spec.origin if spec.has_location else next(iter(places or ()), None)
        if file is not None:  # a package without a file of its own is its folder
            yield ".".join(names[:length]), Path(file)


def _found_otherwise(name: str) -> ModuleSpec | None:
    """Return a module that is not on Python's path, e.g. of a package installed with ``pip install --editable``."""
    with suppress(ValueError, ImportError):  # a name that no module can have, or one without a place
        return importlib.util.find_spec(name)
    return None


def is_installed(file: Path) -> bool:
    """Return whether a file belongs to the standard library, to an installed package, or to vindeby."""
    parents = file.resolve().parents
    return any(folder in parents for folder in _installed())


@cache
def _installed() -> frozenset[Path]:
    names = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    names += [*site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parents[2])]
    names += [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    return frozenset(Path(name).resolve() for name in names if name)
