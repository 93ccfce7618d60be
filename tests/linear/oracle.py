"""What the comparisons of `fit` with other programs share: random problems, our model of them, the penalised loss."""
import json
import pathlib
import subprocess
import tempfile

import numpy


def draw(seed, rows, columns):
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((rows, columns))
    score = x[:, 0] + 0.5 * x.sum(axis=1) / numpy.sqrt(columns) + 0.7 * random.standard_normal(rows)
    return x, score


def is_number(y):
    return y.dtype.kind == "f"


def write_table(path, x, y):
    names = [f"x{j}" for j in range(x.shape[1])]
    labels = y if is_number(y) else [f"class{label}" for label in y]
    lines = [",".join(names + ["y"])]
    lines += [",".join(repr(float(v)) for v in row) + f",{label}" for row, label in zip(x, labels)]
    path.write_text("\n".join(lines) + "\n")


def fit(program, x, y, *options):
    """Weights (outputs x features) and intercepts of our model, on features as they are. y: numbers, or whole numbers
    that are classes."""
    with tempfile.TemporaryDirectory() as folder:
        table, model = pathlib.Path(folder, "table.csv"), pathlib.Path(folder, "model.json")
        write_table(table, x, y)
        command = [program, "fit", table, "--scale", "none", "--tolerance", "1e-15", "-o", model, "--quiet", *options]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        weights = numpy.array(json.loads(model.read_text())["weights"])
    if "--no-intercept" in options:
        return weights.T, numpy.zeros(weights.shape[1])
    return weights[:-1].T, weights[-1]


def loss(x, y, weights, intercepts, l2, l1=0):
    """The penalised loss."""
    scores = x @ weights.T + intercepts
    penalty = l2 / 2 * (weights**2).sum() + l1 * numpy.abs(weights).sum()
    if is_number(y):
        return ((scores[:, 0] - y) ** 2).mean() / 2 + penalty
    if scores.shape[1] == 1:
        scores = numpy.column_stack([numpy.zeros(len(y)), scores])
    return (numpy.logaddexp.reduce(scores, axis=1) - scores[numpy.arange(len(y)), y]).mean() + penalty
