#!/usr/bin/env python3
"""`fit`, `predict` and `evaluate` of raw tables, with no more than --target and --categorical, beside a pipeline of
scikit-learn. Exits with 77 (skipped) where scikit-learn or pandas is not installed. Usage: raw_tables_test.py PROGRAM"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy
    import pandas
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
except ImportError:
    print("scikit-learn or pandas is not there; on Debian: apt-get install python3-sklearn python3-pandas")
    sys.exit(77)

import raw_tables

PROGRAM = sys.argv.pop(1)
TOLERANCE = 0.005  # of the area under the curve


def pipeline(train, target):
    numbers = [c for c in train if train[c].dtype.kind in "if" and c != target]
    texts = [c for c in train if train[c].dtype.kind == "O" and c != target]
    steps = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        ("texts", make_pipeline(SimpleImputer(strategy="constant", fill_value="(missing)"),
                                OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=101)), texts)])
    model = make_pipeline(steps, LogisticRegressionCV(Cs=15, cv=5, scoring="neg_log_loss", max_iter=2000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train, train[target])


class RawTables(unittest.TestCase):
    def run_program(self, *words, **options):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def compare(self, make, options, read, target, positive, train_rows=4000, test_rows=4000):
        with tempfile.TemporaryDirectory() as folder:
            train, test, model = (pathlib.Path(folder, name) for name in ("train.csv", "test.csv", "model.json"))
            train.write_text(make(1, train_rows), newline="")
            test.write_text(make(2, test_rows), newline="")
            fitted = self.run_program("fit", train, "--quiet", "-o", model, *options)
            predicted = self.run_program("predict", model, test, "--probabilities").stdout
            evaluated = json.loads(self.run_program("evaluate", model, test, "--json").stdout)
            inspected = self.run_program("inspect", model, "--top", 1000).stdout
            ours, theirs = read(train), read(test)
        truth = (theirs[target].astype(str) == positive).to_numpy()
        rows = list(csv.DictReader(io.StringIO(predicted)))
        area = roc_auc_score(truth, [float(row[f"p({positive})"]) for row in rows])
        peer = pipeline(ours, target)
        place = [str(c) for c in peer.classes_].index(positive)
        expected = roc_auc_score(truth, peer.predict_proba(theirs)[:, place])
        print(f"{make.__name__}: ROC-AUC {area:.4f}, scikit-learn {expected:.4f}")
        self.assertGreater(expected, 0.7)
        self.assertGreater(area, expected - TOLERANCE)
        self.assertAlmostEqual(evaluated["auc"], area, places=9)
        return fitted.stderr, inspected, area

    def test_census(self):
        names = [f"x{i}" for i in range(1, 11)] + ["income"]
        said, shown, _ = self.compare(
            raw_tables.census, [], lambda path: pandas.read_csv(path, names=names, skipinitialspace=True, na_values="?"),
            "income", ">50K")
        self.assertIn('gaps are a level of their own: "x2"', said)
        self.assertIn("x4=Bachelors", shown)

    def test_passengers(self):
        def read(path):
            return pandas.read_csv(path).drop(columns="Name")
        said, shown, _ = self.compare(raw_tables.passengers, ["--target", "Survived"], read, "Survived", "1",
                                      train_rows=900, test_rows=4000)
        self.assertIn('left out as an id, because every row has another text: "Name"', said)
        self.assertIn('gaps are filled with the mean and marked by a feature of their own: "Age"', said)
        self.assertIn("Age (missing)", shown)
        self.assertIn("Ticket (other)", shown)

    def test_marketing(self):
        def read(path):
            table = pandas.read_csv(path, sep=";", decimal=",", dtype={"zip": str})
            called = pandas.to_datetime(table.pop("called"))
            table["day"] = (called - pandas.Timestamp("1970-01-01")).dt.days
            table["month"], table["weekday"] = called.dt.month.astype(str), called.dt.dayofweek.astype(str)
            return table
        said, shown, _ = self.compare(raw_tables.marketing, ["--categorical", "zip"], read, "y", "yes")
        self.assertEqual(said, "")
        for name in ("zip=03003", "called (month 7)", "called (weekday 1)", "euribor3m", "housing"):
            self.assertIn(name, shown)


if __name__ == "__main__":
    unittest.main()
