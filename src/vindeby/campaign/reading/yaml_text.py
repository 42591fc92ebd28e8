"""YAML text to plain data, with the line of everything in it.

Why not ``yaml.safe_load``: it forgets line numbers, keeps the last of two equal keys without a word, reads
``no`` as false, ``1e6`` as text and ``12:30`` as 750, and lets a few aliases expand to gigabytes. This reader
takes the events of PyYAML's parser and builds data by the core schema of YAML 1.2 (section 10.3.2 of the
specification), with limits, so that any bytes at all end in data or in one clear error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import yaml

from vindeby.errors import CampaignError, Problem
from vindeby.text import one_line

MAX_BYTES = 16_000_000
MAX_DEPTH = 40
MAX_NODES = 2_000_000
MAX_KEYS = 20_000
_LONGEST_INTEGER = 250
"""In characters: longer ones, also hexadecimal, have no float64, and Python refuses to print thousands of digits."""
_LONGEST_FIELD = 100
_MOST_SHOWN, _LONGEST_SHOWN = 30, 60

Path = tuple[str | int, ...]

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EMITTER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, bool | float | None] = (
    dict.fromkeys(("", "~", "null", "Null", "NULL"))
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
    | dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan"))
    | dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf"))
    | dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf"))
)


class Origin(NamedTuple):
    """Where a value was written: a file (or a command-line option) and, if known, a line counted from 1."""

    source: str
    line: int | None = None
    rows: Sequence[int] = ()
    """The line of each entry of a list, where the list is a column of a table."""


@dataclass(frozen=True)
class Include:
    """A node ``!include FILE`` in place of another file's content, where such includes are allowed."""

    file: str


@dataclass
class Document:
    """Plain data, and the origin of each part."""

    data: Any
    origins: dict[Path, Origin] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Remarks for ``vindeby check`` on what was done or ignored while files were read."""

    def origin(self, path: Path) -> Origin:
        """Return the origin of the value at ``path``, or of the nearest value around it that is known."""
        known = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.origins), ())
        origin = self.origins.get(known, Origin("campaign"))
        entry = path[len(known)] if len(path) > len(known) else None
        if isinstance(entry, int) and entry < len(origin.rows):
            return Origin(origin.source, origin.rows[entry])
        return origin

    def put(self, path: Path, inner: Document) -> None:
        """Record the origins of the parts of another document, whose data is now at ``path``."""
        self.origins.update({(*path, *inside): place for inside, place in inner.origins.items()})

    def refuse(self, path: Path, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise for what is written at ``path``; text and numbers are shown."""
        origin = self.origin(path)
        shown = repr(value) if isinstance(value, str | int | float) else None
        raise CampaignError(
            [Problem(origin.source, field_name(path), message, shown, remedy, origin.line)]
        ) from None


def resolve(text: str) -> str | int | float | bool | None:
    """Return the value of a plain (unquoted) scalar by the core schema of YAML 1.2."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > _LONGEST_INTEGER:
            raise ValueError(f"an integer of {len(text)} digits")
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def read(text: str, source: str, *, has_lines: bool = True, includes: bool = False) -> Document:
    """Read one YAML document; ``source`` is the name used in messages, with the line unless it has none.

    With ``includes``, ``!include FILE`` becomes an Include, keys that are numbers become text, and a key may come
    twice with the same text: files of other tools have all three.
    """
    reader = _Reader(yaml.parse(text, Loader=_PARSER), source, has_lines, includes)
    try:
        return reader.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(part for part in (error.context, error.problem) if part)
        reader.refuse(f"not valid YAML: {message}", mark, remedy="check the indentation and quotes there")
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or "it holds characters that YAML does not allow"
        reader.refuse(f"not valid YAML: {reason}", None, remedy="save the file as plain UTF-8 text")


def write(data: Any) -> str:
    """Return plain data as YAML text that ``read`` turns into the same data again."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110
    )


class _Dumper(_EMITTER):  # type: ignore[misc]  # the one of C, where there is one
    """Quotes the text that YAML 1.2 would read as something else; anchors are for the same ``Include`` twice only."""

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, Include)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    try:
        plain = isinstance(resolve(text), str) and text.isprintable()
    except ValueError:  # a number of thousands of digits
        plain = False
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Include, lambda dumper, value: dumper.represent_scalar("!include", value.file))


class _Reader:
    """Builds data from parser events, which are nested at most ``MAX_DEPTH`` deep."""

    def __init__(self, events: Iterator[Any], source: str, has_lines: bool, includes: bool) -> None:
        self.events, self.source, self.has_lines, self.includes = events, source, has_lines, includes
        self.path: Path = ()
        """The path of the value being read, for messages."""
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.origins: dict[Path, Origin] = {(): Origin(source)}
        self.nodes = 0

    def document(self) -> Document:
        roots: list[Any] = []
        for event in self.events:
            self.path = ()
            if isinstance(event, yaml.DocumentStartEvent) and roots:
                self.refuse("a second document starts here", event, remedy="remove the line `---`")
            if isinstance(event, yaml.NodeEvent):
                roots.append(self._value(event, (), event))
        if not roots or roots[0] is None:
            self.refuse("the file holds nothing", None, remedy="`vindeby init` writes a file to start from")
        return Document(roots[0], self.origins)

    def _value(self, event: Any, path: Path, first: Any) -> Any:
        """Return the value that begins with an event; its line is that of ``first``, which may be its key."""
        self.path, before = path, self.nodes
        self.origins[path] = Origin(self.source, first.start_mark.line + 1)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                message = f"alias *{event.anchor} stands for nothing complete"
                self.refuse(message, event, remedy=f"define it before, with &{event.anchor}")
            value, nodes = self.anchors[event.anchor]
            self.nodes += nodes
        else:
            self.nodes += 1
            value = (
                self._scalar(event) if isinstance(event, yaml.ScalarEvent) else self._collection(event, path)
            )
            if event.anchor:
                self.anchors[event.anchor] = (value, self.nodes - before)
        if self.nodes > MAX_NODES:
            self.refuse(f"more than {MAX_NODES:,} values", event, remedy="move boundaries to files")
        return value

    def _scalar(self, event: Any) -> Any:
        plain, quoted = event.implicit
        if self.includes and event.tag == "!include":
            return Include(event.value)
        self._refuse_tag(event, plain or quoted)
        try:
            return resolve(event.value) if plain else event.value
        except ValueError:
            message = f"a number of {len(event.value)} digits"
            return self.refuse(message, event, remedy="write it as 1.0e+6")

    def _collection(self, event: Any, path: Path) -> Any:
        self._refuse_tag(event, event.implicit)
        if len(path) >= MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH} levels", event, remedy="is a bracket left open?")
        if isinstance(event, yaml.SequenceStartEvent):
            entries: list[Any] = []
            while not isinstance(inner := self._next((*path, len(entries))), yaml.SequenceEndEvent):
                entries.append(self._value(inner, self.path, inner))
            return entries
        mapping: dict[str, Any] = {}
        while not isinstance(named := self._next(path), yaml.MappingEndEvent):
            key = self._key(named, mapping)
            if len(mapping) >= MAX_KEYS:
                self.refuse(
                    f"a mapping of more than {MAX_KEYS:,} keys", named, remedy="is it the right file?"
                )
            value = self._value(self._next((*path, key)), (*path, key), named)
            if key in mapping and mapping[key] != value:
                message = f"duplicate key {key!r} with another value"
                self.refuse(message, named, remedy="remove one of them")
            mapping[key] = value
        return mapping

    def _next(self, path: Path) -> Any:
        """Return the next event, having set the path that messages name if it cannot be parsed."""
        self.path = path
        return next(self.events)

    def _key(self, event: Any, mapping: dict[str, Any]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self.refuse("an alias, a list or a mapping cannot be a key", event, remedy="use a word as key")
        key = self._scalar(event)
        if self.includes and isinstance(key, int | float) and not isinstance(key, bool):
            key = str(key)
        if not isinstance(key, str):
            self.refuse("a key must be text", event, value=repr(key), remedy="put it in quotes")
        if key == "<<":
            self.refuse("merge keys (<<) are not supported", event, remedy="write the fields out")
        if key in mapping and not (self.includes and isinstance(mapping[key], str)):
            first = self.origins[(*self.path, key)].line
            self.refuse(f"duplicate key {key!r}, first on line {first}", event, remedy="remove one of them")
        return key

    def _refuse_tag(self, event: Any, is_implicit: bool) -> None:
        if event.tag is not None and not is_implicit:
            remedy = (
                "remove the tag; `vindeby init --from SYSTEM FILE` makes a campaign file of a windIO system"
            )
            self.refuse("YAML tags are not supported", event, value=event.tag, remedy=remedy)

    def refuse(self, message: str, at: Any, *, remedy: str, value: str | None = None) -> NoReturn:
        mark = getattr(at, "start_mark", at)
        line = mark.line + 1 if mark is not None and self.has_lines else None
        raise CampaignError(
            [Problem(self.source, field_name(self.path), message, value, remedy, line)]
        ) from None


def field_name(path: Path) -> str:
    """Return a path as people write it: ``farms[2].boundary.polygon[0]``."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return name if len(name) <= _LONGEST_FIELD else f"{name[:_LONGEST_FIELD]}..."


def unused(data: Any, used: Collection[Path], name: Callable[[Path], str] | None = None) -> list[str]:
    """Return the names of the parts of a file's data that were not used.

    A part is unused if it is neither in ``used`` nor holds or lies in anything that is.

    Every reader of a file that may hold more than is read lists them. What is empty says nothing.
    """
    around = {path[:length] for path in used for length in range(len(path))}
    names = map(name or field_name, _left(data, (), used, around))
    return list(dict.fromkeys(re.sub(r"\[\d+\]", "[]", one) for one in names))


def not_used(names: Sequence[str]) -> list[str]:
    """Return a note that lists the names as far as a line allows; no note if there are none."""
    shown = [one_line(name)[:_LONGEST_SHOWN] for name in names[:_MOST_SHOWN]]
    more = [f"and {len(names) - _MOST_SHOWN} more"] if len(names) > _MOST_SHOWN else []
    return [f"not used: {', '.join([*shown, *more])}"] if names else []


def _left(value: Any, path: Path, used: Collection[Path], around: Collection[Path]) -> Iterator[Path]:
    if path in used or value is None or (isinstance(value, dict) and not value):
        return
    if path and path not in around:
        yield path
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for key, entry in inner:
        yield from _left(entry, (*path, key), used, around)
