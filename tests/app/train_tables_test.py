#!/usr/bin/env python3
"""Networks on tables: numbers, two classes and more from files, resumed bit for bit, predicting from their folder."""
import csv
import json
import math
import os
import random
import shutil

from train_support import OPTIMIZERS, TrainCase, epochs_of, main, read_json, sum_of

SMALL = ["--threads", "1", "--model", "mlp-8-8"]


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


class TablesTest(TrainCase):
    def setUp(self):
        super().setUp()
        mix, rows = random.Random(7), []
        for number in range(160):
            area, town = mix.uniform(20, 200), mix.choice(["Bonn", "Köln", "Ulm"])
            age = "" if number % 20 == 7 else mix.randrange(90)
            price = 50000 + 3000 * area + {"Bonn": 1e5, "Köln": 2e5, "Ulm": 0}[town] + mix.gauss(0, 9000)
            rows.append([round(area, 2), town, age, round(price), "dear" if price > 450000 else "cheap",
                         ["low", "middle", "high"][min(2, int(price / 250000))]])
        self.header = ["area", "town", "age", "price", "kind", "class"]
        write_csv(self.path("houses.csv"), self.header, rows)
        self.rows = rows

    def houses(self, target):
        others = [name for name in ("price", "kind", "class") if name != target]
        return ["--data", "houses.csv", "--target", target, "--ignore", ",".join(others)]

    def test_all_kinds_of_targets_are_learned_and_predicted_from_the_folder(self):
        for target, family in [("price", "linear"), ("kind", "logistic"), ("class", "softmax")]:
            out, err = self.train("run", *self.houses(target), "--threads", "1", "--epochs", "80", "--holdout", "0.25",
                                  "--json")
            result = json.loads(out)
            table = read_json(self.path("run/table.json"))["table"]
            self.assertEqual(table["family"], family)
            if target == "price":
                self.assertGreater(result["test"]["r2"], 0.9, err)
                self.assertLess(result["test"]["rmse"], 60000)
                self.assertGreater(result["test"]["rmse"], 5000, "the noise can't be learned: these are not its units")
                # The record says the same in both units.
                last = epochs_of(self.path("run"))[-1]
                self.assertAlmostEqual(last["val_rmse"], math.sqrt(2 * last["val_loss"]) * result["target_deviation"])
                self.assertNotIn("accuracy", last)
            else:
                self.assertGreater(result["test"]["accuracy"], 0.8, err)
                self.assertIn("balanced_accuracy", result["test"])
            self.predict_as_evaluated(target, family)
            shutil.rmtree(self.path("run"))

    def predict_as_evaluated(self, target, family):
        """From a copy of the folder, beside no data: what predict says has the figures that evaluate says."""
        os.mkdir(self.path("elsewhere"))
        shutil.copytree(self.path("run"), self.path("elsewhere/copy"))
        os.rename(self.path("houses.csv"), self.path("new.csv"))
        out, _ = self.run_program("predict", "elsewhere/copy", "new.csv", "--threads", "1")
        predicted = [line for line in csv.reader(out.splitlines())][1:]
        truth = [row[self.header.index(target)] for row in self.rows]
        self.assertEqual(len(predicted), len(truth))
        figures = json.loads(self.run_program("evaluate", "elsewhere/copy", "new.csv", "--threads", "1", "--json")[0])
        if family == "linear":
            mean = sum(truth) / len(truth)
            squares = sum((float(p[0]) - y) ** 2 for p, y in zip(predicted, truth))
            self.assertAlmostEqual(figures["rmse"], math.sqrt(squares / len(truth)), delta=1e-6 * figures["rmse"])
            self.assertAlmostEqual(figures["r2"], 1 - squares / sum((y - mean) ** 2 for y in truth), places=9)
        else:
            right = sum(p[0] == y for p, y in zip(predicted, truth)) / len(truth)
            self.assertAlmostEqual(figures["accuracy"], right)
            shares = json.loads(self.run_program("predict", "elsewhere/copy", "new.csv", "--probabilities", "--json")[0])
            for row, guess in zip(shares["probabilities"], shares["predictions"]):
                self.assertAlmostEqual(sum(row), 1)
                self.assertEqual(shares["labels"][row.index(max(row))], guess)
        text, _ = self.run_program("evaluate", "elsewhere/copy", "new.csv")
        self.assertIn("RMSE" if family == "linear" else "ROC-AUC", text)
        os.rename(self.path("new.csv"), self.path("houses.csv"))
        shutil.rmtree(self.path("elsewhere"))

    def test_resumed_runs_have_the_bits_of_one(self):
        for target in ["price", "kind", "class"]:
            words = [*self.houses(target), *SMALL, "--optimizer", "adamo", "--holdout", "0.2"]
            self.train("whole", *words, "--epochs", "4")
            self.train("parts", *words, "--epochs", "2")
            self.resume("parts", "--epochs", "4")
            self.assertEqual(epochs_of(self.path("whole")), epochs_of(self.path("parts")), target)
            for name in ["weights.safetensors", "best.safetensors", "table.json"]:
                self.assertEqual(sum_of(self.path("whole/" + name)), sum_of(self.path("parts/" + name)), name)
            first, second = (read_json(self.path(name + "/summary.json")) for name in ("whole", "parts"))
            for key in ["best", "final", "test", "train_loss"]:
                self.assertEqual(first[key], second[key], key)
            for name in ("whole", "parts"):
                shutil.rmtree(self.path(name))

    def test_rows_that_changed_are_not_resumed(self):
        self.train("run", *self.houses("price"), *SMALL, "--epochs", "1")
        with open(self.path("houses.csv"), "a", encoding="utf-8") as file:
            file.write("100,Ulm,3,350000,cheap,middle\n")
        self.assertIn("these are not the rows", self.refusal(3, "train", "--resume", "run", "--epochs", "2", "-q"))

    def test_every_optimizer_and_policy(self):
        def one(name, *words):
            self.train(name, *self.houses("price"), *SMALL, "--epochs", "2", *words)
            for line in epochs_of(self.path(name)):
                self.assertTrue(math.isfinite(line["val_loss"]), name)

        calls = [lambda o=o, p=p: one(f"{o}-{p}", "--optimizer", o, "--policy", p,
                                      *(["--rate", "0.001"] if p == "baseline" else ["--first-rate", "0.01"]))
                 for o in OPTIMIZERS[:4] for p in ("adaptive", "fixed", "baseline")]
        calls.append(lambda: one("peer", "--optimizer", "amsgrad"))
        calls.append(lambda: one("pass", "--optimizer", "sgd", "--measure", "pass"))
        calls.append(lambda: one("grid", "--optimizer", "adam", "--policy", "grid", "--grid", "0.001,0.01",
                                 "--grid-epochs", "1"))
        self.in_parallel(calls)

    def test_the_constant_of_a_regression_is_that_of_the_formula(self):
        # One batch has all rows, so that the pass before the first step sees what can be computed by hand: with the
        # network of one layer at zero a = 0, and the penultimate activations are the features.
        words = ["--data", "houses.csv", "--target", "price", "--only", "area", "--model", "softmax", "--threads", "1",
                 "--epochs", "1", "--optimizer", "sgd", "--batch", "1000", "--measure", "pass", "--precision", "double"]
        self.train("one", *words)
        line = epochs_of(self.path("one"))[0]
        used = read_json(self.path("one/config.json"))["training_rows"]
        table = read_json(self.path("one/table.json"))
        self.assertEqual(table["table"]["features"], ["area"])
        # ||y|| = sqrt(m) of standardised numbers; K_a = 0; 1/m (K_a + ||y||) K_z.
        self.assertAlmostEqual(line["G"], math.sqrt(used) / used * line["K_z"], places=9)
        self.assertAlmostEqual(line["rate"], 1 / line["G"], places=12)

    def test_defaults_need_nothing_but_the_file(self):
        write_csv(self.path("plain.csv"), ["x", "y"], [[i / 50, math.sin(i / 8)] for i in range(200)])
        out, err = self.run_program("train", "--data", "plain.csv", "--threads", "1", "--epochs", "3")
        self.assertIn("best accuracy   R^2 ", out)
        self.assertIn("val. R^2", err)
        self.assertIn("rows/s", err)
        folder = "runs/plain.csv-mlp-64-64-auto-adaptive"
        config = read_json(self.path(folder + "/config.json"))
        self.assertEqual(config["options"]["batch"], 32)
        self.assertEqual(config["training_rows"], 180)

    def test_sparse_files_and_named_tables(self):
        with open(self.path("s.svm"), "w", encoding="utf-8") as file:
            for i in range(60):
                file.write(f"{1 if i % 2 else -1} {1 + i % 2}:1 {3 + i % 5}:0.5\n")
        self.train("sparse", "--data", "s.svm", *SMALL, "--epochs", "60")
        self.assertEqual(epochs_of(self.path("sparse"))[-1]["val_accuracy"], 1)
        self.assertEqual(self.run_program("predict", "sparse", "s.svm")[0].splitlines()[:3], ["prediction", "-1", "1"])
        self.train("iris", "--data", "iris", *SMALL, "--epochs", "2", "--holdout", "0.3")
        self.assertEqual(read_json(self.path("iris/summary.json"))["test"]["rows"], 45)
        self.train("tested", "--data", "iris", *SMALL, "--epochs", "2", "--holdout", "0.3", "--validation", "0")
        self.assertEqual(read_json(self.path("tested/summary.json"))["validated_on"], "the 45 test rows")

    def test_bad_tables_and_options(self):
        house = self.houses("price")
        write_csv(self.path("one.csv"), ["x", "y"], [[1, "a"], [2, "a"], [3, "a"]])
        write_csv(self.path("few.csv"), ["x", "y"], [[1, 2]])
        for code, words, text in [
                (3, ["--data", "nowhere.csv"], "nowhere.csv: there is no such file"),
                (2, ["--data", "houses.csv", "--target", "cost"], "cost"),
                (3, ["--data", "one.csv"], "every row has the same class"),
                (3, ["--data", "few.csv"], "nothing to learn from 1 row"),
                (3, [*house, "--missing", "error"], "houses.csv"),
                (2, [*house, "--task", "logistic"], "logistic regression needs two classes"),
                (2, ["--data", "houses.csv", "--target", "class", "--task", "linear"], "needs a numeric target"),
                (2, ["--data", "houses.csv", "--target", "class", "--task", "logistic"], "take softmax"),
                (2, [*house, "--task", "guess"], "--task guess"),
                (2, [*house, "--augment", "none"], "--augment is for images, and houses.csv is a table"),
                (2, [*house, "--padding", "symmetric"], "--padding is for images"),
                (2, [*house, "--protocol", "coded"], "--protocol coded"),
                (2, [*house, "--model", "resnet20-v1"], "resnet20-v1 is a network for images"),
                (2, [*house, "--bn-eps", "0.1"], "mlp-64-64 has no batch norm"),
                (2, [*house, "--validation", "0"], "no test rows"),
                (2, ["--data", "-"], "--data -"),
                (2, ["--data", "iris", "--target", "x"], "iris is a data set with a target of its own"),
                (2, ["--data", "../grey", "--target", "x"], "--target is for tables, and ../grey is a set of images"),
                (2, ["--data", "../grey", "--holdout", "0.1"], "--holdout is for tables"),
                (2, ["--data", "mnist", "--missing", "drop"], "--missing is for tables")]:
            self.assertIn(text, self.refusal(code, "train", *words, "--threads", "1", "-q"), words)
        self.assertEqual(sorted(os.listdir(self.folder)), ["few.csv", "houses.csv", "one.csv"])

    def test_folders_that_can_not_predict(self):
        self.train("images", "--data", "../grey", "--model", "mlp-8", "--epochs", "1", "--threads", "1")
        self.assertIn("is not a run on a table", self.refusal(3, "predict", "images", "houses.csv"))
        self.train("run", *self.houses("class"), *SMALL, "--epochs", "1")
        write_csv(self.path("clean.csv"), self.header, [row for row in self.rows if row[2] != ""])
        self.assertIn("--probabilities", self.run_program("predict", "--help")[0])
        table = read_json(self.path("run/table.json"))

        def damaged(change, text):
            other = json.loads(json.dumps(table))
            change(other)
            with open(self.path("run/table.json"), "w", encoding="utf-8") as file:
                json.dump(other, file)
            self.assertIn(text, self.refusal(3, "predict", "run", "clean.csv"))

        damaged(lambda t: t.update(format="x"), "is not the table of a network")
        damaged(lambda t: t.update(version=2), "version")
        damaged(lambda t: t.update(target_deviation=0), "units")
        damaged(lambda t: t["table"]["labels"].append("none"), "another network")
        damaged(lambda t: t["table"]["scaling"]["factors"].pop(), "factors")
        damaged(lambda t: t.pop("table"), "table")
        with open(self.path("run/table.json"), "w", encoding="utf-8") as file:
            json.dump(table, file)
        os.remove(self.path("run/best.safetensors"))
        self.assertIn("no weights yet", self.refusal(3, "predict", "run", "clean.csv"))


if __name__ == "__main__":
    main()
