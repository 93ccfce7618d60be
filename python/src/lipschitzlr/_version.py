"""The version of the package: in a checkout that is on the path the one of its CMakeLists.txt, else the installed one."""
from __future__ import annotations

import pathlib
import re
from importlib.metadata import version


def _of_checkout() -> str:
    project = pathlib.Path(__file__).resolve().parents[3] / "CMakeLists.txt"
    if not project.exists():
        return ""
    found = re.search(r"^project\(lipschitzlr VERSION ([0-9.]+)", project.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


VERSION = _of_checkout() or version("lipschitzlr")
