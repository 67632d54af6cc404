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


def nothing_in_window(what: str) -> EmptyView:
    """A window in which nothing was measured."""
    return EmptyView(f"{what} in this window.", "Zoom out, or press 0 to see the whole job.")
