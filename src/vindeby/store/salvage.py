"""Salvage: good, empty, truncated, locked and corrupt files become a database of everything readable.

Originals are never changed. Whichever way a record is reached: when it states a checksum and does not meet it, it is
not saved. What is saved is merged like every result: written into a new file, verified, renamed. The report says for
each file what was found, saved and lost, and why.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from vindeby.errors import ArgumentError, InputError
from vindeby.store.disk.files import check_output, refuse_other_formats
from vindeby.store.disk.run_directory import RunDirectory, hdf5_files
from vindeby.store.foreign.door import Rescue
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.record import Attribute
from vindeby.store.merge.audit import MergeReport
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.merge.new_database import DEFAULT_FORMAT
from vindeby.store.merge.sources import source_of
from vindeby.store.read.reading import drop_incomplete, read_any


def salvage(
    paths: Sequence[Path],
    output: Path | RunDirectory,
    *,
    naming: str = "",
    root: Mapping[str, Attribute] | None = None,
    file_format: str | None = None,
    limits: ReadLimits | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> MergeReport:
    """Save all readable records of ``paths`` (files or folders) in a new database.

    ``naming`` makes a key from a record's attributes, as ``str.format`` does, where a group's name is lost. A record
    that does not meet the checksum it states is not saved. The report names each file, also where nothing was saved.
    """
    run = output if isinstance(output, RunDirectory) else RunDirectory(check_output(output))
    files = list(files_in(paths))
    if run.output.exists():
        raise ArgumentError(f"{run.output}: exists and is left as it is; choose another name with -o")
    if run.shard_paths():
        raise ArgumentError(f"{run.path}: holds results already; choose another name with -o")
    readings = []
    with Guard(limits) as guard:
        for number, path in enumerate(files, 1):
            readings.append(read_any(path, guard, rescue=Rescue(naming)))
            if number % 100 == 0:
                progress(f"{number} of {len(files)} files read")
    drop_incomplete(readings)
    sources = [source_of(path, "given file", reading) for path, reading in zip(files, readings, strict=True)]
    if not any(one.entry.found for one in sources):
        return MergeReport(
            str(run.output), file_format or DEFAULT_FORMAT, files=[one.entry for one in sources]
        )
    how = MergeOptions(
        file_format=file_format, on_bad="skip", given=sources, root=root or {}, progress=progress
    )
    return merge(run, how)


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield each given file, and the files in given folders whose names are those of HDF5 files or shards."""
    for path in paths:
        if path.is_dir():
            yield from hdf5_files(path)
        elif path.exists():
            refuse_other_formats(path)
            yield path
        else:
            raise InputError(f"{path}: there is no such file or folder")
