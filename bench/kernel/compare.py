#!/usr/bin/python3
"""Times one loss+gradient of our kernels against NumPy (SciPy for sparse rows) and scikit-learn: same data, same number
of threads, taking turns within one run. Before that, loss and gradient must agree. Then X'X (gram) and Cholesky factors
against OpenBLAS and Eigen.
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
import algebra  # noqa: E402
from peers import Peer, Sklearn  # noqa: E402

# name, family, scalar, rows, columns, outputs, goal against NumPy (0: none), rows of a mini-batch (0: all rows)
CASES = [
    ("wide softmax (MNIST)", "softmax", np.float32, 60000, 784, 10, 2.5, 0),
    ("tall logistic (Covertype)", "logistic", np.float64, 495141, 10, 1, 3.5, 0),
    ("sparse logistic (a9a)", "logistic", np.float64, 32561, 123, 1, 3.0, 0),
    ("mini-batch (MNIST)", "softmax", np.float32, 60000, 784, 10, 0, 128),
    ("iris", "softmax", np.float64, 105, 4, 3, 5.0, 0),
    ("digits", "softmax", np.float64, 1257, 64, 10, 5.0, 0),
    ("Boston", "linear", np.float64, 506, 14, 1, 5.0, 0),
    ("breast cancer", "logistic", np.float64, 569, 31, 1, 5.0, 0),
]


def a9a_like(random, rows, columns):
    """Fourteen ones a row, one from each of fourteen groups of columns: how a9a is made."""
    edges = np.linspace(0, columns, 15).astype(int)
    picks = [random.integers(edges[g], edges[g + 1], rows) for g in range(14)]
    index = np.stack(picks, axis=1).astype(np.int32)
    starts = np.arange(0, 14 * rows + 1, 14, dtype=np.int32)
    return scipy.sparse.csr_matrix((np.ones(14 * rows), index.ravel(), starts), shape=(rows, columns))


def make(case):
    name, family, scalar, rows, columns, outputs = case[:6]
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

    def seconds(self, times, batch):
        """Of one evaluation: on average, and the least."""
        answer = self.ask(f"batch {batch} {times}" if batch else f"time {times}")
        return answer["seconds"] / times, answer["least"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peer_seconds(peer, W, times):
    least, start = float("inf"), time.perf_counter()
    before = start
    for _ in range(times):
        peer(W)
        after = time.perf_counter()
        least, before = min(least, after - before), after
    return (before - start) / times, least


def repeats(measure):
    """As many evaluations as fill a turn, after one to warm up."""
    measure(1)
    once = max(measure(3)[0], 1e-7)
    return max(1, int((0.02 if options.quick else 0.15) / once))


def agree(name, ours, theirs, scalar):
    tolerance = 2e-4 if scalar == np.float32 else 1e-10
    loss, gradient = theirs
    gradient = np.asarray(gradient).reshape(ours[1].shape)
    error = max(abs(ours[0] - loss) / abs(loss), np.abs(ours[1] - gradient).max() / np.abs(gradient).max())
    if not error < tolerance:
        sys.exit(f"{name}: loss or gradient differs from NumPy's by {error:.2g} (relative); that must not be")


def peers_of(case, X, y):
    family, outputs, batch = case[1], case[5], case[7]
    if batch:
        rows = np.random.default_rng(2).integers(0, len(y), batch)
        learner = Sklearn(family, X, y, outputs, 1)

        def learn(W):
            learner.X, learner.y = X[rows], y[rows]
            return learner(W)

        return lambda W: Peer(family, X[rows], y[rows])(W), learn
    # Where there is little to do, scikit-learn is faster with one thread.
    threads = options.threads if X.shape[0] > 10000 else 1
    return Peer(family, X, y), Sklearn(family, X, y, outputs, threads)


def run_case(case, folder):
    batch = case[7]
    X, y, W = make(case)
    ours = Ours(folder, case, X, y, W)
    agree(case[0], ours.check(), Peer(case[1], X, y)(W), case[2])
    numpy_peer, sklearn_peer = peers_of(case, X, y)
    measures = [
        lambda times: ours.seconds(times, batch),
        lambda times: peer_seconds(numpy_peer, W, times),
        lambda times: peer_seconds(sklearn_peer, W, times),
    ]
    times = [repeats(measure) for measure in measures]
    rounds = 3 if options.quick else options.rounds
    turns = np.array([[measure(t) for measure, t in zip(measures, times)] for _ in range(rounds)])
    limits = ours.ask("limits")
    isa = ours.check()[2]
    ours.close()
    report(case, X, turns, limits)
    return limits, isa


def report(case, X, turns, limits):
    name, _, scalar, _, columns, outputs, goal, batch = case
    rows = batch or X.shape[0]
    median, least = np.median(turns[:, :, 0], axis=0), turns[:, :, 1].min(axis=0)
    ratio, sklearn_ratio = np.median(turns[:, 1:, 0] / turns[:, :1, 0], axis=0)
    sparse = scipy.sparse.issparse(X)
    bytes_read = (X.data.nbytes + X.indices.nbytes) if sparse else rows * columns * X.itemsize
    operations = 4 * (X.nnz if sparse else rows * columns) * outputs
    # What stays in the caches is not bounded by memory; 16 MB is more than a second-level cache holds.
    by_memory = bytes_read / limits["bytes"] if bytes_read > 16e6 else 0
    limit, which = max((operations / limits["operations"], "arithmetic"), (by_memory, "memory"))
    unit, factor = ("ms", 1e3) if least[0] > 1e-3 else ("us", 1e6)
    verdict = f"goal {goal}: {'PASS' if ratio >= goal else 'short of goal'}" if goal else "no goal"
    print(f"{name}: {rows} x {columns} x {outputs}, {np.dtype(scalar).name}{', sparse' if sparse else ''}")
    for who, one, quickest in zip(("ours", "NumPy", "scikit-learn"), median, least):
        print(f"    {who:12s} {one * factor:10.2f} {unit} median {quickest * factor:10.2f} {unit} least")
    print(
        f"    {ratio:.2f} times as fast as NumPy by medians ({verdict}), {least[1] / least[0]:.2f} by the least; "
        f"{sklearn_ratio:.2f} and {least[2] / least[0]:.2f} times scikit-learn; "
        f"{100 * limit / least[0]:.0f} % of the {which} limit",
        flush=True,
    )


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
    if options.only in "gram" or options.only in "cholesky":
        bench = os.path.join(os.path.dirname(os.path.abspath(options.kernel_bench)), "algebra_bench")
        algebra.run(bench, options.threads, 3 if options.quick else options.rounds, options.only)


if __name__ == "__main__":
    main()
