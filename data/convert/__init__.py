"""From a source's files to a stored job: `convert` is the door, everything behind it runs in a limited child process."""

from data.convert.progress import Progress, Report
from data.convert.supervise import Limits, convert

__all__ = ["Limits", "Progress", "Report", "convert"]
