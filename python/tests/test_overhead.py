"""What Python adds to the library: memory, in a process of its own, and time: of the processor, the least of many turns."""
from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_iris

from lipschitzlr import LipschitzClassifier, LipschitzRegressor, _arrays, _library

# Prints by how many times the size of X the largest size of the process grew, in fit and in predict.
MEMORY = """
import json, resource, sys
import numpy as np, scipy.sparse
from lipschitzlr import LipschitzClassifier, LipschitzRegressor
kind, solver, scale, l2 = sys.argv[1:]
rows, columns = 100_000, 100
X = np.empty((rows, columns), dtype=np.float32 if kind == "float32" else np.float64)
np.random.default_rng(0).standard_normal(out=X, dtype=X.dtype)
size = X.nbytes
if kind == "csr":
    starts = np.arange(0, rows * columns + 1, columns, dtype=np.int32)
    places = np.tile(np.arange(columns, dtype=np.int32), rows)
    X = scipy.sparse.csr_matrix((X.reshape(-1), places, starts), shape=(rows, columns), copy=False)
    X.has_canonical_format = True
    size += places.nbytes + starts.nbytes
y = np.arange(rows) % 2 if solver != "least squares" else np.arange(rows) / rows
settings = {"l2": l2 if l2 == "auto" else float(l2), "scale": scale}
regression = solver == "least squares"
model = LipschitzRegressor(**settings) if regression else LipschitzClassifier(solver=solver, **settings)
model.fit(X[:100], y[:100])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
start = peak()
model.fit(X, y)
middle = peak()
model.predict(X)
print(json.dumps([(middle - start) / size, (peak() - middle) / size]))
"""


@pytest.mark.parametrize(
    "kind, solver, scale, most",
    [
        ("float64", "auto", "standard", 1.2),
        ("float64", "auto", "none", 1.2),
        ("float64", "newton", "standard", 1.2),
        ("float64", "least squares", "standard", 1.2),
        ("float32", "auto", "standard", 1.3),
        ("float32", "least squares", "none", 1.3),
        ("csr", "auto", "none", 1.2),
        ("csr", "least squares", "none", 1.2),
    ],
)
def test_the_rows_are_not_copied(kind: str, solver: str, scale: str, most: float) -> None:
    """What is made is the design, X scaled and with a column of ones: 1.01 times X, and some numbers of each row, about ten
    in float64: 0.1 times X, in float32 twice that. A copy would add 1."""
    fit, predict = growth(kind, solver, scale, "0.1")
    assert fit < most and predict < 0.1, (fit, predict)


def test_the_choice_of_the_penalty_makes_three_matrices_at_most() -> None:
    """The rows, those of a fold and its design."""
    fit, predict = growth("float64", "auto", "standard", "auto")
    assert fit < 3.3 and predict < 0.1, (fit, predict)


def growth(*arguments: str) -> tuple[float, float]:
    ran = subprocess.run([sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, check=True)
    fit, predict = json.loads(ran.stdout)
    return fit, predict


class Seconds(NamedTuple):
    """Of the processor, the least of many turns."""

    fit: float
    core: float  # of the library's call in it
    alone: bool  # whether nothing else wanted the processor: other work empties its caches, of which Python needs more


def seconds_of_fit(estimator: Any, X: Any, y: Any, monkeypatch: pytest.MonkeyPatch) -> Seconds:
    call, inside, whole = _library._call, [], []

    def timed(name: str, *arguments: Any) -> None:
        start = time.process_time()
        call(name, *arguments)
        if name == "fit":
            inside.append(time.process_time() - start)

    monkeypatch.setattr(_library, "_call", timed)
    began, used = time.perf_counter(), time.process_time()
    for _ in range(200):
        start = time.process_time()
        estimator.fit(X, y)
        whole.append(time.process_time() - start)
    alone = time.perf_counter() - began < 1.1 * (time.process_time() - used)
    return Seconds(min(whole), min(inside), alone)


@pytest.mark.parametrize("labels, most", [("bool", 1.1), ("int", 1.1), ("numbers", 1.1), ("text", 1.2)])
def test_a_fit_of_a_megabyte_takes_a_tenth_more_than_the_library_at_most(
    labels: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels of nine characters are 0.2 megabytes themselves, all of which are compared."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 25))
    y = X[:, 0] + rng.standard_normal(5000)
    assert X.nbytes == 1e6
    settings: Any = {"l2": 1e-3, "n_jobs": 1}
    estimator = LipschitzRegressor(**settings) if labels == "numbers" else LipschitzClassifier(**settings)
    targets = {"bool": y > 0, "int": (y > 0) + 1, "text": np.where(y > 0, "benign", "malignant"), "numbers": y}[labels]
    seconds = seconds_of_fit(estimator, X, targets, monkeypatch)
    assert seconds.fit < (most if seconds.alone else most + 0.3) * seconds.core, seconds


@pytest.mark.parametrize("estimator", [LipschitzClassifier(l2=1e-3), LipschitzRegressor(l2=1e-3)], ids=str)
def test_a_fit_of_eight_megabytes_takes_a_tenth_more_on_a_busy_machine_too(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40000, 25))
    y = X[:, 0] + rng.standard_normal(40000)
    targets = y if isinstance(estimator, LipschitzRegressor) else y > 0
    seconds = seconds_of_fit(estimator.set_params(n_jobs=1), X, targets, monkeypatch)
    assert seconds.fit < 1.1 * seconds.core, seconds


def test_a_fit_of_iris_takes_three_tenths_of_a_millisecond_more_than_the_library_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = seconds_of_fit(LipschitzClassifier(l2=1e-3), *load_iris(return_X_y=True), monkeypatch)
    assert seconds.fit - seconds.core < 0.3e-3, seconds


def test_rows_that_need_no_conversion_are_the_ones_the_library_reads() -> None:
    for dtype in (np.float32, np.float64):
        X = np.ones((3, 2), dtype=dtype)
        rows = _arrays.features(X)
        assert rows is X and _arrays.as_matrix(rows)[0].values == X.ctypes.data
