"""What could not be read, in words for the person who owns the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file."""

    file: str  # relative to the job's folder
    line: int | None  # 1-based; None where the whole file is meant
    message: str
    severity: Severity
    derived: bool = field(default=False, kw_only=True)  # follows from all files together: found anew by each conversion
    lost_rows: int = 0  # records destroyed by damage; a whole record that makes no sense is counted in the message
