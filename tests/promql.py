"""What a question to Prometheus asks for."""

from __future__ import annotations

import re

WORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS |= {"bool", "offset"}


def metrics_of(expression: str) -> set[str]:
    """Names of the metrics in an expression of PromQL."""
    text = re.sub(r'"(?:\\.|[^"\\])*"', "", expression)
    text = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", text)
    text = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", "", text)
    names = re.findall(r"(?<![\w.])([a-zA-Z_:][\w:]*)\b(?!\s*\()", text)
    return {name for name in names if name not in WORDS}
