"""Columns of events from columns as they are written: texts with each word once, and step numbers."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.readers.events import NO_NUMBER
from data.readers.trace_rows import integers

LONGEST_NAME = 4_096
"""Letters of a name that are kept; names of kernels of C++ templates have some thousand at most."""

PROFILER_STEP = "ProfilerStep#"
"""What PyTorch's profiler calls a step, followed by its number."""

GPU_NUMBER = re.compile(r"[0-9]{1,6}")
"""What a device may be called: a trace may name others, which are no GPUs."""

_PROFILER_STEP = re.compile(PROFILER_STEP + r"(\d{1,18})")


def words(column: pa.ChunkedArray, kind: re.Pattern[str] | None = None) -> pa.Array:
    """A text column, each word once: "" for what is missing or not of the kind; of a very long one its beginning."""
    encoded = pc.dictionary_encode(column.combine_chunks())
    kept = [
        word[:LONGEST_NAME] if kind is None or kind.fullmatch(word) else "" for word in encoded.dictionary.to_pylist()
    ]
    if encoded.null_count:
        kept.append("")
    place = {word: at for at, word in enumerate(dict.fromkeys(kept))}
    codes = np.array([place[word] for word in kept], np.int32)[encoded.indices.fill_null(len(kept) - 1).to_numpy()]
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(place), pa.string()))


def always(word: str, size: int) -> pa.Array:
    """The same text in every row."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([word], pa.string()))


def either(first: pa.Array, second: pa.Array) -> pa.Array:
    """The first text, the second where that is empty."""
    if "" not in first.dictionary.to_pylist():
        return first
    text = first.cast(pa.string())
    return pc.dictionary_encode(pc.if_else(pc.equal(text, ""), second.cast(pa.string()), text))


def steps(names: pa.Array, written: pa.ChunkedArray) -> NDArray[np.int64]:
    """The step number that an event gives as argument, or that PyTorch's profiler writes into its name."""
    step = integers(written, NO_NUMBER)
    found = [_PROFILER_STEP.fullmatch(word) for word in names.dictionary.to_pylist()]
    if any(found):
        number = np.array([int(one[1]) if one else NO_NUMBER for one in found], np.int64)[names.indices.to_numpy()]
        step = np.where(number != NO_NUMBER, number, step)
    return step
