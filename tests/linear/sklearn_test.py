#!/usr/bin/env python3
"""The models of `fit` beside those of scikit-learn on the same objective, at tight tolerances. Exits with 77 (skipped)
where scikit-learn is not installed. Usage: sklearn_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy
    from sklearn.linear_model import LogisticRegression, Ridge
except ImportError:
    print("scikit-learn is not there; on Debian: apt-get install python3-sklearn")
    sys.exit(77)

PROGRAM = sys.argv.pop(1)


def draw(seed, rows, columns):
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((rows, columns))
    score = x[:, 0] + 0.5 * x.sum(axis=1) / numpy.sqrt(columns) + 0.7 * random.standard_normal(rows)
    return x, score


def fit(x, y, l2, *options):
    """Weights (outputs x features) and intercepts of our model, on features as they are."""
    with tempfile.TemporaryDirectory() as folder:
        table, model = pathlib.Path(folder, "table.csv"), pathlib.Path(folder, "model.json")
        names = [f"x{j}" for j in range(x.shape[1])]
        lines = [",".join(names + ["y"])]
        lines += [",".join(repr(float(v)) for v in row) + f",{label}" for row, label in zip(x, y)]
        table.write_text("\n".join(lines) + "\n")
        command = [PROGRAM, "fit", table, "--scale", "none", "--l2", repr(l2), "--tolerance", "1e-15", "-o", model]
        subprocess.run([str(word) for word in [*command, "--quiet", *options]], check=True, stdout=subprocess.DEVNULL)
        weights = numpy.array(json.loads(model.read_text())["weights"])
    return weights[:-1].T, weights[-1]


def loss(x, y, weights, intercepts, l2):
    """The penalised loss with y numbers, or class indices when they are whole."""
    scores = x @ weights.T + intercepts
    penalty = l2 / 2 * (weights**2).sum()
    if y.dtype.kind == "f":
        return ((scores[:, 0] - y) ** 2).mean() / 2 + penalty
    if scores.shape[1] == 1:
        scores = numpy.column_stack([numpy.zeros(len(y)), scores])
    return (numpy.logaddexp.reduce(scores, axis=1) - scores[numpy.arange(len(y)), y]).mean() + penalty


class Agreement(unittest.TestCase):
    def compare(self, x, y, l2, weights_too=True, options=()):
        numbers = y.dtype.kind == "f"
        ours = fit(x, y if numbers else [f"class{label}" for label in y], l2, *options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may say that rounding stopped it
            if numbers:
                theirs = Ridge(alpha=l2 * len(y), solver="svd", tol=1e-14).fit(x, y)
            else:
                solver = "newton-cholesky" if y.max() == 1 else "newton-cg"
                theirs = LogisticRegression(C=1 / (l2 * len(y)), solver=solver, tol=1e-13, max_iter=10000).fit(x, y)
        weights = numpy.atleast_2d(theirs.coef_)
        intercepts = numpy.atleast_1d(theirs.intercept_)
        reference = loss(x, y, weights, intercepts, l2)
        self.assertLessEqual(loss(x, y, *ours, l2), reference * (1 + 1e-10) + 1e-300)
        if not weights_too:
            return
        if len(weights) > 1:  # the same number in all outputs changes nothing
            intercepts = intercepts - intercepts.mean()
            ours = ours[0], ours[1] - ours[1].mean()
        self.assertLess(numpy.abs(ours[0] - weights).max(), 1e-6 * numpy.abs(weights).max())
        self.assertLess(numpy.abs(ours[1] - intercepts).max(), 1e-6 * (1 + numpy.abs(intercepts).max()))

    def test_tall_ridge(self):
        x, score = draw(1, 300, 8)
        self.compare(x + 5, score, 0.01)

    def test_wide_ridge(self):
        x, score = draw(2, 30, 90)
        self.compare(x, score, 0.1)

    def test_ridge_of_collinear_and_constant_columns(self):
        x, score = draw(3, 80, 6)
        x[:, 3], x[:, 4] = x[:, 2], 7
        self.compare(x, score, 1e-3)

    def test_ridge_of_extremely_scaled_columns(self):
        x, score = draw(4, 100, 5)
        self.compare(x * [1, 1e12, 1e-12, 1e6, 1], score, 1e-3, weights_too=False)

    def test_ridge_of_two_rows(self):
        self.compare(numpy.array([[1.0, 2.0], [3.0, -1.0]]), numpy.array([0.5, 2.25]), 0.1)

    def test_tall_logistic(self):
        x, score = draw(5, 400, 9)
        self.compare(x, (score > 0.3).astype(int), 1e-3)

    def test_wide_logistic(self):
        x, score = draw(6, 40, 120)
        self.compare(x, (score > 0).astype(int), 0.05)

    def test_logistic_of_collinear_and_constant_columns(self):
        x, score = draw(7, 90, 6)
        x[:, 3], x[:, 4] = 2 * x[:, 2], -3
        self.compare(x, (score > 0).astype(int), 0.01)

    def test_logistic_of_extremely_scaled_columns(self):
        x, score = draw(8, 100, 5)
        self.compare(x * [1, 1e12, 1e-12, 1e6, 1], (score > 0).astype(int), 1e-3, weights_too=False)

    def test_logistic_of_one_feature(self):
        x, score = draw(9, 50, 1)
        self.compare(x, (score > 0).astype(int), 0.02)

    def test_logistic_of_two_rows(self):
        self.compare(numpy.array([[1.0, 2.0], [3.0, -1.0]]), numpy.array([0, 1]), 0.1)

    def test_softmax(self):
        x, score = draw(10, 200, 6)
        self.compare(x, numpy.digitize(score, [-0.5, 0.7]), 0.01)

    def test_softmax_by_lbfgs(self):
        x, score = draw(11, 150, 6)
        self.compare(x, numpy.digitize(score, [-0.5, 0.7]), 0.05, options=["--solver", "lbfgs"])


if __name__ == "__main__":
    unittest.main()
