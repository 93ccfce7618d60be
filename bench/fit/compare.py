#!/usr/bin/env python3
"""Time to (1 + e) times the least loss, ours with nothing set against scikit-learn's solvers, on the same matrix and
the same objective (mean loss + l2/2 ||w||^2 with l2 = 1/m, the intercept free). Every solver is run to a series of
tolerances; the least time of a run that came low enough counts, the least of several turns. "In Python" is ours through
the estimators of python/, from NumPy's array to the weights.

    compare.py FIT_BENCH [--program LIPSCHITZLR] [--rounds N] [--quick] [--only NAME] [--held-out]
               [--picture docs/fit.svg]

Constants of the solvers are chosen on the development problems (problems.py); --held-out adds those that nobody runs
before a version is finished.
More tables: the peak memory of large problems, each solver in a process of its own; a path of L1 penalties against glmnet
(l1_path.py); and `fit` with nothing set, its penalty chosen by cross-validation, against LogisticRegressionCV and RidgeCV
with their defaults, by the loss on a quarter of the rows and by time.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

THREADS = 2
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from sklearn.datasets import dump_svmlight_file  # noqa: E402
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "src"))
from lipschitzlr import LipschitzClassifier, LipschitzRegressor  # noqa: E402

import l1_path  # noqa: E402
from problems import held_out_problems, is_ridge, problems, scaled_by  # noqa: E402

LEVELS = (1e-3, 1e-6)
OURS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
PEERS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


def objective(X, y, coefficients, intercepts, l2):
    scores = X @ coefficients.T + intercepts
    if is_ridge(y):
        loss = ((scores[:, 0] - y) ** 2).mean() / 2
    elif scores.shape[1] == 1:
        loss = np.logaddexp(0, np.where(y > 0, -1, 1) * scores[:, 0]).mean()
    else:
        most = scores.max(axis=1)
        loss = (np.log(np.exp(scores - most[:, None]).sum(axis=1)) + most - scores[np.arange(len(y)), y]).mean()
    return loss + l2 / 2 * (coefficients ** 2).sum()


# ---- Who is timed.

def write(X, y, path):
    if sp.issparse(X):
        dump_svmlight_file(X, y, str(path), zero_based=False)
        return
    target = y[:, None] if is_ridge(y) else y[:, None].astype(int)
    form = ["%.17g"] * X.shape[1] + ["%.17g" if is_ridge(y) else "c%d"]
    np.savetxt(path, np.hstack([X, target]), delimiter=",", fmt=form,
               header=",".join([f"x{j}" for j in range(X.shape[1])] + ["y"]), comments="")


def run_ours(bench, path, l2, turns):
    out = subprocess.run([bench, str(path), repr(l2), str(THREADS), "auto", *map(str, OURS * turns)], check=True,
                         capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def ours_in_python(y, l2, tolerance):
    kind = LipschitzRegressor if is_ridge(y) else LipschitzClassifier
    return kind(l2=l2, tol=tolerance, scale="none", max_iter=100000, n_jobs=THREADS)


def run_python(X, y, l2):
    return [run_model(ours_in_python(y, l2, tolerance), X, y, l2) for tolerance in OURS]


def peers_of(X, y, l2):
    m = len(y)
    if is_ridge(y):
        solvers = ("sparse_cg", "lsqr") if sp.issparse(X) else ("cholesky", "svd", "lsqr", "sag")
        return {f"Ridge {solver}": (lambda tol, s=solver: Ridge(alpha=l2 * m, solver=s, tol=tol)) for solver in solvers}
    solvers = ["lbfgs", "newton-cg"] + ([] if len(np.unique(y)) > 2 or sp.issparse(X) else ["newton-cholesky"])
    solvers += ["saga"] + ([] if len(np.unique(y)) > 2 else ["liblinear"])
    # liblinear penalises the intercept: its column is made so long that this hardly matters.
    return {solver: (lambda tol, s=solver: LogisticRegression(C=1 / (l2 * m), solver=s, tol=tol, max_iter=2000,
                                                              intercept_scaling=30))
            for solver in solvers}


def run_model(model, X, y, l2):
    start = time.perf_counter()
    model.fit(X, y)
    took = time.perf_counter() - start
    loss = objective(X, y, np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_), l2)
    return {"seconds": took, "loss": loss}


def run_peer(make, X, y, l2, seconds):
    """Runs of falling tolerance until the time is up."""
    runs, end = [], time.perf_counter() + seconds
    for tolerance in PEERS:
        runs.append(run_model(make(tolerance), X, y, l2))
        if time.perf_counter() > end:
            break
    return runs


def least(runs, limit):
    return min((run["seconds"] for run in runs if run["loss"] <= limit), default=float("inf"))


def shown(seconds):
    if seconds == float("inf"):
        return "never"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


# ---- The picture.

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .loose { fill: #0969da } .tight { fill: #bc4c00 } .even { stroke: #818b98; stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .loose { fill: #4493f8 } .tight { fill: #db6d28 }
  }"""


def draw(ratios, path):
    """A pair of bars for each problem: how many times as fast as the best peer, on a log scale from 0.1 to 1000."""
    left, width, row = 290, 380, 34

    def place(ratio):
        return left + width * (min(max(math.log10(ratio), -1), 3) + 1) / 4

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {row * len(ratios) + 64}">',
             f"<style>{STYLE}</style>",
             '<text x="8" y="16">Times as fast as the best of scikit-learn\'s solvers, to a loss within '
             '<tspan class="loose">1e-3</tspan> and <tspan class="tight">1e-6</tspan> of the least</text>']
    bottom = 28 + row * len(ratios)
    for power in (0.1, 1, 10, 100, 1000):
        lines.append(f'<line class="even" x1="{place(power):.0f}" x2="{place(power):.0f}" y1="26" y2="{bottom}"/>')
        lines.append(f'<text x="{place(power):.0f}" y="{bottom + 16}" text-anchor="middle">{power:g}</text>')
    for number, (name, values) in enumerate(ratios.items()):
        top = 30 + row * number
        lines.append(f'<text x="{left - 8}" y="{top + 17}" text-anchor="end">{name.replace("&", "&amp;")}</text>')
        for bar, (kind, ratio) in enumerate(zip(("loose", "tight"), values)):
            start, end = sorted((place(1), place(ratio)))
            lines.append(f'<rect class="{kind}" x="{start:.1f}" y="{top + 12 * bar}" width="{end - start:.1f}" '
                         'height="10"/>')
            lines.append(f'<text x="{max(end, place(1)) + 4:.1f}" y="{top + 12 * bar + 9}" style="font-size: 10px">'
                         f'{ratio:.2g}</text>')
    pathlib.Path(path).write_text("\n".join(lines) + "\n</svg>\n", encoding="utf-8")


# ---- Memory: what a fit adds to the peak of a process that has loaded the matrix.

LARGE = 2e6  # values: below, the memory of the libraries themselves decides


def save_arrays(X, y, path):
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape} if sp.issparse(X) else {"X": X}
    np.savez(path, y=y, **arrays)


def added_memory(path, solver, l2):
    """In MB; run in a process of its own."""
    loaded = np.load(path)
    y = loaded["y"]
    X = loaded["X"] if "X" in loaded else sp.csr_matrix((loaded["data"], loaded["indices"], loaded["indptr"]),
                                                        loaded["shape"])
    model = ours_in_python(y, l2, 1e-6) if solver == "ours" else peers_of(X, y, l2)[solver](1e-6)
    pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts from here
    before = memory_now("VmRSS")
    model.fit(X, y)
    return (memory_now("VmHWM") - before) / 1024


def memory_now(kind):
    """In kB; not getrusage, which counts what the process that started this one has."""
    lines = pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind))


def compare_memory(options, folder, memory_of):
    print("\n| problem | matrix | memory added: ours, in Python | best peer in time |\n|---|---|---|---|")
    path = folder / "arrays.npz"
    for name, X, y, best in memory_of:
        save_arrays(X, y, path)
        added = {}
        for solver in ("ours", best):
            out = subprocess.run([sys.executable, __file__, options.bench, "--memory-of", solver, str(path)], check=True,
                                 capture_output=True, text=True).stdout
            added[solver] = float(out)
        size = (X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes) / 2 ** 20
        print(f"| {name} | {size:.3g} MB | {added['ours']:.3g} MB | {added[best]:.3g} MB ({best}) |", flush=True)


# ---- The penalty chosen, against peers that choose it too.

def compare_choices(program, folder, all_problems):
    print("\n| data, three quarters of the rows | test loss: ours | peer | ratio | time: ours | peer | times as fast |\n"
          "|---|---|---|---|---|---|---|")
    for name, X, y in all_problems:
        if X.shape[0] > 50000 or len(np.unique(y)) == 10 and X.size > 1e7:  # the peers would take many minutes
            continue
        order = np.random.default_rng(1).permutation(len(y))
        border = 3 * len(y) // 4
        train, test = order[:border], order[border:]
        paths = [folder / "train.csv", folder / "test.csv"]
        for path, rows in zip(paths, (train, test)):
            write(X[rows], y[rows], path)
        model = str(folder / "model.json")
        fitted = json.loads(subprocess.run([program, "fit", str(paths[0]), "--threads", str(THREADS), "--json", "-o",
                                            model], check=True, capture_output=True, text=True).stdout)
        judged = json.loads(subprocess.run([program, "evaluate", model, str(paths[1]), "--json"], check=True,
                                           capture_output=True, text=True).stdout)
        start = time.perf_counter()
        scaled = X if sp.issparse(X) else scaled_by(X, train)
        peer = (RidgeCV() if is_ridge(y) else LogisticRegressionCV(max_iter=2000)).fit(scaled[train], y[train])
        took = time.perf_counter() - start
        loss = objective(scaled[test], y[test], np.atleast_2d(peer.coef_), np.atleast_1d(peer.intercept_), 0)
        print(f"| {name} | {judged['loss']:.5g} | {loss:.5g} | {judged['loss'] / loss:.3g} | "
              f"{shown(fitted['seconds'])} | {shown(took)} | {took / fitted['seconds']:.2g} |", flush=True)


def compare_times(options, folder, name, X, y):
    """Prints the rows of a problem; the ratios at each level and the peer that is best at the last."""
    rounds, seconds = (1, 1) if options.quick else (options.rounds, options.seconds)
    l2 = 1 / len(y)
    path = folder / "problem"
    write(X, y, path)
    # Small fits are over before the system has moved the second thread of a new process to a core of its own; the peers
    # run in this process, which has lived long enough.
    turns = 1 if (X.nnz if sp.issparse(X) else X.size) >= LARGE else 5
    ours, in_python, peers = [], [], {peer: [] for peer in peers_of(X, y, l2)}
    for _ in range(rounds):
        ours += run_ours(options.bench, path, l2, turns)
        in_python += run_python(X, y, l2)
        for peer, make in peers_of(X, y, l2).items():
            peers[peer] += run_peer(make, X, y, l2, seconds)
    lowest = min(run["loss"] for runs in [ours, in_python, *peers.values()] for run in runs)
    ratios = []
    for level, goal in zip(LEVELS, (3, 2)):
        limit = (1 + level) * lowest
        time_of = {peer: least(runs, limit) for peer, runs in peers.items()}
        best = min(time_of, key=time_of.get)
        mine = least(ours, limit)
        ratios.append(time_of[best] / mine)
        print(f"| {name} | {level:g} | {shown(mine)} ({ours[0]['solver']}) | {shown(least(in_python, limit))} | "
              f"{shown(time_of[best])} ({best}) | "
              f"{ratios[-1]:.2g}{'' if ratios[-1] >= goal else ', lost'} | {goal} |", flush=True)
    return ratios, best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--program", help="for the sets of its catalogue")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20, help="for one peer on one problem in one turn")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--held-out", action="store_true", help="the held-out problems too")
    parser.add_argument("--picture", help="a file for it, SVG")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    build = pathlib.Path(options.bench).resolve().parents[2]
    program = options.program or str(build / "bin" / "lipschitzlr")
    os.environ.setdefault("LIPSCHITZLR_LIBRARY", str(build / "lib" / "liblipschitzlr.so"))
    warnings.filterwarnings("ignore")
    if options.memory_of:
        solver, path = options.memory_of
        print(added_memory(path, solver, 1 / len(np.load(path)["y"])))
        return
    load = os.getloadavg()[0]
    if load > 1:
        print(f"the machine is not quiet (load {load:.1f}): read the ratios with care")
    groups = {"development": problems(program, options.quick)}
    if options.held_out:
        groups["held out"] = held_out_problems()
    ratios, memory_of, all_problems = {}, [], []
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        for kind, group in groups.items():
            print(f"| problem ({kind}) | to | ours (solver) | in Python | best peer | times as fast | goal |\n"
                  "|---|---|---|---|---|---|---|")
            for name, X, y in group:
                if options.only not in name:
                    continue
                ratios[name], best = compare_times(options, folder, name, X, y)
                all_problems.append((name, X, y))
                if (X.nnz if sp.issparse(X) else X.size) >= LARGE:
                    memory_of.append((name, X, y, best))
        compare_memory(options, folder, memory_of)
        if options.only in l1_path.NAME:
            l1_path.compare(str(build / "bench" / "fit" / "path_bench"), folder, THREADS, options.quick)
        compare_choices(program, folder, all_problems)
    if options.picture:
        draw({name: [min(ratio, 1e3) for ratio in pair] for name, pair in ratios.items()}, options.picture)


if __name__ == "__main__":
    main()
