"""What Python adds to the library: memory, in a process of its own, and time: of the processor, the least of many."""
from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from lipschitzlr import LipschitzClassifier, LipschitzRegressor, _arrays, _library

# Prints by how many times the size of X the largest size of the process grew, in fit and in predict.
MEMORY = """
import json, resource, sys
import numpy as np, scipy.sparse
from lipschitzlr import LipschitzClassifier, LipschitzRegressor
kind, solver = sys.argv[1:]
rows, columns = 400_000, 25
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
model = LipschitzRegressor(l2=0.1) if solver == "least squares" else LipschitzClassifier(l2=0.1, solver=solver)
model.fit(X[:100], y[:100])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
start = peak()
model.fit(X, y)
middle = peak()
model.predict(X)
print(json.dumps([(middle - start) / size, (peak() - middle) / size]))
"""


@pytest.mark.parametrize(
    "kind, solver", [("float64", "auto"), ("float64", "least squares"), ("float32", "auto"), ("csr", "auto")]
)
def test_the_rows_are_not_copied(kind: str, solver: str) -> None:
    """What is made is the design, X scaled and with a column of ones: 1.04 times X. A copy would add 1 to that."""
    ran = subprocess.run([sys.executable, "-c", MEMORY, kind, solver], capture_output=True, text=True, check=True)
    fit, predict = json.loads(ran.stdout)
    assert fit < 1.5 and predict < 0.1, (fit, predict)


def seconds_of_fit(estimator: Any, X: Any, y: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Of many calls of fit, and of the library's call in each: seconds of the processor."""
    call, inside = _library._call, [0.0]

    def timed(name: str, *arguments: Any) -> None:
        start = time.process_time()
        call(name, *arguments)
        if name == "fit":
            inside[0] = time.process_time() - start

    monkeypatch.setattr(_library, "_call", timed)
    seconds = []
    for _ in range(20):
        start = time.process_time()
        estimator.fit(X, y)
        seconds.append((time.process_time() - start, inside[0]))
    return seconds


@pytest.mark.parametrize("estimator", [LipschitzClassifier(l2=1e-3), LipschitzRegressor(l2=1e-3)], ids=str)
def test_a_fit_of_eight_megabytes_takes_a_tenth_more_than_the_library_at_most(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40000, 25))
    y = X[:, 0] + rng.standard_normal(40000)
    assert X.nbytes == 8e6
    targets = y if isinstance(estimator, LipschitzRegressor) else y > 0
    seconds = seconds_of_fit(estimator.set_params(n_jobs=1), X, targets, monkeypatch)
    assert min(fit / core for fit, core in seconds) < 1.1, sorted(seconds)[0]


def test_a_fit_of_iris_takes_three_tenths_of_a_millisecond_more_than_the_library_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = seconds_of_fit(LipschitzClassifier(l2=1e-3), *load_iris(return_X_y=True), monkeypatch)
    assert min(fit - core for fit, core in seconds) < 0.3e-3, sorted(seconds)[0]


def test_rows_that_need_no_conversion_are_the_ones_the_library_reads() -> None:
    for dtype in (np.float32, np.float64):
        X = np.ones((3, 2), dtype=dtype)
        rows = _arrays.features(X)
        assert rows is X and _arrays.as_matrix(rows)[0].values == X.ctypes.data
