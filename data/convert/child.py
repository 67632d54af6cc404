"""The process that reads foreign files: limits itself, converts one job, and says on standard output how it goes."""

from __future__ import annotations

import json
import resource
import signal
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from data.convert.progress import Progress
from data.errors import InsightsError
from data.sources import find_job


def main() -> int:
    """Reads the order from standard input; progress and answer are lines of JSON."""
    order = json.loads(sys.stdin.read())
    limits = order["limits"]
    _limit(limits["memory_mb"], limits["seconds"])
    sys.meta_path.insert(0, _WithoutPandas())
    from data.convert.job import convert_job

    try:
        manifest = convert_job(
            find_job([order["source"]], order["job_id"]),
            Path(order["store"]),
            _report,
            free_space_floor_bytes=limits["free_space_floor_bytes"],
            memory_limit_mb=limits["duckdb_memory_mb"],
        )
    except InsightsError as error:
        _say({"error": error.message, "hint": error.hint, "kind": type(error).__name__})
        return 1
    except MemoryError:
        _say(
            {
                "error": "The job needs more memory than a conversion may use.",
                "hint": "Raise INSIGHTS_CONVERT_MEMORY_BYTES.",
                "kind": "StoreError",
            }
        )
        return 1
    except OSError as error:
        _say({"error": f"The store or a file could not be used: {error.strerror}.", "hint": "", "kind": "StoreError"})
        return 1
    except Exception as error:
        # A bug, not the user's fault: what is needed to mend it goes to a file, not on the screen.
        trace = Path(order["store"]) / "conversion-error.txt"
        trace.write_text(f"{order['source']} {order['job_id']}\n{traceback.format_exc()}")
        hint = f"This is a fault of the program; please report it with the file {trace}."
        _say({"error": f"The conversion failed ({type(error).__name__}).", "hint": hint, "kind": "StoreError"})
        return 1
    _say({"version": manifest.version})
    return 0


class _WithoutPandas:
    """Keeps pyarrow from loading pandas, which it would do for nothing: most of a second for every job."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ImportError("pandas is not used in this process")


def _limit(memory_mb: int, seconds: int) -> None:
    """Caps memory and processor time; the data segment counts, not address space, which libraries map freely."""
    size = memory_mb << 20
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _report(progress: Progress) -> None:
    _say({"progress": asdict(progress)})


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
