"""``extends: base.yaml``: a campaign file that says only what differs from another one, in the same folder.

The other file, its base, may extend a third. Mappings are merged key by key, everything else is replaced as a whole,
and a key that is null removes what the base has there (as in JSON Merge Patch, RFC 7396). Files that they name are
relative to their folder, which is one and the same. Each value keeps the file and the line where it was written.
"""

from pathlib import Path
from typing import Any

from vindeby.campaign import presets
from vindeby.campaign.reading.files import UnreadableError, read_bounded_text
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, read
from vindeby.campaign.reading.yaml_text import Path as DataPath

KEY = "extends"


def extended(document: Document, path: Path) -> Document:
    """Return the document of the campaign file at ``path``, merged with those that it extends."""
    chain, parts = [path], [document]
    while KEY in parts[-1].data:
        parts.append(_base(parts[-1], chain))
    for part in parts:
        part.data.pop(KEY, None)
    merged = parts.pop()
    for part in reversed(parts):
        merged = _merged(merged, part)
    if len(chain) > 1:
        merged.notes.append(f"extends {', '.join(base.name for base in chain[1:])}")
    return merged


def _base(document: Document, chain: list[Path]) -> Document:
    """Return the document that the last of a chain of files extends, and add its path to the chain."""
    name, at = document.data[KEY], (KEY,)
    if not isinstance(name, str) or not name.strip():
        document.refuse(at, "must be the name of a campaign file or of a preset", "write it as text", name)
    if Path(name).parent != Path():
        document.refuse(
            at, "is in another folder", "put both files into one folder, and write the name", name
        )
    base = chain[0].parent / name
    if name in presets.known() and not base.exists():
        chain.append(base)
        return _mapping(document, read(presets.text(name), f"preset {name}"), name)
    shown = " -> ".join(str(one) for one in (*chain, base))
    if base in chain:
        document.refuse(at, f"is circular: {shown}", "remove one of these lines", name)
    try:
        text = read_bounded_text(base, MAX_BYTES)
    except UnreadableError as error:
        [problem] = error.problems
        remedy = "check the name" if base.suffix else presets.remedy(name)
        document.refuse(at, f"{problem.message}: {shown}", remedy, name)
    chain.append(base)
    return _mapping(document, read(text, str(base)), name)


def _mapping(document: Document, base: Document, name: str) -> Document:
    if not isinstance(base.data, dict):
        document.refuse((KEY,), "is not a campaign file: it must be a mapping", "name another file", name)
    return base


def _merged(base: Document, own: Document) -> Document:
    replaced: set[DataPath] = set()

    def merge(under: Any, over: Any, path: DataPath) -> Any:
        if not isinstance(under, dict) or not isinstance(over, dict):
            replaced.add(path)
            return over
        merged = dict(under)
        for key, value in over.items():
            at = (*path, key)
            if value is not None:
                merged[key] = merge(merged[key], value, at) if key in merged else value
            elif key in merged:
                replaced.add(at)
                del merged[key]
            else:
                remedy = f"remove it, or write {key}: {{}} for one with nothing set"
                own.refuse(at, "removes nothing: the extended file does not have it", remedy)
        return merged

    data = merge(base.data, own.data, ())
    origins = {
        path: origin
        for path, origin in base.origins.items()
        if not any(path[:length] in replaced for length in range(1, len(path) + 1))
    }
    return Document(data, origins | own.origins, [*base.notes, *own.notes])
