#!/usr/bin/env python3
"""Networks on tables beside scikit-learn's, each with nothing set: the same rows, three seeds.

    experiments/tables/compare.py PROGRAM [SET ...]     # PROGRAM: lipschitzlr, with the sets in its cache

A quarter of the rows, chosen by the seed, is the test set of both. Ours: `train --data train.csv --target y --seed SEED`,
then `evaluate FOLDER test.csv`. scikit-learn's MLPRegressor and MLPClassifier have standardised features, as its manual
asks for; MLPRegressor is also run with the target standardised, as ours does by itself. One thread each.
Appends to results.jsonl, copies the records into runs/, and prints the table of docs/networks.md. Needs scikit-learn
(/usr/bin/python3 on Debian).
"""
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = (1, 2, 3)
COVERTYPE_ROWS = 40000  # of 92962: scikit-learn takes many minutes for all


def table(program, name):
    """Features, target and whether it has classes."""
    if name == "breast-cancer":
        path = os.path.join(HERE, "../../data/breast-cancer.csv")
        with open(path, encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        return np.array([row[:-1] for row in rows], float), np.array([row[-1] for row in rows]), True
    path = subprocess.run([program, "data", "path", name], check=True, capture_output=True, text=True).stdout.split()[0]
    rows = np.loadtxt(path, delimiter=",", skiprows=0 if name == "california" else 1)
    if name == "energy":
        return rows[:, :8], rows[:, 8], False
    if name == "california":  # scikit-learn's eight features
        longitude, latitude, age, rooms, bedrooms, people, homes, income, value = rows.T
        features = [income, age, rooms / homes, bedrooms / homes, people, people / homes, latitude, longitude]
        return np.column_stack(features), value / 1e5, False
    chosen = np.random.default_rng(0).permutation(len(rows))[:COVERTYPE_ROWS]
    return rows[chosen, :-1], np.array([str(int(label)) for label in rows[chosen, -1]]), True


def write(path, features, target):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{i + 1}" for i in range(features.shape[1])] + ["y"])
        for row, value in zip(features.tolist(), target.tolist()):
            writer.writerow([*row, value])


def ours(program, name, seed, train, test, classes):
    with tempfile.TemporaryDirectory() as scratch:
        write(scratch + "/train.csv", *train)
        write(scratch + "/test.csv", *test)
        task = ["--task", "softmax" if len(set(train[1])) > 2 else "logistic"] if classes else ["--task", "linear"]
        begin = time.monotonic()
        subprocess.run([program, "train", "--data", "train.csv", "--target", "y", *task, "--seed", str(seed), "-o", "run",
                        "--log-steps", "0", "--threads", "1", "-q"], cwd=scratch, check=True, capture_output=True)
        seconds = time.monotonic() - begin
        figures = json.loads(subprocess.run([program, "evaluate", "run", "test.csv", "--json", "--threads", "1"],
                                            cwd=scratch, check=True, capture_output=True, text=True).stdout)
        kept = os.path.join(HERE, "runs", f"{name}-{seed}")
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)
        for file in ("config.json", "metrics.jsonl", "summary.json"):
            shutil.copy(f"{scratch}/run/{file}", kept)
    result = {"accuracy": figures["accuracy"], "log_loss": figures["loss"]} if classes else {"r2": figures["r2"]}
    return {**result, "seconds": seconds}


def theirs(model, train, test, classes):
    begin = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(*train)
    seconds = time.monotonic() - begin
    predicted = model.predict(test[0])
    if not classes:
        return {"r2": r2_score(test[1], predicted), "seconds": seconds}
    return {"accuracy": accuracy_score(test[1], predicted), "seconds": seconds,
            "log_loss": log_loss(test[1], model.predict_proba(test[0]), labels=model.classes_)}


def compare(program, name, keep):
    features, target, classes = table(program, name)
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(target))
        parts = order[len(order) // 4:], order[:len(order) // 4]
        train, test = ((features[part], target[part]) for part in parts)
        results = {"lipschitzlr train": ours(program, name, seed, train, test, classes)}
        kind = MLPClassifier if classes else MLPRegressor
        results[kind.__name__] = theirs(make_pipeline(StandardScaler(), kind(random_state=seed)), train, test, classes)
        if not classes:
            scaled = TransformedTargetRegressor(MLPRegressor(random_state=seed), transformer=StandardScaler())
            results["MLPRegressor, target standardised"] = theirs(make_pipeline(StandardScaler(), scaled), train, test,
                                                                  classes)
        for method, result in results.items():
            keep({"data": name, "seed": seed, "rows": len(parts[0]), "method": method, **result})


def show(lines):
    print("| data, training rows | method | test R^2 or accuracy: mean (least, most) | log loss | seconds |")
    print("|---|---|---|---|---|")
    groups = {}
    for line in lines:
        groups.setdefault((line["data"], line["rows"], line["method"]), []).append(line)
    for (name, rows, method), runs in groups.items():
        r2 = "r2" in runs[0]
        values = [run["r2"] if r2 else 100 * run["accuracy"] for run in runs]
        text = (lambda v: f"{v:.4f}") if r2 else (lambda v: f"{v:.2f} %")
        loss = "" if r2 else f"{statistics.mean(run['log_loss'] for run in runs):.4f}"
        print(f"| {name}, {rows} | {method} | {text(statistics.mean(values))} ({text(min(values))}, {text(max(values))}) | "
              f"{loss} | {statistics.mean(run['seconds'] for run in runs):.1f} |")


def main():
    program, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or ["california", "energy", "breast-cancer", "covertype"]
    path = os.path.join(HERE, "results.jsonl")
    lines = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            lines = [line for line in map(json.loads, file) if line["data"] not in names]

    def keep(line):
        lines.append(line)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in lines)

    for name in names:
        compare(program, name, keep)
    show(lines)


if __name__ == "__main__":
    main()
