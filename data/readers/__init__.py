"""One module per format: what it takes for its own, and how it reads that.

A new format of duration events is one module with an `EventReader` and one line in `READERS`. System metrics, which
come in bulk and are no events, have a reader of their own (`sagemaker_system`).
"""

from __future__ import annotations

from data.readers import chrome_trace, sagemaker_trace, tensorflow_trace
from data.readers.events import EventReader
from data.sources import SourceFile

READERS: tuple[EventReader, ...] = (
    sagemaker_trace.READER,
    tensorflow_trace.READER,
    chrome_trace.READER,
    chrome_trace.PERHAPS,
)
"""The readers of duration events. A file belongs to the first one that takes it."""


def reader_of(file: SourceFile) -> EventReader | None:
    """The reader that takes a file, None where it holds no events."""
    return next((reader for reader in READERS if reader.matches(file)), None)


def group_of(file: SourceFile) -> str:
    """What a file shares with those that complete it; no other file's where it stands alone."""
    reader = reader_of(file)
    return reader.group(file) if reader else file.path
