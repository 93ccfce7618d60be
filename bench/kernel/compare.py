#!/usr/bin/python3
"""Times one loss+gradient of our kernels against NumPy (SciPy for sparse rows) and scikit-learn: same data, same number
of threads, taking turns within one run. Before that, loss and gradient must agree.
    compare.py KERNEL_BENCH [--threads N] [--rounds N] [--quick] [--a9a FILE] [--only NAME]"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kernel_bench")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--quick", action="store_true", help="three short rounds: to see that it runs")
parser.add_argument("--a9a", help="the LIBSVM file; without it rows of the same shape and density are made up")
parser.add_argument("--only", default="", help="cases whose name contains this")
options = parser.parse_args()
# Before NumPy loads its BLAS.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402
from peers import Peer, Sklearn  # noqa: E402

# name, family, scalar, rows, columns, outputs, goal against NumPy
CASES = [
    ("wide softmax (MNIST)", "softmax", np.float32, 60000, 784, 10, 2.5),
    ("tall logistic (Covertype)", "logistic", np.float64, 495141, 10, 1, 3.5),
    ("sparse logistic (a9a)", "logistic", np.float64, 32561, 123, 1, 3.0),
    ("iris", "softmax", np.float64, 105, 4, 3, 5.0),
    ("digits", "softmax", np.float64, 1257, 64, 10, 5.0),
    ("Boston", "linear", np.float64, 506, 14, 1, 5.0),
    ("breast cancer", "logistic", np.float64, 569, 31, 1, 5.0),
]


def a9a_like(random, rows, columns):
    """Fourteen ones a row, one from each of fourteen groups of columns: how a9a is made."""
    edges = np.linspace(0, columns, 15).astype(int)
    picks = [random.integers(edges[g], edges[g + 1], rows) for g in range(14)]
    index = np.stack(picks, axis=1).astype(np.int32)
    starts = np.arange(0, 14 * rows + 1, 14, dtype=np.int32)
    return scipy.sparse.csr_matrix((np.ones(14 * rows), index.ravel(), starts), shape=(rows, columns))


def make(case):
    name, family, scalar, rows, columns, outputs, _ = case
    random = np.random.default_rng(1)
    if name.startswith("sparse") and options.a9a:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(options.a9a, n_features=columns, dtype=scalar)
        y = (y > 0).astype(scalar)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    else:
        X = a9a_like(random, rows, columns) if name.startswith("sparse") else None
        X = random.standard_normal((rows, columns), dtype=scalar) if X is None else X
        y = random.standard_normal(rows) if family == "linear" else random.integers(0, max(outputs, 2), rows)
        y = y.astype(scalar)
    W = (random.standard_normal((columns, outputs)) / np.sqrt(columns)).astype(scalar)
    return X, y, W


class Ours:
    """kernel_bench as a process of its own that answers one command at a time."""

    def __init__(self, folder, case, X, y, W):
        self.folder, self.scalar, self.shape = folder, W.dtype, W.shape
        sparse = scipy.sparse.issparse(X)
        kind, stored = ("sparse", X.nnz) if sparse else ("dense", 0)
        scalar = "float" if W.dtype == np.float32 else "double"
        with open(f"{folder}/problem.txt", "w") as out:
            print(case[1], scalar, kind, *X.shape, W.shape[1], stored, file=out)
        (X.data if sparse else X).tofile(f"{folder}/features.bin")
        if sparse:
            X.indices.tofile(f"{folder}/columns.bin")
            X.indptr.tofile(f"{folder}/starts.bin")
        y.tofile(f"{folder}/targets.bin")
        W.tofile(f"{folder}/weights.bin")
        command = [options.kernel_bench, folder, str(options.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def check(self):
        answer = self.ask("check")
        return answer["loss"], np.fromfile(f"{self.folder}/gradient.bin", self.scalar).reshape(self.shape), answer["isa"]

    def seconds(self, times):
        return self.ask(f"time {times}")["seconds"] / times

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peer_seconds(peer, W, times):
    start = time.perf_counter()
    for _ in range(times):
        peer(W)
    return (time.perf_counter() - start) / times


def repeats(measure):
    """As many evaluations as fill a turn, after one to warm up."""
    measure(1)
    once = max(measure(3), 1e-7)
    return max(1, int((0.02 if options.quick else 0.15) / once))


def agree(name, ours, theirs, scalar):
    tolerance = 2e-4 if scalar == np.float32 else 1e-10
    loss, gradient = theirs
    gradient = np.asarray(gradient).reshape(ours[1].shape)
    error = max(abs(ours[0] - loss) / abs(loss), np.abs(ours[1] - gradient).max() / np.abs(gradient).max())
    if not error < tolerance:
        sys.exit(f"{name}: loss or gradient differs from NumPy's by {error:.2g} (relative); that must not be")


def run_case(case, folder):
    name, family, scalar, _, _, outputs, goal = case
    X, y, W = make(case)
    ours = Ours(folder, case, X, y, W)
    numpy_peer = Peer(family, X, y)
    sklearn_peer = Sklearn(family, X, y, outputs, options.threads)
    agree(name, ours.check(), numpy_peer(W), scalar)
    measures = [
        ours.seconds,
        lambda times: peer_seconds(numpy_peer, W, times),
        lambda times: peer_seconds(sklearn_peer, W, times),
    ]
    times = [repeats(measure) for measure in measures]
    rounds = 3 if options.quick else options.rounds
    turns = np.array([[measure(t) for measure, t in zip(measures, times)] for _ in range(rounds)])
    limits = ours.ask("limits")
    isa = ours.check()[2]
    ours.close()
    return report(case, X, turns, limits, isa, goal)


def report(case, X, turns, limits, isa, goal):
    name, family, scalar, rows, columns, outputs, _ = case
    median, least = np.median(turns, axis=0), turns.min(axis=0)
    ratio, sklearn_ratio = np.median(turns[:, 1:] / turns[:, :1], axis=0)
    sparse = scipy.sparse.issparse(X)
    bytes_read = (X.data.nbytes + X.indices.nbytes) if sparse else X.nbytes
    operations = 4 * (X.nnz if sparse else X.size) * outputs
    by_memory, by_flops = bytes_read / limits["bytes"], operations / limits["operations"]
    # What stays in the caches is not bounded by memory; 16 MB is more than any second-level cache here holds.
    limit, which = max((by_flops, "flops"), (by_memory if bytes_read > 16e6 else 0, "memory"))
    unit, factor = ("ms", 1e3) if median[0] > 1e-3 else ("us", 1e6)
    verdict = "PASS" if ratio >= goal else "short of goal"
    print(
        f"{name:26s} {X.shape[0]:>6d} x {columns:<3d} x {outputs:<2d} {np.dtype(scalar).name}  "
        f"ours {median[0] * factor:8.2f} (least {least[0] * factor:8.2f})  NumPy {median[1] * factor:9.2f}  "
        f"scikit-learn {median[2] * factor:9.2f} {unit}   {ratio:5.2f}x NumPy (goal {goal}x: {verdict}), "
        f"{sklearn_ratio:5.2f}x scikit-learn, {100 * limit / least[0]:3.0f} % of the {which} limit"
    )
    return limits, isa


def blas_name():
    """The BLAS that is loaded, as the system names its file."""
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "blas" in line.lower() and "/" in line}
    return ", ".join(sorted(os.path.basename(os.path.realpath(path)) for path in files))


def main():
    print(f"One loss + gradient, {options.threads} threads each, NumPy {np.__version__} with {blas_name()}")
    limits, isa = None, ""
    for case in CASES:
        if options.only not in case[0]:
            continue
        with tempfile.TemporaryDirectory(prefix="kernel_bench.") as folder:
            limits, isa = run_case(case, folder)
    if limits:
        print(f"Kernels: {isa}. Machine at best, same run: {limits['bytes'] / 1e9:.1f} GB/s read, "
              f"{limits['operations'] / 1e9:.0f} GFLOP/s (double)")


if __name__ == "__main__":
    main()
