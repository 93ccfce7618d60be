"""The page of records, made by the command-line program."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Iterable, Optional, Union

from ._record import Path


def report(records: Union[Path, Iterable[Path]], page: Path, *, title: Optional[str] = None) -> pathlib.Path:
    """Writes one page of records with their curves, verdicts and commands, and returns its path.

    records are folders that Record, `lipschitzlr train` or `lipschitzlr fit --record` left, or folders of these; the
    suffix of page chooses the format: .html, .csv, .json or .md. The program lipschitzlr is the one that the variable
    LIPSCHITZLR_BIN names, else the one on PATH, else that of the checkout this package lies in.
    """
    given = [records] if isinstance(records, (str, os.PathLike)) else list(records)
    if not given:
        raise ValueError("there are no records to report; name the folder of one")
    folders = [os.fspath(folder) for folder in given]
    if not all(isinstance(folder, str) and folder for folder in folders):
        raise TypeError(f"the records are {folders!r}; each must be the name of a folder")
    target = pathlib.Path(page)
    kind = target.suffix[1:]
    if kind not in ("html", "csv", "json", "md"):
        raise ValueError(f"{target}: the suffix must be .html, .csv, .json or .md, which is the format of the page")
    command = [_program(), "report", "-o", _as_word(target), "--format", kind]
    if title is not None:
        command += [f"--title={title}"]
    ran = subprocess.run([*command, *map(_as_word, folders)], capture_output=True, text=True, errors="replace")
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip() or f"lipschitzlr report ended with {ran.returncode}")
    return target


# A name that begins with a dash would be taken for an option.
def _as_word(path: Path) -> str:
    word = os.fspath(path)
    return os.path.join(".", word) if word.startswith("-") else word


def _program() -> str:
    named = os.environ.get("LIPSCHITZLR_BIN")
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise FileNotFoundError(f"LIPSCHITZLR_BIN is {named}, where there is no program")
        return named
    built = pathlib.Path(__file__).resolve().parents[3] / "build" / "bin" / "lipschitzlr"
    found = shutil.which("lipschitzlr") or (str(built) if os.access(built, os.X_OK) else None)
    if found is None:
        raise FileNotFoundError("the program lipschitzlr is not on PATH; install it, or name it in LIPSCHITZLR_BIN")
    return found
