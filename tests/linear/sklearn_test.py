#!/usr/bin/env python3
"""The models of `fit` beside those of scikit-learn on the same objective, at tight tolerances. Exits with 77 (skipped)
where scikit-learn is not installed. Usage: sklearn_test.py PROGRAM"""
import sys
import unittest
import warnings

try:
    import numpy
    from sklearn.linear_model import LogisticRegression, Ridge
except ImportError:
    print("scikit-learn is not there; on Debian: apt-get install python3-sklearn")
    sys.exit(77)

import oracle

PROGRAM = sys.argv.pop(1)


class Agreement(unittest.TestCase):
    def compare(self, x, y, l2, weights_too=True, options=()):
        numbers = y.dtype.kind == "f"
        ours = oracle.fit(PROGRAM, x, y, "--l2", l2, *options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may say that rounding stopped it
            if numbers:
                theirs = Ridge(alpha=l2 * len(y), solver="svd", tol=1e-14).fit(x, y)
            else:
                solver = "newton-cholesky" if y.max() == 1 else "newton-cg"
                theirs = LogisticRegression(C=1 / (l2 * len(y)), solver=solver, tol=1e-13, max_iter=10000).fit(x, y)
        weights = numpy.atleast_2d(theirs.coef_)
        intercepts = numpy.atleast_1d(theirs.intercept_)
        reference = oracle.loss(x, y, weights, intercepts, l2)
        self.assertLessEqual(oracle.loss(x, y, *ours, l2), reference * (1 + 1e-10) + 1e-300)
        if not weights_too:
            return
        if len(weights) > 1:  # the same number in all outputs changes nothing
            intercepts = intercepts - intercepts.mean()
            ours = ours[0], ours[1] - ours[1].mean()
        self.assertLess(numpy.abs(ours[0] - weights).max(), 1e-6 * numpy.abs(weights).max())
        self.assertLess(numpy.abs(ours[1] - intercepts).max(), 1e-6 * (1 + numpy.abs(intercepts).max()))

    def test_tall_ridge(self):
        x, score = oracle.draw(1, 300, 8)
        self.compare(x + 5, score, 0.01)

    def test_wide_ridge(self):
        x, score = oracle.draw(2, 30, 90)
        self.compare(x, score, 0.1)

    def test_ridge_of_collinear_and_constant_columns(self):
        x, score = oracle.draw(3, 80, 6)
        x[:, 3], x[:, 4] = x[:, 2], 7
        self.compare(x, score, 1e-3)

    def test_ridge_of_extremely_scaled_columns(self):
        x, score = oracle.draw(4, 100, 5)
        self.compare(x * [1, 1e12, 1e-12, 1e6, 1], score, 1e-3, weights_too=False)

    def test_ridge_of_two_rows(self):
        self.compare(numpy.array([[1.0, 2.0], [3.0, -1.0]]), numpy.array([0.5, 2.25]), 0.1)

    def test_tall_logistic(self):
        x, score = oracle.draw(5, 400, 9)
        self.compare(x, (score > 0.3).astype(int), 1e-3)

    def test_wide_logistic(self):
        x, score = oracle.draw(6, 40, 120)
        self.compare(x, (score > 0).astype(int), 0.05)

    def test_logistic_of_collinear_and_constant_columns(self):
        x, score = oracle.draw(7, 90, 6)
        x[:, 3], x[:, 4] = 2 * x[:, 2], -3
        self.compare(x, (score > 0).astype(int), 0.01)

    def test_logistic_of_extremely_scaled_columns(self):
        x, score = oracle.draw(8, 100, 5)
        self.compare(x * [1, 1e12, 1e-12, 1e6, 1], (score > 0).astype(int), 1e-3, weights_too=False)

    def test_logistic_of_one_feature(self):
        x, score = oracle.draw(9, 50, 1)
        self.compare(x, (score > 0).astype(int), 0.02)

    def test_logistic_of_two_rows(self):
        self.compare(numpy.array([[1.0, 2.0], [3.0, -1.0]]), numpy.array([0, 1]), 0.1)

    def test_softmax(self):
        x, score = oracle.draw(10, 200, 6)
        self.compare(x, numpy.digitize(score, [-0.5, 0.7]), 0.01)

    def test_softmax_by_lbfgs(self):
        x, score = oracle.draw(11, 150, 6)
        self.compare(x, numpy.digitize(score, [-0.5, 0.7]), 0.05, options=["--solver", "lbfgs"])


if __name__ == "__main__":
    unittest.main()
