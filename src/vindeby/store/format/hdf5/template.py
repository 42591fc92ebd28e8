"""One record as the HDF5 library writes it, to be filled in for thousands.

Writing a group with a dozen attributes through the library takes about a millisecond. So the library writes one
group of each schema into a file in memory, with nothing but its own defaults; its structures are found there by
following the pointers, copied, and repeated for each record with the addresses and values that differ. What a
reader finds is therefore what h5py would have written, whatever the version of the library is.

The structures are those of the oldest format, which h5py writes unless it is told otherwise: version 1 object
headers, symbol tables (HDF5 File Format Specification 3.0, sections III.A.1, III.B, III.D and IV).
"""

from __future__ import annotations

import bisect
import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vindeby.errors import StorageError
from vindeby.store.format.array_attributes import ArrayAttributes
from vindeby.store.format.hdf5.encoding import INTERNAL_K, LEAF_K, UNDEFINED
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Schema, array_field, attribute_field

if TYPE_CHECKING:
    import h5py

MARKS = ("status", "checksum", "fingerprint")
_SAMPLES: dict[str, Attribute] = {"str": "text", "int": 0, "float": 0.0, "bool": False}
_LAYOUT, _ATTRIBUTE, _CONTINUATION, _SYMBOL_TABLE = 0x08, 0x0C, 0x10, 0x11
_NODE_SIZE = 24 + 8 + 2 * INTERNAL_K * 16
_SYMBOLS_SIZE = 8 + 2 * LEAF_K * 40
_numbers = itertools.count()


@dataclass(frozen=True)
class Template:
    """The bytes of one group and its datasets, with every place that differs from record to record.

    ``values`` and ``texts`` are the offsets of values and of references to texts, ``constants`` the texts that are the
    same for all records, ``addresses`` the offset of each address with what it points to, both within the template.
    """

    data: bytes
    values: dict[str, int]
    texts: dict[str, int]
    constants: dict[str, bytes]
    addresses: dict[int, int]
    tree: int
    heap: int


def record_template(schema: Schema, about: ArrayAttributes) -> Template:
    """What the library writes for a record of this schema."""
    with _library_file() as file:
        group = file.create_group("record")
        for name, dtype, shape in schema.arrays:
            dataset = group.create_dataset(name, shape, dtype)
            for attribute, text in about.get(name, {}).items():
                dataset.attrs[attribute] = text
        for mark in MARKS:
            group.attrs[mark] = _SAMPLES["str"]
        for name, kind in schema.attributes:
            group.attrs[name] = _SAMPLES[kind]
        image = _image_of(file)
    _, top = image.group(image.root)
    return _TemplateMaker(image, schema, about).make(top["record"])


def _library_file() -> h5py.File:
    """A file in memory; with room enough that what belongs together is not split to use up gaps."""
    import h5py  # not needed to read what is sealed, and loading it takes as long as reading thousands of records

    return h5py.File(
        f"template-{next(_numbers)}",  # two threads may each have one
        "w",
        driver="core",
        backing_store=False,
        libver=("earliest", "latest"),
        meta_block_size=1 << 16,
    )


def _image_of(file: h5py.File) -> _Image:
    file.flush()
    return _Image(bytes(file.id.get_file_image()))


@dataclass(frozen=True)
class RootTemplate:
    """The root group's object header, with the offsets of its addresses and of the references to its texts."""

    data: bytes
    texts: dict[str, int]
    addresses: dict[int, int]
    tree: int
    heap: int


def root_template(root: Mapping[str, Attribute]) -> RootTemplate:
    """What the library writes for the root group; values are in place, addresses and texts are not."""
    with _library_file() as file:
        for name, value in root.items():
            file.attrs[name] = _SAMPLES["str"] if isinstance(value, str) else value
        image = _image_of(file)
    header = image.header(image.root)
    made = _Assembly(image)
    for at, size in header.pieces:
        made.piece(at, size)
    for at in header.pointers:
        made.pointer(at)
    symbols = header.place(_SYMBOL_TABLE)
    texts = {
        name: made.moved(at) for name, at in image.attributes(header).items() if isinstance(root[name], str)
    }
    return RootTemplate(
        bytes(made.data), texts, made.addresses(), made.moved(symbols), made.moved(symbols) + 8
    )


@dataclass
class _Header:
    pieces: list[tuple[int, int]] = field(default_factory=list)
    messages: list[tuple[int, int, int]] = field(default_factory=list)
    pointers: list[int] = field(default_factory=list)

    def place(self, wanted: int) -> int:
        """Where the message of this type is, of which there is one."""
        for kind, at, _ in self.messages:
            if kind == wanted:
                return at
        raise StorageError(f"the HDF5 library wrote an object header without a message of type {wanted:#x}")


class _Image:
    """A file that the library wrote, in memory; every method takes and gives offsets in it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root = self.address(64)

    def address(self, at: int) -> int:
        return int(struct.unpack_from("<Q", self.data, at)[0])

    def header(self, at: int) -> _Header:
        """An object header: its pieces, its messages (type, offset, size) and the addresses between its pieces."""
        version, _, _, _, size = struct.unpack_from("<BBHII", self.data, at)
        if version != 1:
            raise StorageError(f"the HDF5 library wrote an object header of version {version}, not 1")
        found = _Header([(at, 16 + size)])
        chunks = [(at + 16, size)]
        for start, length in chunks:
            place = start
            while place + 8 <= start + length:
                kind, size = struct.unpack_from("<HH", self.data, place)
                found.messages.append((kind, place + 8, size))
                if kind == _CONTINUATION:
                    piece = (self.address(place + 8), self.address(place + 16))
                    chunks.append(piece)
                    found.pieces.append(piece)
                    found.pointers.append(place + 8)
                place += 8 + size
        return found

    def attributes(self, header: _Header) -> dict[str, int]:
        """Where the value of each attribute is."""
        return dict(self._attribute(at) for kind, at, _ in header.messages if kind == _ATTRIBUTE)

    def _attribute(self, at: int) -> tuple[str, int]:
        version, _, *sizes = struct.unpack_from("<BBHHH", self.data, at)
        start = at + (9 if version == 3 else 8)
        name = self.data[start : start + sizes[0]].rstrip(b"\0").decode()
        if version == 1:
            sizes = [-(-size // 8) * 8 for size in sizes]
        return name, start + sum(sizes)

    def group(self, at: int) -> tuple[_Header, dict[str, int]]:
        """A group's header and everything that its names are kept in; the header of each member by name."""
        found = self.header(at)
        symbols = found.place(_SYMBOL_TABLE)
        heap = self.address(symbols + 8)
        found.pieces += [(heap, 32), (self.address(heap + 24), self.address(heap + 8))]
        found.pointers += [symbols, symbols + 8, heap + 24]
        members: dict[str, int] = {}
        self._tree(self.address(symbols), self.address(heap + 24), found, members)
        return found, members

    def _tree(self, at: int, names: int, found: _Header, members: dict[str, int]) -> None:
        level, used = struct.unpack_from("<BH", self.data, at + 5)
        found.pieces.append((at, _NODE_SIZE))
        found.pointers += [at + 8, at + 16, *(at + 32 + 16 * number for number in range(used))]
        for number in range(used):
            child = self.address(at + 32 + 16 * number)
            if level:
                self._tree(child, names, found, members)
            else:
                self._symbols(child, names, found, members)

    def _symbols(self, at: int, names: int, found: _Header, members: dict[str, int]) -> None:
        found.pieces.append((at, _SYMBOLS_SIZE))
        for entry in range(at + 8, at + 8 + 40 * int(struct.unpack_from("<H", self.data, at + 6)[0]), 40):
            start = names + self.address(entry)
            name = self.data[start : self.data.index(b"\0", start)].decode()
            members[name] = self.address(entry + 8)
            found.pointers.append(entry + 8)


class _Assembly:
    """Pieces of an image, one after the other, and where what stood in the image is now."""

    def __init__(self, image: _Image) -> None:
        self.image = image
        self.data = bytearray()
        self._starts: list[int] = []
        self._places: dict[int, int] = {}
        self._pointers: list[int] = []
        self._further: dict[int, int] = {}

    def piece(self, at: int, size: int) -> None:
        bisect.insort(self._starts, at)
        self._places[at] = len(self.data)
        self.data += self.image.data[at : at + size] + bytes(-size % 8)

    def room(self, size: int, pointer: int) -> int:
        """Space that the image does not have, which an address in the image shall point to."""
        at = len(self.data)
        self._further[self.moved(pointer)] = at
        self.data += bytes(-(-size // 8) * 8)
        return at

    def pointer(self, at: int) -> None:
        self._pointers.append(at)

    def moved(self, at: int) -> int:
        start = self._starts[bisect.bisect_right(self._starts, at) - 1]
        return self._places[start] + at - start

    def addresses(self) -> dict[int, int]:
        """Each address that points to one of the pieces, and to which."""
        targets = {self.moved(at): self.image.address(at) for at in self._pointers}
        known = {at: self._places[target] for at, target in targets.items() if target in self._places}
        lost = [target for target in targets.values() if target not in self._places and target != UNDEFINED]
        if len(lost) > 2:  # the root's own symbol table is replaced
            raise StorageError("the HDF5 library wrote structures that vindeby does not know")
        return {**known, **self._further}


class _TemplateMaker:
    def __init__(self, image: _Image, schema: Schema, about: ArrayAttributes) -> None:
        self.image, self.schema, self.about = image, schema, about
        self.made = _Assembly(image)
        self.values: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.constants: dict[str, bytes] = {}

    def make(self, at: int) -> Template:
        header, members = self.image.group(at)
        self._take(header)
        places = self.image.attributes(header)
        fields: list[tuple[str, str, str]] = [(mark, mark, "str") for mark in MARKS]
        fields += [(name, attribute_field(name), kind) for name, kind in self.schema.attributes]
        for name, row_field, kind in fields:
            offsets = self.texts if kind == "str" else self.values
            offsets[row_field] = self.made.moved(places[name])
        for name, dtype, shape in self.schema.arrays:
            self._dataset(members[name], name, int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        symbols = header.place(_SYMBOL_TABLE)
        addresses = self.made.addresses()
        tree, heap = (addresses[self.made.moved(place)] for place in (symbols, symbols + 8))
        return Template(bytes(self.made.data), self.values, self.texts, self.constants, addresses, tree, heap)

    def _take(self, header: _Header) -> None:
        for at, size in header.pieces:
            self.made.piece(at, size)
        for at in header.pointers:
            self.made.pointer(at)

    def _dataset(self, at: int, name: str, size: int) -> None:
        header = self.image.header(at)
        self._take(header)
        places = self.image.attributes(header)
        for attribute, text in self.about.get(name, {}).items():
            constant = f"about:{name}:{attribute}"
            self.texts[constant] = self.made.moved(places[attribute])
            self.constants[constant] = text.encode()
        if size:
            layout = header.place(_LAYOUT)
            if self.image.data[layout : layout + 2] != b"\x03\x01":
                raise StorageError("the HDF5 library did not write a contiguous dataset")
            self.values[array_field(name)] = self.made.room(size, layout + 2)


def offsets_of(template: Template) -> dict[str, Any]:
    """What a reader must know of a template, for the directory of a sealed file."""
    return {
        "stride": len(template.data),
        "values": list(template.values.items()),
        "texts": list(template.texts.items()),
    }
