"""Plain data as a YAML file of several: parts in files of their own are named by ``!include``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Include:
    """Another file, relative to the one that includes it."""

    path: str


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""PyYAML's fast writer, where it was built with one."""


class _Dumper(_Base):  # type: ignore[misc]
    """Lists of numbers on few lines, exact numbers that YAML 1.1 and 1.2 both read as numbers, no references.

    Only the same ``Include`` object twice is written as a reference, so that a reader has the same data twice.
    """

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, Include)


def _float(dumper: _Dumper, value: float) -> Any:
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")  # 1e-05 is a text in YAML 1.1
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


def _list(dumper: _Dumper, value: list[Any]) -> Any:
    flat = not any(isinstance(item, dict | Include) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flat)


def _include(dumper: _Dumper, value: Include) -> Any:
    return dumper.represent_scalar("!include", value.path)


_Dumper.add_representer(float, _float)
_Dumper.add_representer(list, _list)
_Dumper.add_representer(Include, _include)


def write_yaml(path: Path, data: Any) -> None:
    """Write plain data, in the order in which it is given."""
    text = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False
    )
    path.write_text(text, encoding="utf-8")
