"""The problems of the `fit` benchmark: a matrix, targets, and what they are called. A set that has not been fetched
(`lipschitzlr data get NAME`) is replaced by made-up rows of its shape, and says so."""
import os
import pathlib
import subprocess

import numpy as np
import pandas
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_svmlight_file, load_wine


def standardised(X):
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def scaled_by(X, rows):
    """By the given rows; a column that is constant there has a deviation of rounding, by which nothing is divided."""
    mean, deviation = X[rows].mean(axis=0), X[rows].std(axis=0)
    return (X - mean) / np.where(np.ptp(X[rows], axis=0) > 0, deviation, 1)


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


def mnist(program, rows):
    """The first rows of MNIST, pixels as shares of 256, which a table holds exactly."""
    folder = fetched(program, "mnist")
    if folder is None:
        return None
    arrays = []
    for kind, start in (("images", 16), ("labels", 8)):
        path = next(pathlib.Path(folder).glob(f"train-{kind}-idx*-ubyte"))
        arrays.append(np.fromfile(path, np.uint8, offset=start))
    pixels = arrays[0].reshape(len(arrays[1]), -1)[:rows] / 256
    return pixels, arrays[1][:rows].astype(int)


def problems(program, quick):
    """Development problems: constants of the solvers are chosen on them."""
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
    yield "wine 178 x 14, 3 classes", standardised(load_wine().data), load_wine().target
    yield catalogue_table(program, "energy", (768, 8), 0, quick)
    yield catalogue_table(program, "covertype", (92962, 54), 7, quick)
    yield "made up, dense 20,000 x 200, 2 classes", *made_up(20000 // shrink, 200, 0, 2, 11)
    X, y = made_up(100000 // shrink, 1000, 15, 2, 12)
    rare = (y > 0) & (np.random.default_rng(13).random(len(y)) < 0.05)
    yield "made up, sparse 100,000 x 1,000, rare class", X, rare.astype(int)
    yield "made up, dense 3,000 x 300, ridge", *made_up(3000 // shrink, 300, 0, 0, 14)
    digits = None if quick else mnist(program, 20000)
    name = "mnist 20,000 x 785, 10 classes"
    yield (name, *digits) if digits else (f"made up, as {name}", *made_up(20000 // shrink, 784, 0, 10, 15))


# ---- Held out: named and written before their first run, which is the last one of a version.

def correlated(rows, columns, share, seed):
    """Normal columns, each the given share of the one before."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, columns))
    for j in range(1, columns):
        X[:, j] = share * X[:, j - 1] + np.sqrt(1 - share ** 2) * X[:, j]
    return X, random


def sizes_of_shells(rows, seed):
    """As abalone: lengths and weights of animals that follow from their age, and the age, to within a year or two."""
    random = np.random.default_rng(seed)
    age = 3 + random.gamma(3, 2.5, rows)
    length = (1 - np.exp(-age / 5)) * np.exp(0.1 * random.standard_normal(rows))
    columns = [length, 0.8 * length, 0.3 * length] + [share * length ** 3 for share in (1, 0.45, 0.2, 0.3)]
    X = np.stack(columns, axis=1) * np.exp(0.05 * random.standard_normal((rows, 7)))
    return standardised(np.hstack([X, random.integers(0, 3, (rows, 1))])), np.round(age, 1)


def heavy_tailed(rows, columns, seed):
    """Columns without a variance: Student's t with two degrees of freedom."""
    random = np.random.default_rng(seed)
    X = random.standard_t(2, (rows, columns))
    return standardised(X), X @ random.standard_normal(columns) + 5 * random.standard_t(3, rows)


def words(rows, columns, per_row, classes, seed):
    """Sparse counts of words, each class with its own frequencies, mixed with those that all share."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, rows)
    common, own = random.dirichlet(np.full(columns, 0.3)), random.dirichlet(np.full(columns, 0.3), classes)
    cells = np.stack([random.choice(columns, per_row, p=0.8 * common + 0.2 * own[c]) for c in y])
    X = sp.csr_matrix((np.ones(cells.size), cells.ravel(), np.arange(rows + 1) * per_row), (rows, columns))
    X.sum_duplicates()
    return X, y


def held_out_problems():
    yield "shells 4,177 x 9, ridge", *sizes_of_shells(4177, 101)
    X, random = correlated(8000, 150, 0.95, 102)
    yield ("correlated 8,000 x 151, 2 classes", X,
           (X @ random.standard_normal(150) + 3 * random.standard_normal(8000) > 1).astype(int))
    yield "heavy-tailed 30,000 x 41, ridge", *heavy_tailed(30000, 40, 103)
    yield "words 20,000 x 2,001, 5 classes", *words(20000, 2000, 40, 5, 104)
    X, random = correlated(600, 599, 0.5, 105)
    yield "square 600 x 600, ridge", X, X @ random.standard_normal(599) + 10 * random.standard_normal(600)
    X, random = correlated(60000, 25, 0.2, 106)
    yield ("rare 60,000 x 26, 2 classes", np.exp(X / 2),
           (X[:, :5].sum(axis=1) + 2 * random.standard_normal(60000) > 7).astype(int))


def is_ridge(y):
    return y.dtype.kind == "f" and len(np.unique(y)) > 20
