"""What Python adds to the library: memory, in a process of its own, and calls."""
from __future__ import annotations

import gc
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from lipschitzlr import LipschitzClassifier, LipschitzRegressor, _arrays

# Prints by how many times the size of X the largest size of the process grew, in fit and in predict.
MEMORY = """
import json, resource, sys
import numpy as np, scipy.sparse
from lipschitzlr import LipschitzClassifier, LipschitzRegressor
kind, solver, scale, l2 = sys.argv[1:]
rows, columns = 250_000 if kind != "csr" else 100_000, 100
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


@pytest.mark.parametrize("l2", ["0.1", "auto"])
@pytest.mark.parametrize(
    "kind, solver, scale, most",
    [
        ("float64", "auto", "standard", 0.15),
        ("float64", "auto", "none", 0.15),
        ("float64", "newton", "standard", 0.15),
        ("float64", "least squares", "standard", 0.15),
        ("float32", "auto", "standard", 0.3),
        ("float32", "least squares", "none", 0.3),
    ],
)
def test_dense_rows_are_not_copied(kind: str, solver: str, scale: str, most: float, l2: str) -> None:
    """They are scaled block by block when they are read. What is kept is some numbers of each row, about ten in float64: 0.1
    times X, in float32 twice that. A copy would add 1."""
    fit, predict = growth(kind, solver, scale, l2)
    assert fit < most and predict < 0.1, (fit, predict)


@pytest.mark.parametrize("solver", ["auto", "least squares"])
@pytest.mark.parametrize("l2, most", [("0.1", 1.2), ("auto", 2.0)])
def test_of_sparse_rows_the_design_is_made_and_for_the_choice_of_a_penalty_that_of_a_fold(
    solver: str, l2: str, most: float
) -> None:
    fit, predict = growth("csr", solver, "none", l2)
    assert fit < most and predict < 0.1, (fit, predict)


def growth(*arguments: str) -> tuple[float, float]:
    ran = subprocess.run([sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, check=True)
    fit, predict = json.loads(ran.stdout)
    return fit, predict


@pytest.mark.parametrize("labels", ["bool", "int", "numbers", "text"])
def test_a_fit_makes_few_calls_in_python_however_many_rows_there_are(labels: str) -> None:
    """Time depends on the machine, which has other work: scripts/bench python measures it. What Python does in a fit is
    counted here: 0.1 ms are some 150 calls, and none may be made row by row."""
    counts = [calls_of_fit(labels, rows) for rows in (500, 5000)]
    assert counts[0] == counts[1] < 220, counts


def calls_of_fit(labels: str, rows: int) -> int:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 25))
    y = X[:, 0] + rng.standard_normal(rows)
    estimator: Any = LipschitzRegressor if labels == "numbers" else LipschitzClassifier
    targets = {"bool": y > 0, "int": (y > 0) + 1, "text": np.where(y > 0, "benign", "malignant"), "numbers": y}[labels]
    model = estimator(l2=1e-3, n_jobs=1).fit(X, targets)  # what is found once is found now
    events: list[str] = []
    gc.disable()  # destructors of other tests' objects are calls too
    sys.setprofile(lambda frame, event, argument: events.append(event))
    try:
        model.fit(X, targets)
    finally:
        sys.setprofile(None)
        gc.enable()
    return sum(event in ("call", "c_call") for event in events)


def test_rows_that_need_no_conversion_are_the_ones_the_library_reads() -> None:
    for dtype in (np.float32, np.float64):
        X = np.ones((3, 2), dtype=dtype)
        rows = _arrays.features(X)
        assert rows is X and _arrays.as_matrix(rows)[0].values == X.ctypes.data
