"""``extends: base.yaml``: a campaign file that says only what differs from another one.

The other file, its base, may extend a third. Mappings are merged key by key, everything else is replaced as a whole,
and a key that is null removes what the base has there (as in JSON Merge Patch, RFC 7396). Names of files are relative
to the file in which they are written. Each value keeps the file and the line where it was written.
"""

import os
from pathlib import Path
from typing import Any

from vindeby.campaign import presets
from vindeby.campaign.reading.files import UnreadableError, read_bounded_text
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, read
from vindeby.campaign.reading.yaml_text import Path as DataPath

KEY = "extends"
_MOST_FILES = 10
_NAMES_OF_FILES = ("file", "database", "floris", "site")
"""Keys whose text is the name of a file; not below those of ``_OPAQUE``, which may have any keys."""
_OPAQUE = ("method", "run")


def extended(document: Document, path: Path) -> Document:
    """The document of the campaign file at ``path``, put together with those that it extends."""
    chain, parts = [path], [document]
    while KEY in parts[-1].data:
        parts.append(_base(parts[-1], chain))
    for part, at in zip(parts, chain, strict=True):
        part.data.pop(KEY, None)
        _move_names(part.data, at.parent, path.parent)
    merged = parts.pop()
    for part in reversed(parts):
        merged = _merged(merged, part)
    if len(chain) > 1:
        merged.notes.append(f"taken: {', '.join(base.name for base in chain[1:])}, by extends")
    return merged


def _base(document: Document, chain: list[Path]) -> Document:
    """The document that the last of a chain of files extends, which is added to the chain."""
    name, at = document.data[KEY], (KEY,)
    if not isinstance(name, str) or not name.strip():
        document.refuse(at, "must be the path of a campaign file", "write it as text", name)
    base = chain[-1].parent / name
    if name in presets.known() and not base.exists():
        chain.append(base)
        return _mapping(document, read(presets.text(name), f"preset {name}"), name)
    shown = " -> ".join(str(one) for one in (*chain, base))
    if base.resolve() in {one.resolve() for one in chain}:
        document.refuse(at, f"goes round in a circle: {shown}", "remove one of these lines", name)
    if len(chain) >= _MOST_FILES:
        document.refuse(
            at, f"is a chain of more than {_MOST_FILES} files: {shown}", "merge some of them", name
        )
    try:
        text = read_bounded_text(base, MAX_BYTES)
    except UnreadableError as error:
        [problem] = error.problems
        document.refuse(at, f"{problem.message}: {shown}", problem.remedy or "check the path", name)
    chain.append(base)
    return _mapping(document, read(text, str(base)), name)


def _mapping(document: Document, base: Document, name: str) -> Document:
    if not isinstance(base.data, dict):
        document.refuse((KEY,), "is not a campaign file: it must be a mapping", "name another file", name)
    return base


def _move_names(data: dict[str, Any], folder: Path, to: Path) -> None:
    """Make the names of files relative to another folder."""
    if folder != to:
        beside = os.path.relpath(folder, to)
        data.update({key: _move(value, key, beside) for key, value in data.items() if key not in _OPAQUE})


def _move(value: Any, key: str, beside: str) -> Any:
    if isinstance(value, dict):
        return {name: _move(inner, name, beside) for name, inner in value.items()}
    if isinstance(value, list):
        return [_move(inner, "", beside) for inner in value]
    return os.path.join(beside, value) if key in _NAMES_OF_FILES and isinstance(value, str) else value  # noqa: PTH118


def _merged(base: Document, own: Document) -> Document:
    """The base with what another document says."""
    replaced: set[DataPath] = set()
    data = _merge(base.data, own.data, (), replaced)
    origins = {
        path: origin
        for path, origin in base.origins.items()
        if not any(path[:length] in replaced for length in range(1, len(path) + 1))
    }
    return Document(data, origins | own.origins, [*base.notes, *own.notes])


def _merge(base: Any, own: Any, path: DataPath, replaced: set[DataPath]) -> Any:
    if not isinstance(base, dict) or not isinstance(own, dict):
        replaced.add(path)
        return own
    merged = dict(base)
    for key, value in own.items():
        at = (*path, key)
        if value is None:
            replaced.add(at)
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged[key], value, at, replaced) if key in merged else value
    return merged
