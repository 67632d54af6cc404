"""What can go wrong, for people: every error carries one sentence and, where there is one, the next step.

    InsightsError
    ├── SourceError      a location that is unreachable, denied, or holds no profiler data
    ├── FormatError      a file no reader accepts, or a damaged one (which, where)
    ├── StoreError       the store cannot be written or read (no space, newer version, another writer)
    ├── UnknownJob       no job of that id
    ├── NotConverted     the job is known but has not been converted yet
    ├── MissingTable     the job has no such data: normal, becomes a panel that says why
    └── QueryTimeout     a query ran past its time limit or row cap

The command line prints sentence and hint and exits with 1; the app shows them in place of the panel.
Anything else that escapes is a bug.
"""


class InsightsError(Exception):
    """A failure that a person can understand: a sentence, and a hint what to do next ('' where there is none)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SourceError(InsightsError):
    """A location that cannot be reached or holds nothing we can read."""


class FormatError(InsightsError):
    """A file that no reader accepts, or a damaged one."""


class StoreError(InsightsError):
    """The store cannot be written or read."""


class UnknownJob(InsightsError):
    """No job has this id."""


class NotConverted(InsightsError):
    """The job is listed in a source, but its data have not been converted yet."""


class MissingTable(InsightsError):
    """The job holds no data of the kind asked for; the message says why."""


class QueryTimeout(InsightsError):
    """A query took longer or returned more than allowed; the message names it."""
