"""Connections to Dask: the address of a scheduler, a scheduler file, or the user's client."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vindeby.errors import ArgumentError

_CONNECT_S = 30.0
_LARGEST_FILE = 1 << 22


@contextmanager
def connected(pool: object, patience_s: float) -> Iterator[Any]:
    """Yield a client for ``pool`` and close it if it was made here; ArgumentError if there is no answer.

    The client waits for a scheduler that does not answer for ``patience_s`` seconds.
    """
    distributed = _imported()
    if isinstance(pool, distributed.Client):
        if pool.asynchronous:
            raise ArgumentError("pool: the client is asynchronous; give one made without asynchronous=True")
        yield pool
    elif isinstance(pool, str | Path):
        with _to_scheduler(distributed, str(pool), patience_s) as client:
            yield client
    else:
        raise ArgumentError(
            f"pool: {type(pool).__name__} is not a pool; give a distributed.Client, the address of a Dask scheduler, "
            "or a scheduler file"
        )


def _to_scheduler(distributed: Any, place: str, patience_s: float) -> Any:
    if "://" in place:
        address = place
    elif Path(place).is_file():
        address = _address_in(Path(place))
    else:
        raise ArgumentError(
            f"--dask: {place!r} is neither an address such as tcp://host:8786 nor a scheduler file"
        )
    try:  # a client that cannot even try such an address would keep this process from ending
        distributed.comm.resolve_address(address)
    except (OSError, ValueError) as error:
        raise ArgumentError(
            f"--dask: {place}: {address!r} is not the address of a scheduler that can be reached from here ({error}); "
            "write e.g. tcp://host:8786"
        ) from None
    try:
        with distributed.Client(address, timeout=_CONNECT_S, set_as_default=False):
            pass
        return distributed.Client(address, timeout=patience_s, set_as_default=False)
    except (OSError, ValueError, KeyError) as error:
        raise ArgumentError(
            f"--dask: no Dask scheduler answers at {place} ({type(error).__name__}: {error}); start one with "
            "`dask scheduler`, or correct the address"
        ) from None


def _address_in(file: Path) -> str:
    try:
        return str(json.loads(file.read_bytes()[:_LARGEST_FILE])["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ArgumentError(
            f"--dask: {file}: is not a scheduler file, as `dask scheduler --scheduler-file {file}` writes it"
        ) from None


def _imported() -> Any:
    try:
        import distributed
    except ImportError:
        raise ArgumentError("Dask is not installed; install it with: pip install 'vindeby[dask]'") from None
    return distributed
