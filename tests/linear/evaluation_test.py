#!/usr/bin/env python3
"""The figures of `evaluate` and `fit --holdout` beside those of scikit-learn for the same predictions. Exits with 77
(skipped) where scikit-learn is not installed. Usage: evaluation_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy
    from sklearn import metrics
    from sklearn.calibration import calibration_curve
except ImportError:
    print("scikit-learn is not there; on Debian: apt-get install python3-sklearn")
    sys.exit(77)

import oracle

PROGRAM = sys.argv.pop(1)


def run(*words):
    command = [PROGRAM, *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def table_of_classes(seed, rows, classes, tied=False):
    """Classes that overlap; with ties the features are whole numbers, so that many rows have the same scores."""
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((rows, 3))
    if tied:
        x = numpy.round(x)
    scores = x @ random.standard_normal((3, classes)) + random.gumbel(size=(rows, classes))
    return x, scores.argmax(axis=1)


class Evaluation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        warnings.simplefilter("ignore")  # of classes without rows

    def evaluated(self, x, y, x_test, y_test, *options):
        """What evaluate says of a model's predictions for other rows, and these predictions."""
        train, test, model = (self.folder / name for name in ("train.csv", "test.csv", "model.json"))
        oracle.write_table(train, x, y)
        oracle.write_table(test, x_test, y_test)
        run("fit", train, "--l2", "0.01", "-q", "-o", model, *options)
        predicted = json.loads(run("predict", model, test, "--json", *([] if oracle.is_number(y) else ["--probabilities"])))
        return json.loads(run("evaluate", model, test, "--json")), predicted

    def same(self, ours, theirs):
        self.assertLess(abs(ours - theirs), 1e-12 * max(1, abs(theirs)))

    def check_classes(self, ours, y, p, weights=None):
        """y: numbers of the classes; p: their probabilities."""
        classes, guess, count = p.shape[1], p.argmax(axis=1), numpy.ones(len(y)) if weights is None else weights
        present = numpy.unique(y)
        self.same(ours["accuracy"], metrics.accuracy_score(y, guess, sample_weight=weights))
        self.same(ours["balanced_accuracy"], metrics.balanced_accuracy_score(y, guess, sample_weight=weights))
        self.same(ours["log_loss"], metrics.log_loss(y, p, labels=range(classes), sample_weight=weights))
        confusion = metrics.confusion_matrix(y, guess, labels=range(classes), sample_weight=weights)
        self.assertLess(numpy.abs(numpy.array(ours["confusion"]) - confusion).max(), 1e-12 * count.sum())
        for kind in ("macro", "weighted"):
            theirs = metrics.precision_recall_fscore_support(y, guess, average=kind, zero_division=0, sample_weight=weights)
            for name, value in zip(("precision", "recall", "f1"), theirs):
                self.same(ours[kind][name], value)
        per_class = metrics.precision_recall_fscore_support(
            y, guess, labels=range(classes), zero_division=0, sample_weight=weights)
        aucs, precisions = [], []
        for c, figures in enumerate(ours["classes"]):
            for name, values in zip(("precision", "recall", "f1", "rows"), per_class):
                self.same(figures[name], values[c])
            if c not in present or len(present) == 1:
                self.assertIsNone(figures["auc"])
                self.assertIsNone(figures["average_precision"])
                continue
            aucs.append(metrics.roc_auc_score(y == c, p[:, c], sample_weight=weights))
            precisions.append(metrics.average_precision_score(y == c, p[:, c], sample_weight=weights))
            self.same(figures["auc"], aucs[-1])
            self.same(figures["average_precision"], precisions[-1])
        if not aucs:
            self.assertIsNone(ours["auc"])
            self.assertIsNone(ours["average_precision"])
            self.assertEqual(ours["roc"], [])
        elif classes == 2:
            self.same(ours["auc"], aucs[1])
            self.same(ours["average_precision"], precisions[1])
        else:
            self.same(ours["auc"], numpy.mean(aucs))
            self.same(ours["average_precision"], numpy.mean(precisions))
            if len(present) == classes:
                self.same(ours["auc"], metrics.roc_auc_score(y, p, multi_class="ovr", sample_weight=weights))
        if classes == 2:
            self.same(ours["brier"], metrics.brier_score_loss(y, p[:, 1], sample_weight=weights, pos_label=1))
        else:
            squares = ((p - numpy.eye(classes)[y]) ** 2).sum(axis=1)
            self.same(ours["brier"], numpy.average(squares, weights=weights))
        self.check_calibration(ours, y, p, count)
        self.check_roc(ours, y, p, weights)

    def check_calibration(self, ours, y, p, weights):
        named = numpy.ones(len(y), int) if p.shape[1] == 2 else p.argmax(axis=1)
        share, right = p[numpy.arange(len(y)), named], (y == named).astype(float)
        bins = [bin for bin in ours["calibration"] if bin["rows"]]
        if numpy.all(weights == 1) and len(set(right)) == 2:
            observed, predicted = calibration_curve(right, share, n_bins=10)
            self.assertEqual(len(bins), len(observed))
            for bin, frequency, mean in zip(bins, observed, predicted):
                self.same(bin["observed"], frequency)
                self.same(bin["predicted"], mean)
        number = numpy.searchsorted(numpy.linspace(0, 1, 11)[1:-1], share)
        gap = 0
        for i, bin in enumerate(ours["calibration"]):
            inside = number == i
            self.same(bin["rows"], weights[inside].sum())
            gap += abs((weights * (share - right))[inside].sum()) / weights.sum()
        self.same(ours["calibration_error"], gap)

    def check_roc(self, ours, y, p, weights):
        """Our points are some of scikit-learn's, from end to end."""
        for curve in ours["roc"]:
            c = ours["labels"].index(curve["label"])
            x, up, _ = metrics.roc_curve(y == c, p[:, c], drop_intermediate=False, sample_weight=weights)
            points = numpy.column_stack([curve["false_positive"], curve["true_positive"]])
            self.assertLessEqual(len(points), 200)
            self.assertEqual((points[0].tolist(), points[-1].tolist()), ([0, 0], [1, 1]))
            for point in points:
                self.assertLess(numpy.abs(numpy.column_stack([x, up]) - point).sum(axis=1).min(), 1e-12)

    def test_two_to_twelve_classes_with_and_without_ties(self):
        for classes, tied, *options in [(2, False), (2, True), (2, False, "--model", "softmax"), (3, True), (5, False),
                                        (12, True)]:
            with self.subTest(classes=classes, tied=tied, options=options):
                x, y = table_of_classes(classes, 900, classes, tied)
                ours, predicted = self.evaluated(x[:600], y[:600], x[600:], y[600:], *options)
                self.check_classes(ours, self.numbers(ours, y[600:]), numpy.array(predicted["probabilities"]))

    @staticmethod
    def numbers(ours, y):
        return numpy.array([ours["labels"].index(f"class{label}") for label in y])

    def test_a_class_without_rows_and_a_single_class(self):
        for classes, kept in [(4, [0, 2, 3]), (3, [1]), (2, [1])]:
            with self.subTest(classes=classes, kept=kept):
                x, y = table_of_classes(7, 500, classes, True)
                chosen = numpy.isin(y, kept) & (numpy.arange(500) >= 300)
                ours, predicted = self.evaluated(x[:300], y[:300], x[chosen], y[chosen])
                self.check_classes(ours, self.numbers(ours, y[chosen]), numpy.array(predicted["probabilities"]))
                self.assertEqual(len(ours["remarks"]), 1)

    def test_numbers(self):
        x, y = oracle.draw(3, 501, 4)
        ours, predicted = self.evaluated(x[:200], y[:200], x[200:], y[200:])
        self.check_numbers(ours, y[200:], numpy.array(predicted["predictions"]))

    def check_numbers(self, ours, y, guess, weights=None):
        self.same(ours["rmse"], metrics.mean_squared_error(y, guess, squared=False, sample_weight=weights))
        self.same(ours["mae"], metrics.mean_absolute_error(y, guess, sample_weight=weights))
        self.same(ours["r2"], metrics.r2_score(y, guess, sample_weight=weights))
        self.same(ours["largest_error"], numpy.abs(guess - y)[slice(None) if weights is None else weights > 0].max())
        count = numpy.ones(len(y), int) if weights is None else weights
        errors = numpy.repeat(guess - y, count)
        for share, value in ours["error_quantiles"].items():
            self.same(value, numpy.quantile(errors, float(share), method="inverted_cdf"))
        histogram = ours["error_histogram"]
        self.assertEqual(sum(histogram["rows"]), len(errors))
        edges = histogram["first"] + histogram["width"] * numpy.arange(1, len(histogram["rows"]))
        inside = numpy.bincount(numpy.searchsorted(edges, errors), minlength=len(histogram["rows"]))
        self.assertLessEqual(numpy.abs(inside - histogram["rows"]).sum(), 2)  # an error on an edge, to rounding

    def test_holdout_with_weights(self):
        for classes in (0, 2, 3):
            with self.subTest(classes=classes):
                x, y = table_of_classes(11, 45, classes) if classes else oracle.draw(12, 45, 3)
                # Which rows are held out depends on their classes alone: powers of two as weights, added up, tell.
                everything = self.fitted(x, y, 2.0 ** numpy.arange(45))
                total = sum(figures["rows"] for figures in everything["classes"]) if classes else sum(
                    everything["error_histogram"]["rows"])
                held = numpy.array([i for i in range(45) if int(total) >> i & 1])
                self.assertEqual(len(held), everything["rows"])
                weights = numpy.random.default_rng(5).integers(0, 4, 45)
                ours = self.fitted(x, y, weights)
                oracle.write_table(self.folder / "rows.csv", x[held], y[held])
                words = ["predict", self.folder / "model.json", self.folder / "rows.csv", "--json"]
                predicted = json.loads(run(*words, *["--probabilities"] * (classes > 0)))
                if classes:
                    p = numpy.array(predicted["probabilities"])
                    self.check_classes(ours, self.numbers(ours, y[held]), p, weights[held].astype(float))
                else:
                    self.check_numbers(ours, y[held], numpy.array(predicted["predictions"]), weights[held])

    def fitted(self, x, y, weights):
        oracle.write_table(self.folder / "all.csv", numpy.column_stack([x, weights]), y)
        words = ["--l2", "0.1", "--weight", "x3", "--holdout", "0.4", "--json", "-o", self.folder / "model.json"]
        return json.loads(run("fit", self.folder / "all.csv", *words))["test"]


if __name__ == "__main__":
    unittest.main()
