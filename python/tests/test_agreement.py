"""Rates, constants and losses of every optimizer: the same in Python as in C++, and in two processes as in one."""
from __future__ import annotations

import array
import csv
import functools
import json
import os
import pathlib
import random
import sys
from typing import Any

import pytest

from processes import run_processes

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("LIPSCHITZLR_AGREEMENT", "")
WIDTH, HIDDEN, CLASSES, ROWS, STEPS = 64, 16, 10, 32, 20


@pytest.fixture(scope="session")
def problem(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A start and batches of the digits that are in the tree."""
    with open(HERE.parents[1] / "data" / "digits.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    rng = random.Random(7)
    rng.shuffle(lines)
    numbers = array.array("d", [WIDTH, HIDDEN, CLASSES, ROWS, STEPS])
    for size, scale in ((HIDDEN * WIDTH, 0.2), (HIDDEN, 0.1), (CLASSES * HIDDEN, 0.3), (CLASSES, 0.1)):
        numbers.extend(rng.gauss(0, scale) for _ in range(size))
    for step in range(STEPS):
        batch = lines[step * ROWS : (step + 1) * ROWS]
        numbers.extend(float(value) / 16 for line in batch for value in line[:-1])
        numbers.extend(float(line[-1]) for line in batch)
    path = tmp_path_factory.mktemp("agreement") / "problem"
    path.write_bytes(numbers.tobytes())
    return str(path)


@functools.lru_cache(maxsize=None)
def python_says(problem: str, size: int) -> list[dict[str, Any]]:
    said = run_processes([sys.executable, "-W", "error", str(HERE / "agreement_loop.py"), problem], size)
    return [json.loads(text) for text in said]


def assert_close(ours: dict[str, Any], theirs: dict[str, Any], tolerance: float) -> None:
    assert ours.keys() == theirs.keys() and len(ours) == 19
    for name in ours:
        assert len(ours[name]["steps"]) == STEPS
        for step, (one, other) in enumerate(zip(ours[name]["steps"], theirs[name]["steps"])):
            assert one == pytest.approx(other, rel=tolerance, abs=1e-300), f"{name}, step {step}"


def numbers_in(value: Any) -> list[Any]:
    """The leaves of a saved state, with their names, in a fixed order."""
    if isinstance(value, dict):
        return [leaf for name in sorted(value) for leaf in [name, *numbers_in(value[name])]]
    if isinstance(value, list):
        return [leaf for item in value for leaf in numbers_in(item)]
    return [value]


def test_two_processes_compute_what_one_computes(problem: str) -> None:
    (alone,) = python_says(problem, 1)
    first, second = python_says(problem, 2)
    assert first == second  # the same bits
    assert_close(first, alone, 1e-9)


@pytest.mark.skipif(not PROGRAM, reason="LIPSCHITZLR_AGREEMENT names no built program")
@pytest.mark.parametrize("size", [1, 2])
def test_python_computes_what_c_plus_plus_computes(problem: str, size: int) -> None:
    ours = python_says(problem, size)[0]
    theirs = json.loads(run_processes([PROGRAM, problem], size)[0])
    assert_close(ours, theirs, 1e-6)
    for name in ours:
        one, other = numbers_in(ours[name]["state"]), numbers_in(theirs[name]["state"])
        assert one == [leaf if isinstance(leaf, (str, bool)) else pytest.approx(leaf, rel=1e-6) for leaf in other], name
