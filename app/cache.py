"""A fetch that remembers: query results kept as bytes in a private folder, shared by all workers.

The key holds the job's version, so nothing is ever stale and nothing has to be thrown away. Nothing is pickled: the
cache library's own serializer is replaced by one that takes only bytes, which `data.codec` writes and reads.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from cachelib.serializers import FileSystemSerializer
from flask import Flask
from flask_caching import Cache
from flask_caching.backends.filesystemcache import FileSystemCache

import data
from app.settings import SettingsError
from data import codec
from data.errors import FormatError
from data.schema import SCHEMA_VERSION
from data.selection import Selection
from data.store import Database, Fetch

P = ParamSpec("P")
R = TypeVar("R")

MAX_ENTRIES = 1000
KEEP_S = 7 * 24 * 3600
LIVE = frozenset({"data.queries.jobs.header", "data.queries.jobs.any_header"})
"""Queries of a job that depend on more than its version (its status ages): always asked again."""


class BytesSerializer(FileSystemSerializer):
    """Bytes as they are, and the library's own file count as digits; anything else is refused."""

    def dump(self, value: int | bytes, f: IO[bytes], protocol: int = 0) -> None:
        """Write a value."""
        if isinstance(value, bytes):
            f.write(b"B" + value)
        elif type(value) is int:
            f.write(b"I" + str(value).encode())
        else:
            raise TypeError(f"the cache holds bytes, not {type(value).__name__}")

    def load(self, f: IO[bytes]) -> int | bytes | None:
        """Read a value; None, which the cache takes for a miss, where the file is not one of ours."""
        kind, content = f.read(1), f.read()
        if kind == b"B":
            return content
        return int(content) if kind == b"I" and content.isdigit() else None

    def dumps(self, value: Any, protocol: int = 0) -> bytes:
        """A value as bytes; the library's own method would pickle it."""
        stream = io.BytesIO()
        self.dump(value, stream)
        return stream.getvalue()

    def loads(self, bvalue: bytes) -> int | bytes | None:
        """A value from bytes; the library's own method would unpickle them."""
        return self.load(io.BytesIO(bvalue))


class BytesCache(FileSystemCache):
    """The library's cache of files, with our serializer from its first write on."""

    serializer = BytesSerializer()

    @property
    def _file_count(self) -> int:
        count = self.get(self._fs_count_file)
        return count if isinstance(count, int) else 0  # a damaged file must not fail a query


class Versioned(Protocol):
    """What the cache needs to know of a store."""

    @property
    def fetch(self) -> Fetch:
        """Runs a query."""

    def version(self, job_id: str) -> str:
        """Changes with every conversion of the job; '' where it is not stored."""


class CachedFetch:
    """A `Fetch` that answers from the cache where it can; one computation per key and process at a time."""

    def __init__(self, store: Versioned, cache: Cache) -> None:
        self._store = store
        self._cache = cache
        self._locks = _KeyLocks()
        self._program = program_version()

    def __call__(self, query: Callable[Concatenate[Database, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of the query with these arguments, from the cache or from the store."""
        key = self._key(query, args, kwargs)
        if key is None:
            return self._store.fetch(query, *args, **kwargs)
        with self._locks.holding(key):
            payload = self._cache.get(key)
            if isinstance(payload, bytes):
                try:
                    return cast(R, codec.decode(payload))
                except FormatError:
                    self._cache.delete(key)
            result = self._store.fetch(query, *args, **kwargs)
            self._cache.set(key, codec.encode(result))
            return result

    def _key(self, query: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        name = f"{query.__module__}.{query.__qualname__}"
        jobs = [value.job for value in (*args, *kwargs.values()) if isinstance(value, Selection)]
        if not jobs or name in LIVE:
            return None
        versions = [self._store.version(job) for job in jobs]
        if not all(versions):
            return None
        parts = (self._program, SCHEMA_VERSION, versions, name, args, sorted(kwargs.items()))
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def cached_fetch(store: Versioned, server: Flask, folder: Path) -> CachedFetch:
    """A `Fetch` over this store that remembers in `folder`, which is made, and made private, if need be."""
    _make_private(folder)
    config = {
        "CACHE_TYPE": f"{__name__}.{BytesCache.__name__}",
        "CACHE_DIR": str(folder),
        "CACHE_THRESHOLD": MAX_ENTRIES,
        "CACHE_DEFAULT_TIMEOUT": KEEP_S,
    }
    return CachedFetch(store, Cache(server, config=config))


def program_version() -> str:
    """Changes with every change of the code that answers: what an older program concluded is not shown by a newer."""
    root = Path(data.__file__).parent
    files = sorted(
        (str(path.relative_to(root)), path.stat()) for path in root.rglob("*") if path.suffix in (".py", ".csv")
    )
    parts = [(name, found.st_size, found.st_mtime_ns) for name, found in files]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_uid != os.geteuid():
            raise SettingsError(
                f"The cache folder {folder} belongs to another user.", "Name another one in INSIGHTS_CACHE."
            )
        folder.chmod(0o700)
    except OSError as error:
        raise SettingsError(
            f"The cache folder {folder} cannot be made: {error.strerror}.", "Name another one in INSIGHTS_CACHE."
        ) from error


class _KeyLocks:
    """One lock per key in use."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def holding(self, key: str) -> Iterator[None]:
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = (lock, users - 1)
