"""From a source's files to a stored job: `convert` is the door, all behind it runs in a limited child process."""

from data.convert.progress import Progress, Report
from data.convert.supervise import DEFAULT_LIMITS, Limits, convert

__all__ = ["DEFAULT_LIMITS", "Limits", "Progress", "Report", "convert"]
