"""YAML text to plain data, with the line of everything in it.

Why not ``yaml.safe_load``: it forgets line numbers, keeps the last of two equal keys without a word, reads
``no`` as false, ``1e6`` as text and ``12:30`` as 750, and lets a few aliases expand to gigabytes. This reader
takes the events of PyYAML's parser and builds data by the core schema of YAML 1.2 (section 10.3.2 of the
specification), with limits, so that any bytes at all end in data or in one clear error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml
from yaml.emitter import ScalarAnalysis

from vindeby import printable
from vindeby.campaign.reading.packed_lists import PACKED_WORD
from vindeby.errors import CampaignError, Problem

MAX_BYTES = 16_000_000
MAX_DEPTH = 40
MAX_NODES = 2_000_000
_LONGEST_FIELD = 100
_MOST_SHOWN, _LONGEST_SHOWN = 30, 60

Path = tuple[str | int, ...]

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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


@dataclass(frozen=True)
class Origin:
    """Where a value was written: a file (or a command-line option) and, if known, a line counted from 1."""

    source: str
    line: int | None = None


@dataclass(frozen=True)
class Include:
    """``!include FILE``: what stands for the content of another file, where such includes are allowed."""

    file: str


class Hidden(str):
    """Text of a file that messages describe by its length only: any file can be named, and messages travel."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"text of {len(self)} characters"


@dataclass
class Document:
    """Plain data, and where each part of it came from."""

    data: Any
    origins: dict[Path, Origin] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What was done or ignored while files were read, in words for ``vindeby check``."""

    def origin(self, path: Path) -> Origin:
        """Where the value at ``path`` was written, or the nearest value around it that is known."""
        while path not in self.origins and path:
            path = path[:-1]
        return self.origins.get(path, Origin("campaign"))

    def refuse(self, path: Path, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise for what is written at ``path``; text and numbers are shown."""
        origin = self.origin(path)
        shown = repr(value) if isinstance(value, str | int | float) else None
        raise CampaignError(
            [Problem(origin.source, field_name(path), message, shown, remedy, origin.line)]
        ) from None


def resolve(text: str) -> str | int | float | bool | None:
    """A plain (unquoted) scalar by the core schema of YAML 1.2."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def read(text: str, source: str, *, has_lines: bool = True, includes: bool = False) -> Document:
    """Read one YAML document; ``source`` is the name used in messages, with the line unless it has none.

    With ``includes``, ``!include FILE`` becomes an Include, keys that are numbers become text, and a key may come
    twice with the same text: files of other tools have all three.
    """
    reader = _Reader(source, has_lines, includes)
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(part for part in (error.context, error.problem) if part)
        reader.refuse(f"not valid YAML: {message}", mark, remedy="check the indentation and quotes there")
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or "it holds characters that YAML does not allow"
        reader.refuse(f"not valid YAML: {reason}", None, remedy="save the file as plain UTF-8 text")
    return reader.document()


def write(data: Any) -> str:
    """Plain data as YAML text that ``read`` turns into the same data again."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110
    )


class _Dumper(yaml.SafeDumper):
    """Quotes the text that YAML 1.2 would read as something else; writes no anchors, and packed lists at once.

    PyYAML looks at every character of a text in turn, which takes seconds for ten years of hourly wind.
    """

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (the signature is PyYAML's)
        return True

    def analyze_scalar(self, scalar: str) -> ScalarAnalysis:
        if not PACKED_WORD.fullmatch(scalar):
            return super().analyze_scalar(scalar)
        return ScalarAnalysis(scalar, False, False, False, True, True, True, False)

    def write_plain(self, text: str, split: bool = True) -> None:
        if not PACKED_WORD.fullmatch(text):
            super().write_plain(text, split)
            return
        self.stream.write(text if self.whitespace else f" {text}")
        self.whitespace = self.indention = False
        self.column += len(text)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = isinstance(_try_resolve(text), str) and text.isprintable()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


def _try_resolve(text: str) -> object:
    try:
        return resolve(text)
    except ValueError:
        return None


_Dumper.add_representer(str, _represent_text)


@dataclass
class _Frame:
    """A mapping or list that is being filled."""

    value: Any
    path: Path
    nodes: int = 1
    anchor: str | None = None
    key: str | None = None
    key_line: int = 0


class _Reader:
    """Builds data from parser events without recursion."""

    def __init__(self, source: str, has_lines: bool, includes: bool) -> None:
        self.source = source
        self.has_lines = has_lines
        self.includes = includes
        self.frames: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.origins: dict[Path, Origin] = {(): Origin(source)}
        self.roots: list[Any] = []
        self.nodes = 0

    def document(self) -> Document:
        if not self.roots or self.roots[0] is None:
            self.refuse("the file holds nothing", None, remedy="`vindeby init` writes a file to start from")
        return Document(self.roots[0], self.origins)

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.DocumentStartEvent) and self.roots:
            self.refuse("a second document starts here", event.start_mark, remedy="remove the line `---`")

    def _scalar(self, event: Any) -> None:
        include = self.includes and event.tag == "!include"
        self._no_tag(event, plain=event.implicit[0] or include, quoted=event.implicit[1])
        value: object = Include(event.value) if include else event.value
        if event.implicit[0]:
            try:
                value = resolve(event.value)
            except ValueError:
                self.refuse(
                    f"a number of {len(event.value)} digits",
                    event.start_mark,
                    remedy="write it as 1.0e+6",
                )
        if self._wants_key():
            self._key(value, event)
            return
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._put(value, 1, event)

    def _alias(self, event: Any) -> None:
        if self._wants_key():
            self.refuse("an alias cannot be a key", event.start_mark, remedy="write the key out")
        if event.anchor not in self.anchors:
            self.refuse(
                f"alias *{event.anchor} stands for nothing complete",
                event.start_mark,
                remedy=f"define it before, with &{event.anchor}",
            )
        value, nodes = self.anchors[event.anchor]
        self._put(value, nodes, event)

    def _open(self, event: Any) -> None:
        self._no_tag(event, plain=event.implicit, quoted=False)
        if self._wants_key():
            self.refuse("a list or mapping cannot be a key", event.start_mark, remedy="use a word as key")
        if len(self.frames) >= MAX_DEPTH:
            self.refuse(
                f"nested deeper than {MAX_DEPTH} levels", event.start_mark, remedy="is a bracket left open?"
            )
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        path = self._next_path()
        self._note(path, event)
        self.frames.append(_Frame(value, path, anchor=event.anchor))

    def _close(self, event: Any) -> None:
        frame = self.frames.pop()
        if frame.anchor:
            self.anchors[frame.anchor] = (frame.value, frame.nodes)
        self._put(frame.value, frame.nodes, event, noted=True)

    def _wants_key(self) -> bool:
        return bool(self.frames) and isinstance(self.frames[-1].value, dict) and self.frames[-1].key is None

    def _key(self, key: object, event: Any) -> None:
        frame, mark = self.frames[-1], event.start_mark
        if self.includes and isinstance(key, int | float) and not isinstance(key, bool):
            key = str(key)
        if not isinstance(key, str):
            self.refuse("a key must be text", mark, value=repr(key), remedy="put it in quotes")
        if key == "<<":
            self.refuse("merge keys (<<) are not supported", mark, remedy="write the fields out")
        if key in frame.value and not (self.includes and isinstance(frame.value[key], str)):
            first = self.origins[(*frame.path, key)].line
            self.refuse(f"duplicate key {key!r}, first on line {first}", mark, remedy="remove one of them")
        frame.key, frame.key_line = key, mark.line + 1

    def _next_path(self) -> Path:
        if not self.frames:
            return ()
        frame = self.frames[-1]
        if isinstance(frame.value, list):
            return (*frame.path, len(frame.value))
        return frame.path if frame.key is None else (*frame.path, frame.key)

    def _note(self, path: Path, event: Any) -> None:
        line = event.start_mark.line + 1
        if self.frames and self.frames[-1].key is not None:
            line = self.frames[-1].key_line
        self.origins[path] = Origin(self.source, line)

    def _put(self, value: Any, nodes: int, event: Any, *, noted: bool = False) -> None:
        self.nodes += 1 if noted else nodes
        if self.nodes > MAX_NODES:
            self.refuse(
                f"more than {MAX_NODES:,} values", event.start_mark, remedy="move boundaries to files"
            )
        if not noted:
            self._note(self._next_path(), event)
        if not self.frames:
            self.roots.append(value)
            return
        frame = self.frames[-1]
        frame.nodes += nodes
        if frame.key is None:
            frame.value.append(value)
        else:
            if frame.key in frame.value and frame.value[frame.key] != value:
                message = f"duplicate key {frame.key!r} with another value"
                self.refuse(message, event.start_mark, remedy="remove one of them")
            frame.value[frame.key] = value
            frame.key = None

    def _no_tag(self, event: Any, *, plain: bool, quoted: bool) -> None:
        if event.tag is not None and not plain and not quoted:
            self.refuse(
                "YAML tags are not supported", event.start_mark, value=event.tag, remedy="remove the tag"
            )

    def refuse(self, message: str, mark: Any, *, remedy: str, value: str | None = None) -> NoReturn:
        line = mark.line + 1 if mark is not None and self.has_lines else None
        raise CampaignError(
            [Problem(self.source, field_name(self._next_path()), message, value, remedy, line)]
        ) from None


def field_name(path: Path) -> str:
    """A path as people write it: ``farms[2].boundary.polygon[0]``."""
    name = "".join(_steps(path)).lstrip(".")
    return name if len(name) <= _LONGEST_FIELD else f"{name[:_LONGEST_FIELD]}..."


def unused(data: Any, used: Collection[Path]) -> list[str]:
    """The parts of what a file holds that are neither in ``used`` nor hold or lie in anything that is, by name.

    Every reader of a file that may hold more than is read lists them. What is empty, or included, says nothing.
    """
    around = {path[:length] for path in used for length in range(len(path))}
    return list(
        dict.fromkeys(re.sub(r"\[\d+\]", "[]", field_name(path)) for path in _left(data, (), used, around))
    )


def not_used(names: Sequence[str]) -> list[str]:
    """The note that lists them, by name as far as a line goes; no note where there is nothing to list."""
    shown = [printable.one_line(name)[:_LONGEST_SHOWN] for name in names[:_MOST_SHOWN]]
    more = [f"and {len(names) - _MOST_SHOWN} more"] if len(names) > _MOST_SHOWN else []
    return [f"not used: {', '.join([*shown, *more])}"] if names else []


def _left(value: Any, path: Path, used: Collection[Path], around: Collection[Path]) -> Iterator[Path]:
    if path in used or value is None or value == {} or isinstance(value, Include):
        return
    if path and path not in around:
        yield path
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for key, entry in inner:
        yield from _left(entry, (*path, key), used, around)


def _steps(path: Path) -> Iterator[str]:
    for step in path:
        yield f"[{step}]" if isinstance(step, int) else f".{step}"
