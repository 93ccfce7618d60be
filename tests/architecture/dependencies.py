#!/usr/bin/env python3
"""Checks the layers of docs/architecture.md by reading every #include of include/ and src/.

A folder includes only the folders it may use, and of those only public headers (include/lipschitzlr/); the internal
headers of base/ are for all. libtorch is included in nn/ and dist/ only; the public headers of the core need nothing but
the standard library and Eigen. Long files are reported, not refused.   dependencies.py REPOSITORY
"""

import pathlib
import re
import sys

CORE = ["base", "data", "bound", "rate", "linear"]
MAY_USE = {
    "base": [],
    "data": ["base"],
    "bound": ["base"],
    "rate": ["base", "bound"],
    "linear": ["base", "data", "bound", "rate"],
    "nn": ["base", "data", "bound", "rate"],
    "dist": ["base"],
    "run": CORE + ["nn", "dist"],
    "experiment": CORE + ["nn", "dist", "run"],
    "report": CORE + ["nn", "dist", "run", "experiment"],
    "capi": CORE,
    "app": CORE + ["nn", "dist", "run", "experiment", "report"],
    # Headers of whole libraries, in include/lipschitzlr/ itself.
    "c_api.h": [],
    "core.hpp": CORE,
    "torch.hpp": CORE + ["nn", "dist"],
}
LIBTORCH = re.compile(r"^(torch|ATen|c10)/")
MAY_USE_LIBTORCH = {"nn", "dist"}
# A header of the standard library has neither folder nor extension: <vector>, <cstdint>.
STANDARD = re.compile(r"^[a-z_0-9]+$")
LONGEST = {".h": 120, ".hpp": 120, ".cpp": 300}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def included_folder(name, own_folders):
    """The folder of ours that an include names: "lipschitzlr/bound/norms.hpp" or, inside src/, "bound/detail.hpp"."""
    parts = name.removeprefix("lipschitzlr/").split("/")
    if len(parts) > 1 and (name.startswith("lipschitzlr/") or parts[0] in own_folders):
        return parts[0]
    return None


def faults_of(path, folder, is_public, own_folders):
    for match in INCLUDE.finditer(path.read_text(encoding="utf-8")):
        name = match.group(2)
        used = included_folder(name, own_folders)
        if used is not None:
            if used != folder and used not in MAY_USE[folder]:
                yield f"{folder}/ must not use {used}/: #include {name}"
            elif used not in (folder, "base") and not name.startswith("lipschitzlr/"):
                yield f"{name} is internal to {used}/; include a public header, or make it one"
        elif LIBTORCH.match(name):
            if folder not in MAY_USE_LIBTORCH:
                yield f"libtorch belongs in nn/ and dist/ only: #include {name}"
        elif is_public and folder in CORE:
            if match.group(1) == '"' or not (STANDARD.match(name) or name.startswith("Eigen/")):
                yield f"a public header of the core needs only the standard library and Eigen: #include {name}"


def check(root):
    """Every fault as "path: sentence", and every file longer than is good, as a remark."""
    faults, remarks = [], []
    for tree in (root / "include" / "lipschitzlr", root / "src"):
        for path in sorted([*tree.rglob("*.[hc]pp"), *tree.rglob("*.h")]):
            folder = path.relative_to(tree).parts[0]
            where = path.relative_to(root)
            if folder not in MAY_USE:
                faults.append(f"{where}: is in no folder of docs/architecture.md")
                continue
            is_public = tree.name == "lipschitzlr"
            faults += [f"{where}: {fault}" for fault in faults_of(path, folder, is_public, set(MAY_USE))]
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONGEST[path.suffix]:
                remarks.append(f"{where}: {lines} lines, more than {LONGEST[path.suffix]}")
    return faults, remarks


def main():
    faults, remarks = check(pathlib.Path(sys.argv[1]))
    for remark in remarks:
        print("remark:", remark)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults, {len(remarks)} remarks")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
