"""One module per format: what it takes for its own, and how it reads that.

A new format of duration events is one module with an `EventReader` and one line in `READERS`. System metrics, which
come in bulk and are no events, have a reader of their own (`sagemaker_system`).
"""

from __future__ import annotations

from data.readers.events import EventReader
from data.readers.sagemaker_trace import READER as SAGEMAKER_TRACE

READERS: tuple[EventReader, ...] = (SAGEMAKER_TRACE,)
"""The readers of duration events. A file belongs to the first one that takes it."""
