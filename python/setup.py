"""Takes the version from the one place that has it, the project() call of CMakeLists.txt, and the shared library from the
build: the one that LIPSCHITZLR_LIBRARY names, else build/lib/liblipschitzlr.so of the checkout. A wheel with the library is
for all versions of Python on this kind of machine; without one it has lipschitzlr.torch and records only, and runs anywhere.
"""
import os
import pathlib
import re
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

checkout = pathlib.Path(__file__).resolve().parent.parent
found = re.search(
    r"^project\(lipschitzlr VERSION ([0-9.]+)", (checkout / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE
)
if not found:
    raise SystemExit("CMakeLists.txt has no project(lipschitzlr VERSION ...); build from a checkout of LipschitzLR")
named = os.environ.get("LIPSCHITZLR_LIBRARY")
library = pathlib.Path(named) if named else checkout / "build" / "lib" / "liblipschitzlr.so"
if named and not library.exists():
    raise SystemExit(f"LIPSCHITZLR_LIBRARY is {named}, where there is no library")
if not library.exists():
    print(f"lipschitzlr: {library} is not built: the package will be without its linear models", file=sys.stderr)


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if library.exists():
            shutil.copy(library, pathlib.Path(self.build_lib, "lipschitzlr", "liblipschitzlr.so"))


class Wheel(bdist_wheel):
    def get_tag(self):
        tag = super().get_tag()
        return ("py3", "none", tag[2]) if library.exists() else tag


class WithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return library.exists()


setup(version=found[1], cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": Wheel}, distclass=WithLibrary)
