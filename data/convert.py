#!/usr/bin/env python3
"""Makes the embedded data sets from scikit-learn's files: convert.py SKLEARN_DATA_FOLDER

The folder is sklearn/datasets/data of Debian's python3-sklearn. Numbers keep their text; headers, class names and
plain commas are added, the target stands last.
"""
import csv
import gzip
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
IRIS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
WINE = ["alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
        "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280_od315", "proline"]
CELL = ["radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave_points",
        "symmetry", "fractal_dimension"]
BREAST = [f"{kind}_{name}" for kind in ("mean", "error", "worst") for name in CELL]
DIABETES = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
DIGITS = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]


def rows(path, delimiter=","):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def write(name, header, table):
    assert all(len(row) == len(header) for row in table), name
    with open(os.path.join(HERE, name), "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header] + table)


def named(table, names):
    return [row[:-1] + [names[int(row[-1])]] for row in table]


def main(folder):
    def source(name, **options):
        return rows(os.path.join(folder, name), **options)

    for name, file, features, target in [("iris", "iris.csv", IRIS, "species"),
                                         ("breast-cancer", "breast_cancer.csv", BREAST, "diagnosis"),
                                         ("wine", "wine_data.csv", WINE, "cultivar")]:
        first, *table = source(file)
        write(f"{name}.csv", features + [target], named(table, first[2:]))
    write("digits.csv", DIGITS + ["digit"], source("digits.csv.gz"))
    _, header, *table = source("boston_house_prices.csv")
    write("boston.csv", header, table)
    targets = [f"{float(row[0]):g}" for row in source("diabetes_target.csv.gz")]
    features = source("diabetes_data_raw.csv.gz", delimiter=" ")
    write("diabetes.csv", DIABETES + ["progression"], [row + [y] for row, y in zip(features, targets, strict=True)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
