"""The chart that is not there: says why, in the words of the page, instead of drawing an empty frame."""

from __future__ import annotations

from components.panels import EmptyView


def no_gpus() -> EmptyView:
    """A job whose instances have no GPU, or whose GPUs were not recorded."""
    return EmptyView("No GPU was recorded for this job.", "Jobs on CPU instances have none; nothing is wrong.")


def no_steps(reason: str) -> EmptyView:
    """A job without framework events."""
    return EmptyView(
        reason or "No training step was recorded for this job.",
        "Steps come from the framework's profiler; turn it on to see them.",
    )


def no_metrics() -> EmptyView:
    """A job of traces alone."""
    return EmptyView(
        "This job has no system metrics, only traces of its framework.",
        "They come from the profiler's system folder; put it beside the traces to see both on one axis.",
    )


def no_events() -> EmptyView:
    """A job whose framework was not profiled."""
    return EmptyView(
        "No framework event was recorded for this job.",
        "They come from the framework's profiler, or from traces of PyTorch or TensorFlow.",
    )


def no_memory_records() -> EmptyView:
    """A job whose framework was profiled without its memory."""
    return EmptyView(
        "No record of a memory allocator in this job.",
        "PyTorch's profiler writes them into its traces with profile_memory=True.",
    )


def nothing_in_window(what: str) -> EmptyView:
    """A window in which nothing was measured."""
    return EmptyView(f"{what} in this window.", "Zoom out, or press 0 to see the whole job.")
