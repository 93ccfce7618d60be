#!/usr/bin/env python3
"""Lasso and elastic net of `fit` beside scikit-learn (coordinate descent, SAGA), liblinear (scikit-learn's) and, where
R has it, glmnet, on the same objective. Exits with 77 (skipped) where scikit-learn is not installed.
Usage: lasso_test.py PROGRAM"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy
    from sklearn.linear_model import ElasticNet, LogisticRegression
except ImportError:
    print("scikit-learn is not there; on Debian: apt-get install python3-sklearn")
    sys.exit(77)

import oracle

PROGRAM = sys.argv.pop(1)

GLMNET = """
suppressMessages(library(glmnet))
x <- as.matrix(read.csv("x.csv", header = FALSE))
y <- scan("y.csv", quiet = TRUE)
fit <- glmnet(x, y, family = "FAMILY", alpha = ALPHA, lambda = LAMBDA * 4:1, standardize = FALSE,
              intercept = INTERCEPT, thresh = 1e-22, maxit = 1e7)
found <- coef(fit, s = LAMBDA)
if (!is.list(found)) found <- list(found)
write.table(sapply(found, as.vector), "w.csv", row.names = FALSE, col.names = FALSE)
"""


def has_glmnet():
    found = shutil.which("Rscript")
    return found and subprocess.run([found, "-e", "library(glmnet)"], capture_output=True).returncode == 0


def by_glmnet(x, y, share, strength, intercept):
    """Weights and intercepts."""
    family = "gaussian" if oracle.is_number(y) else "binomial" if y.max() == 1 else "multinomial"
    script = GLMNET.replace("FAMILY", family).replace("ALPHA", repr(share)).replace("LAMBDA", repr(strength))
    with tempfile.TemporaryDirectory() as folder:
        numpy.savetxt(pathlib.Path(folder, "x.csv"), x, delimiter=",", fmt="%.17g")
        numpy.savetxt(pathlib.Path(folder, "y.csv"), y, fmt="%.17g")
        script = script.replace("INTERCEPT", "TRUE" if intercept else "FALSE")
        subprocess.run(["Rscript", "-e", script], cwd=folder, check=True, capture_output=True)
        found = numpy.atleast_2d(numpy.loadtxt(pathlib.Path(folder, "w.csv")).T)
    return found[:, 1:], found[:, 0]


def by_sklearn(x, y, share, strength, intercept):
    if oracle.is_number(y):
        model = ElasticNet(alpha=strength, l1_ratio=share, fit_intercept=intercept, tol=1e-16, max_iter=1000000)
    elif not intercept and share == 1:  # liblinear penalises an intercept
        model = LogisticRegression(penalty="l1", C=1 / (strength * len(y)), solver="liblinear", fit_intercept=False,
                                   tol=1e-14, max_iter=2000, random_state=1)
    else:
        model = LogisticRegression(penalty="elasticnet", l1_ratio=share, C=1 / (strength * len(y)), solver="saga",
                                   fit_intercept=intercept, tol=1e-14, max_iter=20000, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may say that rounding stopped it
        model.fit(x, y)
    return numpy.atleast_2d(model.coef_), numpy.atleast_1d(model.intercept_)


class Agreement(unittest.TestCase):
    glmnet = has_glmnet()

    def compare(self, x, y, share, strength, intercept=True, glmnet=True):
        parts = strength * (1 - share), strength * share
        options = ["--elastic-net", share, "--lambda", strength] + ([] if intercept else ["--no-intercept"])
        ours = oracle.fit(PROGRAM, x, y, *options)
        oracles = [by_sklearn] + ([by_glmnet] if glmnet and self.glmnet else [])
        for other in oracles:
            with self.subTest(oracle=other.__name__):
                weights, intercepts = other(x, y, share, strength, intercept)
                reference = oracle.loss(x, y, weights, intercepts, *parts)
                self.assertLessEqual(oracle.loss(x, y, *ours, *parts), reference * (1 + 1e-10))
                self.assertLess(numpy.abs(ours[0] - weights).max(), 1e-6 * numpy.abs(weights).max())
                ours_centred, theirs = ours[1], intercepts
                if len(weights) > 1:  # the same number in all outputs changes nothing
                    ours_centred, theirs = ours[1] - ours[1].mean(), intercepts - intercepts.mean()
                self.assertLess(numpy.abs(ours_centred - theirs).max(), 1e-6 * (1 + numpy.abs(theirs).max()))
        self.assertTrue((numpy.abs(ours[0]) > 0).any(), "the penalty leaves no weight to compare")

    def test_tall_lasso(self):
        x, score = oracle.draw(21, 300, 8)
        self.compare(x + 5, score, 1.0, 0.05)

    def test_wide_lasso(self):
        x, score = oracle.draw(22, 30, 90)
        self.compare(x, score, 1.0, 0.1)

    def test_elastic_net_of_equal_and_constant_columns(self):
        x, score = oracle.draw(23, 80, 6)
        x[:, 3], x[:, 4] = x[:, 2], 7
        # glmnet divides the target by its deviation and the L2 part with it: at a deviation of 1 that is no difference.
        self.compare(x, score / score.std(), 0.4, 0.1)

    def test_lasso_of_collinear_columns(self):
        x, score = oracle.draw(24, 100, 5)
        x[:, 2] = x[:, 0] + x[:, 1]
        self.compare(x, score, 1.0, 0.02)

    def test_lasso_of_two_rows(self):
        self.compare(numpy.array([[1.0, 2.0], [3.0, -1.0]]), numpy.array([0.5, 2.25]), 1.0, 0.1)

    def test_lasso_of_one_feature(self):
        x, score = oracle.draw(25, 50, 1)
        # glmnet wants two columns or more.
        self.compare(x, score, 1.0, 0.1, glmnet=False)

    def test_tall_logistic(self):
        x, score = oracle.draw(26, 400, 9)
        self.compare(x, (score > 0.3).astype(int), 1.0, 0.01)

    def test_wide_logistic_by_liblinear(self):
        x, score = oracle.draw(27, 40, 120)
        self.compare(x, (score > 0).astype(int), 1.0, 0.05, intercept=False)

    def test_logistic_elastic_net_of_collinear_columns(self):
        x, score = oracle.draw(28, 120, 6)
        x[:, 3], x[:, 4] = 2 * x[:, 2], x[:, 0] - x[:, 1]
        self.compare(x, (score > 0).astype(int), 0.5, 0.05)

    def test_logistic_of_two_rows_by_liblinear(self):
        self.compare(numpy.array([[1.0, 2.0], [3.0, -1.0]]), numpy.array([0, 1]), 1.0, 0.1, intercept=False,
                     glmnet=False)  # which wants two rows of a class

    def test_logistic_of_one_feature_by_liblinear(self):
        x, score = oracle.draw(29, 50, 1)
        self.compare(x, (score > 0).astype(int), 1.0, 0.02, intercept=False, glmnet=False)

    def test_softmax_elastic_net(self):
        x, score = oracle.draw(30, 200, 6)
        self.compare(x, numpy.digitize(score, [-0.5, 0.7]), 0.7, 0.02)


if __name__ == "__main__":
    if not Agreement.glmnet:
        print("glmnet is not there and is left out; on Debian: apt-get install r-cran-glmnet")
    unittest.main()
