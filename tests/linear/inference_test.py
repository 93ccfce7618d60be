#!/usr/bin/env python3
"""What `inspect` says of coefficients beside statsmodels' OLS, Logit and MNLogit. Exits with 77 (skipped) where
statsmodels is not installed. Usage: inference_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import statsmodels.api
except ImportError:
    print("statsmodels is not there; on Debian: apt-get install python3-statsmodels")
    sys.exit(77)

import oracle

PROGRAM = sys.argv.pop(1)
SPREAD = [1, 0.1, 25]  # the features have different units,
SHIFT = [0, 2, -60]  # ... and means


def run(*words):
    command = [PROGRAM, *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def draw(seed, classes):
    """Features, and a target that depends on them loosely: numbers, or so many classes."""
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((300, 3))
    scores = x @ random.standard_normal((3, max(classes, 1)))
    if classes == 0:
        return x * SPREAD + SHIFT, 3 + scores[:, 0] + random.standard_normal(300)
    return x * SPREAD + SHIFT, (scores + random.gumbel(size=scores.shape)).argmax(axis=1)


class Inference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def inspected(self, x, y, *options):
        table, model = self.folder / "table.csv", self.folder / "model.json"
        oracle.write_table(table, x, y)
        run("fit", table, "-q", "-o", model, *options)
        return json.loads(run("inspect", model, "--json"))

    def compare(self, ours, theirs, label=None):
        """theirs: statsmodels' arrays with the intercept first, then the features in their order."""
        self.assertIsNone(ours["no_standard_errors"])
        of_class = lambda list: [one for one in list if label is None or one["class"] == label]
        features = {one["name"]: one for one in of_class(ours["coefficients"])}
        all_ours = of_class(ours["intercepts"]) + [features[f"x{j}"] for j in range(len(features))]
        values, errors, statistics, ps, intervals = theirs
        self.assertEqual(len(all_ours), len(values))
        for i, one in enumerate(all_ours):
            near = lambda mine, other: self.assertLess(abs(mine - other), 1e-8 * max(abs(other), errors[i]), (i, one))
            near(one["coefficient"], values[i])
            self.assertLess(abs(one["standard_error"] / errors[i] - 1), 1e-8)
            self.assertLess(abs(one["statistic"] - statistics[i]), 1e-8 * max(1, abs(statistics[i])))
            self.assertLess(abs(one["p"] - ps[i]), 1e-8)
            near(one["low"], intervals[i][0])
            near(one["high"], intervals[i][1])

    @staticmethod
    def parts(result):
        return result.params, result.bse, result.tvalues, result.pvalues, result.conf_int()

    def test_least_squares(self):
        x, y = draw(1, 0)
        for options, rows in [((), 300), (("--scale", "none"), 300), ((), 6)]:
            result = statsmodels.api.OLS(y[:rows], statsmodels.api.add_constant(x[:rows])).fit()
            ours = self.inspected(x[:rows], y[:rows], "--l2", "0", *options)
            self.assertEqual(ours["degrees_of_freedom"], rows - 4)
            self.compare(ours, self.parts(result))

    def test_two_classes(self):
        x, y = draw(2, 2)
        result = statsmodels.api.Logit(y, statsmodels.api.add_constant(x)).fit(disp=0, tol=1e-14, method="newton")
        for options in ((), ("--solver", "lbfgs"), ("--scale", "minmax")):
            self.compare(self.inspected(x, y, "--l2", "0", *options), self.parts(result))

    def test_four_classes_against_the_first(self):
        x, y = draw(3, 4)
        result = statsmodels.api.MNLogit(y, statsmodels.api.add_constant(x)).fit(disp=0, tol=1e-14, method="newton")
        ours = self.inspected(x, y, "--l2", "0")
        intervals = result.conf_int().reshape(3, 4, 2)
        for c in range(3):
            theirs = (result.params[:, c], result.bse[:, c], result.tvalues[:, c], result.pvalues[:, c], intervals[c])
            self.compare(ours, theirs, f"class{c + 1}")

    def test_row_weights_count_as_repeated_rows(self):
        for classes in (0, 2):
            x, y = draw(4, classes)
            count = numpy.random.default_rng(5).integers(0, 4, len(y))
            repeated = statsmodels.api.add_constant(numpy.repeat(x, count, axis=0)), numpy.repeat(y, count)
            if classes:
                result = statsmodels.api.Logit(repeated[1], repeated[0]).fit(disp=0, tol=1e-14, method="newton")
            else:
                result = statsmodels.api.OLS(repeated[1], repeated[0]).fit()
            ours = self.inspected(numpy.column_stack([x, count]), y, "--l2", "0", "--weight", "x3")
            self.compare(ours, self.parts(result))

    def test_a_constant_column_has_none_and_the_others_theirs(self):
        x, y = draw(6, 2)
        result = statsmodels.api.Logit(y, statsmodels.api.add_constant(x)).fit(disp=0, tol=1e-14, method="newton")
        ours = self.inspected(numpy.column_stack([x, numpy.full(300, 7.0)]), y, "--l2", "0")
        constant, = [one for one in ours["coefficients"] if one["name"] == "x3"]
        self.assertEqual((constant["coefficient"], constant["standard_error"]), (0, None))
        ours["coefficients"].remove(constant)
        self.compare(ours, self.parts(result))

    def test_where_they_are_not_valid_it_says_why(self):
        x, y = draw(7, 2)
        certain = numpy.column_stack([x, (y == 1) & (x[:, 0] > 0)])  # tells the class of some rows for certain
        separable = numpy.column_stack([x, y])
        collinear = numpy.column_stack([x, x[:, 0] + x[:, 1]])
        for rows, options, reason in [(x, (), "penalty"), (certain, ("--l2", "0"), "for certain"),
                                      (separable, ("--l2", "0"), "without a mistake"),
                                      (collinear, ("--l2", "0"), "follow from others"),
                                      (x, ("--l2", "0", "--class-weight", "balanced"), "--class-weight"),
                                      (x, ("--l2", "0", "--single"), "--single"),
                                      (x, ("--l2", "0", "--solver", "gd"), "proves no optimum"),
                                      (x, ("--l2", "0", "--epochs", "1"), "before the optimum")]:
            with self.subTest(reason=reason):
                ours = self.inspected(rows, y, *options)
                self.assertIn(reason, ours["no_standard_errors"])
                self.assertIsNone(ours["coefficients"][0]["standard_error"])
        x, y = draw(8, 0)
        self.assertIn("4 rows leave nothing", self.inspected(x[:4], y[:4], "--l2", "0")["no_standard_errors"])

    def test_a_rare_level_of_one_class_has_no_optimum(self):
        random = numpy.random.default_rng(10)
        rare = (numpy.arange(1000) < 3).astype(float)
        y = numpy.where(rare == 1, 1, random.integers(0, 2, 1000))
        ours = self.inspected(numpy.column_stack([random.standard_normal(1000), rare]), y, "--l2", "0")
        self.assertIn("for certain", ours["no_standard_errors"])

    def test_targets_and_features_of_extreme_size(self):
        x, y = draw(11, 0)
        for unit in (1e-12, 1e12):
            result = statsmodels.api.OLS(y * unit, statsmodels.api.add_constant(x)).fit()
            self.compare(self.inspected(x, y * unit, "--l2", "0"), self.parts(result))
        x[7, 0] = 1e155
        self.assertIsNone(self.inspected(x, y, "--l2", "0")["no_standard_errors"])

    def test_effects_are_coefficients_times_deviations_and_sort(self):
        x, y = draw(9, 0)
        ours = self.inspected(x, y)
        effects = [abs(one["effect"]) for one in ours["coefficients"]]
        self.assertEqual(effects, sorted(effects, reverse=True))
        for one in ours["coefficients"]:
            deviation = x[:, int(one["name"][1:])].std()
            self.assertLess(abs(one["effect"] / (one["coefficient"] * deviation) - 1), 1e-9)


if __name__ == "__main__":
    unittest.main()
