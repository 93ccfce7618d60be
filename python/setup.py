"""Takes the version from the one place that has it, the project() call of CMakeLists.txt."""
import pathlib
import re

from setuptools import setup

cmake = pathlib.Path(__file__).resolve().parent.parent / "CMakeLists.txt"
found = re.search(r"^project\(lipschitzlr VERSION ([0-9.]+)", cmake.read_text(encoding="utf-8"), re.MULTILINE)
if not found:
    raise SystemExit("CMakeLists.txt has no project(lipschitzlr VERSION ...); build from a checkout of LipschitzLR")
setup(version=found[1])
