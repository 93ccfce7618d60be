"""Times X'X and Cholesky factors of ours against OpenBLAS (dsyrk, dpotrf) and Eigen, taking turns; called by compare.py,
which sets the number of threads before NumPy is loaded."""
import subprocess
import time

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf

SHAPES = [(20000, 200), (3000, 300), (39000, 60), (20640, 9), (92962, 55), (5000, 200)]
SIZES = [60, 200, 300, 1000, 2000]


def quickest(times, act):
    least = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        act()
        least = min(least, time.perf_counter() - start)
    return least


def median_ratio(turns):
    """Of the first column to each of the others, and the least of each."""
    turns = np.array(turns)
    return np.median(turns[:, 1:] / turns[:, :1], axis=0), turns.min(axis=0)


def run(bench, threads, rounds, only):
    process = subprocess.Popen([bench, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    peak = ask("limits")
    random = np.random.default_rng(1)
    for rows, columns in SHAPES if only in "gram" else []:
        X, operations = random.standard_normal((rows, columns)), rows * columns * (columns + 1)
        times = max(2, int(3e8 / operations))
        turns = []
        for _ in range(rounds):
            ours = [ask(f"gram {scalar} {rows} {columns} {times}") for scalar in ("double", "float")]
            turns.append([ours[0], quickest(times, lambda: dsyrk(1.0, X.T, lower=1)), ours[1]])
        ratio, least = median_ratio(turns)
        print(f"gram {rows} x {columns}: {least[0] * 1e3:.3f} ms, of floats {least[2] * 1e3:.3f} ms, "
              f"dsyrk {least[1] * 1e3:.3f} ms; {ratio[0]:.2f} times dsyrk's speed, "
              f"{100 * operations / least[0] / peak:.0f} % of the arithmetic limit", flush=True)
    for size in SIZES if only in "cholesky" else []:
        A = random.standard_normal((size, size))
        A = np.asfortranarray(A @ A.T + size * np.eye(size))
        times = max(1, int(1e8 / size**3))
        turns = [[ask(f"cholesky {size} {times}"), quickest(times, lambda: dpotrf(A, lower=1, clean=0)),
                  ask(f"eigen {size} {times}")] for _ in range(rounds)]
        ratio, least = median_ratio(turns)
        print(f"cholesky {size}: {least[0] * 1e3:.3f} ms, dpotrf {least[1] * 1e3:.3f} ms, Eigen {least[2] * 1e3:.3f} ms; "
              f"{ratio[0]:.2f} times dpotrf's speed, {ratio[1]:.2f} times Eigen's, "
              f"{100 * size**3 / 3 / least[0] / peak:.0f} % of the arithmetic limit", flush=True)
    process.stdin.close()
    process.wait()
