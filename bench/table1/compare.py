#!/usr/bin/env python3
"""Time from the start to the thresholds of Table 1 on the embedded data sets: ours against the same protocol in NumPy.

Both take turns on the same matrices, starts and rates, several times over; the least time of each counts. NumPy's
loops are written as one would for speed: one pass, no copies of X, stable losses.   compare.py TABLE1_BENCH
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time


def linear(np, X, y, w, rate, threshold):
    m, iterations = len(y), 0
    while True:
        residual = X @ w
        residual -= y
        iterations += 1
        if residual @ residual / (2 * m) < threshold:
            return iterations
        w -= (rate / m) * (residual @ X)


def logistic(np, X, y, w, rate, threshold):
    m, iterations = len(y), 0
    sign = 2 * y - 1
    while True:
        margin = X @ w
        margin *= sign
        small = np.exp(-np.abs(margin))
        iterations += 1
        if (np.log1p(small) - np.minimum(margin, 0)).mean() < threshold:
            return iterations
        slope = np.where(margin > 0, small, 1) / (1 + small)
        w += (rate / m) * ((slope * sign) @ X)


def softmax(np, X, y, w, rate, threshold):
    m, iterations = len(y), 0
    rows, truth = np.arange(m), y.astype(int)
    while True:
        scores = X @ w
        scores -= scores.max(axis=1, keepdims=True)
        right = scores[rows, truth]
        np.exp(scores, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        iterations += 1
        if (np.log(total[:, 0]) - right).mean() < threshold:
            return iterations
        scores /= total
        scores[rows, truth] -= 1
        w -= (rate / m) * (X.T @ scores)


def run_ours(program, folder, threads):
    out = subprocess.run([program, folder, str(threads)], check=True, capture_output=True, text=True).stdout
    runs = {}
    for line in out.splitlines():
        row, family, rows, columns, outputs, name, rate, threshold, iterations, seconds = line.split()
        runs[row, name] = dict(family=family, shape=(int(rows), int(columns), int(outputs)), rate=float(rate),
                               threshold=float(threshold), iterations=int(iterations), seconds=float(seconds))
    return runs


def run_numpy(np, folder, row, run):
    rows, columns, outputs = run["shape"]
    X = np.fromfile(folder / f"{row}.X").reshape(rows, columns)
    y = np.fromfile(folder / f"{row}.y")
    w = np.fromfile(folder / f"{row}.w")
    if run["family"] == "softmax":
        w = w.reshape(columns, outputs)
    train = {"linear": linear, "logistic": logistic, "softmax": softmax}[run["family"]]
    begin = time.perf_counter()
    iterations = train(np, X, y, w, run["rate"], run["threshold"])
    return iterations, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(options.threads)
    import numpy as np  # after the variables: OpenBLAS reads them once

    best = {}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(options.repeats):
            for key, run in run_ours(options.program, name, options.threads).items():
                iterations, seconds = run_numpy(np, pathlib.Path(name), key[0], run)
                # Sums are rounded in another order: over 40,000 steps the counts may differ by a few.
                assert abs(iterations - run["iterations"]) <= 1 + iterations // 1000, (key, iterations, run)
                ours, theirs = best.get(key, (float("inf"), float("inf")))
                best[key] = min(ours, run["seconds"]), min(theirs, seconds)
                best[key, "iterations"] = run["iterations"]

    print(f"{'set':14} {'rate':9} {'iterations':>10} {'ours ms':>10} {'NumPy ms':>10} {'ratio':>7}")
    totals = [0.0, 0.0]
    for key in [key for key in best if key[1] != "iterations"]:
        ours, theirs = best[key]
        totals = [totals[0] + ours, totals[1] + theirs]
        print(f"{key[0]:14} {key[1]:9} {best[key, 'iterations']:10} {ours * 1e3:10.2f} {theirs * 1e3:10.2f} "
              f"{theirs / ours:7.1f}")
    print(f"{'total':14} {'':9} {'':10} {totals[0] * 1e3:10.2f} {totals[1] * 1e3:10.2f} {totals[1] / totals[0]:7.1f}")


if __name__ == "__main__":
    main()
