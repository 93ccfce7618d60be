#!/usr/bin/env python3
"""Time to (1 + e) times the least loss, ours with nothing set against scikit-learn's solvers, on the same matrix and
the same objective (mean loss + l2/2 ||w||^2 with l2 = 1/m, the intercept free). Every solver is run to a series of
tolerances; the least time of a run that came low enough counts, the least of several turns. "In Python" is ours through
the estimators of python/, from NumPy's array to the weights.

    compare.py FIT_BENCH [--program LIPSCHITZLR] [--rounds N] [--quick] [--only NAME] [--picture docs/fit.svg]

Constants of the solvers are chosen on the development problems. The held-out ones were named before their first run, but
two of them have been looked at since while the choice of the solver changed: docs/performance.md.
A second table: `fit` with nothing set, its penalty chosen by cross-validation, against LogisticRegressionCV and RidgeCV
with their defaults, by the loss on a quarter of the rows and by time.
A set that has not been fetched (`lipschitzlr data get NAME`) is replaced by made-up rows of its shape, and says so.
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
import pandas  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from sklearn.datasets import (dump_svmlight_file, load_breast_cancer, load_diabetes, load_digits,  # noqa: E402
                              load_svmlight_file, load_wine)
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "src"))
from lipschitzlr import LipschitzClassifier, LipschitzRegressor  # noqa: E402

LEVELS = (1e-3, 1e-6)
OURS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
PEERS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


# ---- Problems: a matrix, targets, and what they are called.

def standardised(X):
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def scaled_by(X, rows):
    mean, deviation = X[rows].mean(axis=0), X[rows].std(axis=0)
    return (X - mean) / np.where(deviation > 0, deviation, 1)


def made_up(rows, columns, per_row, classes, seed):
    """Sparse rows of ones, or dense normal ones without per_row; classes from noisy scores, numbers without classes."""
    random = np.random.default_rng(seed)
    if per_row:
        cells = random.zipf(1.3, size=(rows, per_row)) % columns
        X = sp.csr_matrix((np.ones(rows * per_row), cells.ravel(), np.arange(rows + 1) * per_row), (rows, columns))
        X.sum_duplicates()
        X.data[:] = 1
    else:
        X = random.standard_normal((rows, columns))
    scores = X @ random.standard_normal((columns, max(1, classes - 1))) + random.standard_normal((rows, 1))
    if classes == 0:
        return X, scores[:, 0]
    if classes == 2:
        return X, (scores[:, 0] > np.median(scores[:, 0])).astype(int)
    return X, np.hstack([scores, np.zeros((rows, 1))]).argmax(axis=1)


def fetched(program, name):
    """The file of a catalogue's set; nothing when it is not there."""
    answer = subprocess.run([program, "data", "path", name], capture_output=True, text=True)
    path = answer.stdout.strip()
    return path if answer.returncode == 0 and os.path.exists(path) else None


def table_of(program, name, classes):
    """Features and target, the last column, of a fetched CSV; two classes of more are the largest and the rest."""
    path = fetched(program, name)
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        named = any(cell.strip()[:1].isalpha() for cell in file.readline().split(","))
    rows = pandas.read_csv(path, header=0 if named else None).to_numpy(float)
    X, y = standardised(rows[:, :-1]), rows[:, -1]
    if classes == 0:
        return X, y if y.dtype.kind == "f" else y.astype(float)
    numbers = np.unique(y, return_inverse=True)[1]
    return X, (numbers == np.bincount(numbers).argmax()).astype(int) if classes == 2 else numbers


def catalogue_table(program, name, shape, classes, quick):
    """A fetched table, or made-up rows of its shape."""
    table = None if quick else table_of(program, name, classes)
    kind = f", {classes} classes" if classes else ", ridge"
    if table:
        return f"{name} {len(table[1]):,} x {table[0].shape[1] + 1}{kind}", *table
    return (f"made up, as {name} {shape[0]:,} x {shape[1] + 1}{kind}",
            *made_up(shape[0] // (20 if quick else 1), shape[1], 0, classes, 4))


def problems(program, quick):
    """Development problems."""
    yield "breast cancer 569 x 31", standardised(load_breast_cancer().data), load_breast_cancer().target
    yield "diabetes 442 x 11, ridge", standardised(load_diabetes().data), load_diabetes().target
    digits = load_digits()
    yield "digits 1,797 x 65, 10 classes", standardised(digits.data), digits.target
    shrink = 20 if quick else 1
    yield "made up, sparse, as mushrooms 8,124 x 112", *made_up(8124 // shrink, 112, 21, 2, 1)
    yield "made up, sparse, as w8a 49,749 x 300", *made_up(49749 // shrink, 300, 12, 2, 2)
    a9a = fetched(program, "a9a")
    if a9a:
        X, y = load_svmlight_file(a9a, n_features=123)
        yield "a9a 32,561 x 123", X, (y > 0).astype(int)
    else:
        yield "made up, sparse, as a9a 32,561 x 123", *made_up(32561 // shrink, 123, 14, 2, 3)
    yield catalogue_table(program, "covertype", (92962, 54), 2, quick)
    yield catalogue_table(program, "california", (20640, 8), 0, quick)
    yield catalogue_table(program, "news", (39000, 58), 0, quick)
    yield "made up, 200 x 5,000, 2 classes", *made_up(200, 5000 // shrink, 0, 2, 5)
    yield "made up, 200 x 5,000, ridge", *made_up(200, 5000 // shrink, 0, 0, 6)


def held_out_problems(program, quick):
    shrink = 20 if quick else 1
    yield "wine 178 x 14, 3 classes", standardised(load_wine().data), load_wine().target
    yield catalogue_table(program, "energy", (768, 8), 0, quick)
    yield catalogue_table(program, "covertype", (92962, 54), 7, quick)
    yield "made up, dense 20,000 x 200, 2 classes", *made_up(20000 // shrink, 200, 0, 2, 11)
    X, y = made_up(100000 // shrink, 1000, 15, 2, 12)
    rare = (y > 0) & (np.random.default_rng(13).random(len(y)) < 0.05)
    yield "made up, sparse 100,000 x 1,000, rare class", X, rare.astype(int)
    yield "made up, dense 3,000 x 300, ridge", *made_up(3000 // shrink, 300, 0, 0, 14)


def is_ridge(y):
    return y.dtype.kind == "f" and len(np.unique(y)) > 20


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


def run_ours(bench, path, l2):
    out = subprocess.run([bench, str(path), repr(l2), str(THREADS), "auto", *map(str, OURS)], check=True,
                         capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def run_python(X, y, l2):
    kind = LipschitzRegressor if is_ridge(y) else LipschitzClassifier
    return [run_model(kind(l2=l2, tol=tolerance, scale="none", max_iter=100000, n_jobs=THREADS), X, y, l2)
            for tolerance in OURS]


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


# ---- The penalty chosen, against peers that choose it too.

def compare_choices(program, folder, only, quick):
    print("\n| data, three quarters of the rows | test loss: ours | peer | ratio | time: ours | peer | times as fast |\n"
          "|---|---|---|---|---|---|---|")
    for name, X, y in [*problems(program, quick), *held_out_problems(program, quick)]:
        if only not in name or len(y) > 50000:  # the peers would take many minutes
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
    """Prints the rows of a problem; the ratios at each level."""
    rounds, seconds = (1, 1) if options.quick else (options.rounds, options.seconds)
    l2 = 1 / len(y)
    path = folder / "problem"
    write(X, y, path)
    ours, in_python, peers = [], [], {peer: [] for peer in peers_of(X, y, l2)}
    for _ in range(rounds):
        ours += run_ours(options.bench, path, l2)
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
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--program", help="for the sets of its catalogue")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20, help="for one peer on one problem in one turn")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--picture", help="a file for it, SVG")
    options = parser.parse_args()
    build = pathlib.Path(options.bench).resolve().parents[2]
    program = options.program or str(build / "bin" / "lipschitzlr")
    os.environ.setdefault("LIPSCHITZLR_LIBRARY", str(build / "lib" / "liblipschitzlr.so"))
    warnings.filterwarnings("ignore")
    load = os.getloadavg()[0]
    if load > 1:
        print(f"the machine is not quiet (load {load:.1f}): read the ratios with care")
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, all_problems in (("development", problems), ("held out", held_out_problems)):
            print(f"| problem ({kind}) | to | ours (solver) | in Python | best peer | times as fast | goal |\n"
                  "|---|---|---|---|---|---|---|")
            for name, X, y in all_problems(program, options.quick):
                if options.only in name:
                    ratios[name] = compare_times(options, pathlib.Path(folder), name, X, y)
        compare_choices(program, pathlib.Path(folder), options.only, options.quick)
    if options.picture:
        draw({name: [min(ratio, 1e3) for ratio in pair] for name, pair in ratios.items()}, options.picture)


if __name__ == "__main__":
    main()
