"""The record of one training on disk, as the command line writes and reads it: a folder with config.json (what was
asked), metrics.jsonl (one line per measurement), summary.json (the result; absent while the run is going on or when it
was cut short) and failure.txt (why a training failed)."""
from __future__ import annotations

import json
import math
import os
import pathlib
import sys
import time
import types
from typing import Any, Optional, Union

Path = Union[str, "os.PathLike[str]"]
Option = Union[str, float, int, bool, None]

_VERSION = 1


class Record:
    """Writes the record of a training loop, for report() and for `lipschitzlr report`.

    options say what was trained; the page shows data, network, optimizer and epochs. A figure that epoch() is given
    becomes a curve of its name; the page knows loss, accuracy, val_loss, val_accuracy, rate, K_z, max_w and
    train_seconds.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp() + "/digits"
    >>> with Record(folder, data="digits", network="cnn", optimizer="adamo", epochs=2) as record:
    ...     for loss in (0.9, 0.4):
    ...         record.epoch(loss=loss, rate=0.1)
    >>> sorted(os.listdir(folder))
    ['config.json', 'metrics.jsonl', 'summary.json']

    Leaving the block finishes the record; an exception that leaves it is written into failure.txt.
    """

    def __init__(self, folder: Path, **options: Option) -> None:
        if not os.fspath(folder):
            raise ValueError("the name of the record's folder is empty")
        self.folder = pathlib.Path(folder)
        for name, value in options.items():
            if value is not None and not isinstance(value, (str, int, float)):
                raise TypeError(f"the option {name} is {value!r}; it must be text, a number, True, False or None")
        if (self.folder / "config.json").exists():
            raise FileExistsError(f"{self.folder}: there is a record in this folder already; name another one")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._options = options
        self._began = time.monotonic()
        self._epochs = self._steps = 0
        self._last: dict[str, float] = {}
        # "command" is for words of the program lipschitzlr. Records are passed on: the script has its name only, without
        # the folders of this machine.
        script = [os.path.basename(sys.argv[0] or "python"), *sys.argv[1:]]
        config = {"version": _VERSION, "kind": "network training", "command": [], "script": script, "options": options}
        _write(self.folder / "config.json", _text(config, indent=2))
        self._metrics: Optional[Any] = open(self.folder / "metrics.jsonl", "w", encoding="utf-8")

    def epoch(self, **figures: float) -> None:
        """One line per epoch, counted from 1. A figure that is None, NaN or infinite is written as null."""
        self._epochs += 1
        self._write_line({"kind": "epoch", "epoch": self._epochs}, figures)
        self._last = figures

    def step(self, **figures: float) -> None:
        """A line of a single step, of the epoch that epoch() will end."""
        self._steps += 1
        self._write_line({"kind": "step", "epoch": self._epochs + 1, "step": self._steps}, figures)

    def finish(self, stopped: str = "epochs done", **summary: Any) -> None:
        """Writes summary.json: the run is complete, unless fewer epochs were made than the option epochs asked for."""
        if self._metrics is None:
            raise RuntimeError(f"{self.folder}: the record is finished already")
        self._close()
        facts = {
            "folder": self.folder.name,
            "stopped": stopped,
            "epochs": self._epochs,
            "seconds": time.monotonic() - self._began,
            "final": {name: _number(name, value) for name, value in self._last.items()},
        }
        _write(self.folder / "summary.json", _text({**facts, **summary}, indent=2))

    def fail(self, reason: str) -> None:
        """Writes failure.txt: the training failed."""
        self._close()
        _write(self.folder / "failure.txt", " ".join(reason.split()) + "\n")

    def __enter__(self) -> Record:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[types.TracebackType],
    ) -> None:
        if isinstance(error, Exception):
            self.fail(str(error) or type(error).__name__)
        elif error is not None:
            self._close()  # interrupted: a record without a summary was cut short
        elif self._metrics is not None:
            self.finish()

    def _write_line(self, head: dict[str, Any], figures: dict[str, float]) -> None:
        if self._metrics is None:
            raise RuntimeError(f"{self.folder}: the record is finished already")
        for name in head.keys() & figures.keys():
            raise ValueError(f"{name} is counted by the record; name your figure otherwise")
        values = {name: _number(name, value) for name, value in figures.items()}
        self._metrics.write(_text({**head, **values}))
        self._metrics.flush()  # for whoever reads the record while it is written

    def _close(self) -> None:
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None


def _number(name: str, value: Any) -> Optional[float]:
    """A Python number; a tensor or an array of one number is its number."""
    if value is None or isinstance(value, (int, float)):
        number = value
    elif callable(getattr(value, "item", None)):
        number = value.item()
    else:
        raise TypeError(f"the figure {name} is {value!r}; it must be a number")
    return number if number is not None and math.isfinite(number) else None


def _text(value: Any, indent: Optional[int] = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def _write(path: pathlib.Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace")
    os.replace(part, path)
