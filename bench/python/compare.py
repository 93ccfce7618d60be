#!/usr/bin/env python3
"""What the estimators of python/ add to the time of the library's call inside fit: processor time on one thread, the least
of many turns. The goals are 1.1 times the call for 1 MB and more, and 0.3 ms for iris.

    compare.py BENCH [--quick]      BENCH: any path in the folder of a benchmark; the library is two folders above
"""
import argparse
import os
import pathlib
import sys
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "src"))

import numpy as np  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402

from lipschitzlr import LipschitzClassifier, LipschitzRegressor, _library  # noqa: E402


def seconds_of_fit(estimator, X, y, turns):
    """Of the whole fit and of the library's call in it."""
    call, inside, whole = _library._call, [], []

    def timed(name, *arguments):
        if name != "fit":  # looking at the clock takes a microsecond, which would count as Python's
            return call(name, *arguments)
        start = time.process_time()
        call(name, *arguments)
        inside.append(time.process_time() - start)

    _library._call = timed
    try:
        for _ in range(turns):
            start = time.process_time()
            estimator.fit(X, y)
            whole.append(time.process_time() - start)
    finally:
        _library._call = call
    return min(whole), min(inside)


def problems():
    X, y = load_iris(return_X_y=True)
    yield "iris", LipschitzClassifier(l2=1e-3), X, y
    for rows in (5000, 40000):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((rows, 25))
        y = X[:, 0] + rng.standard_normal(rows)
        size = f"{X.nbytes / 1e6:.0f} MB"
        yield f"{size}, targets are numbers", LipschitzRegressor(l2=1e-3, n_jobs=1), X, y
        for kind, labels in (("bool", y > 0), ("whole numbers", (y > 0) + 1),
                             ("text", np.where(y > 0, "benign", "malignant"))):
            yield f"{size}, labels are {kind}", LipschitzClassifier(l2=1e-3, n_jobs=1), X, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    build = pathlib.Path(options.bench).resolve().parents[2]
    os.environ.setdefault("LIPSCHITZLR_LIBRARY", str(build / "lib" / "liblipschitzlr.so"))
    warnings.filterwarnings("ignore")
    print("| rows | fit | the library's call | Python adds | ratio | goal |\n|---|---|---|---|---|---|")
    for name, estimator, X, y in problems():
        fit, core = seconds_of_fit(estimator, X, y, 5 if options.quick else 300)
        goal, kept = ("0.3 ms", fit - core <= 0.3e-3) if name == "iris" else ("1.1", fit <= 1.1 * core)
        print(f"| {name} | {1e3 * fit:.3g} ms | {1e3 * core:.3g} ms | {1e3 * (fit - core):.2g} ms | {fit / core:.3g} | "
              f"{goal}{'' if kept else ', missed'} |", flush=True)


if __name__ == "__main__":
    main()
