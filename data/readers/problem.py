"""What a reader could not read: the class lives in `data.problem`, because facts and queries speak of it too."""

from __future__ import annotations

from data.problem import Problem, Severity

__all__ = ["Problem", "Severity"]
