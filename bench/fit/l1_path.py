"""A path of L1 penalties: the time to within 1e-3 and 1e-6 of the least objective at every lambda, ours against glmnet
(r-cran-glmnet) on the same matrix, lambdas and objective, mean squares / 2 + lambda ||w||_1 with a free intercept. Both
are run to a series of tolerances; the quickest run that came low enough everywhere counts."""
import json
import shutil
import subprocess

import numpy as np

NAME = "made up, 2,000 x 500, 40 values of L1"
LEVELS = (1e-3, 1e-6)
OURS = (1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-7)
GLMNET = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
SCRIPT = r"""
suppressMessages(library(glmnet))
x <- matrix(readBin("x.bin", "double", ROWS * COLUMNS), ROWS, COLUMNS, byrow = TRUE)
y <- readBin("y.bin", "double", ROWS)
lambdas <- readBin("lambdas.bin", "double", COUNT)
for (threshold in c(THRESHOLDS)) {
  seconds <- system.time(fit <- glmnet(x, y, lambda = lambdas, standardize = FALSE, thresh = threshold, maxit = 1e7))[3]
  found <- c(seconds, as.vector(rbind(as.matrix(fit$beta), fit$a0)))
  cat(format(found, digits = 17), "\n", file = "found.txt", append = TRUE)
}
"""


def problem(rows, columns):
    """Columns that overlap a little, of which 30 matter."""
    random = np.random.default_rng(21)
    X = random.standard_normal((rows, columns)) + random.standard_normal((rows, 1)) / 2
    weights = np.zeros(columns)
    weights[random.choice(columns, min(30, columns), replace=False)] = random.standard_normal(min(30, columns))
    y = X @ weights + 2 * random.standard_normal(rows)
    first = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / rows
    return X, y, first * np.logspace(0, -3, 40)


def objectives(X, y, lambdas, weights):
    """weights: a row for each lambda, the intercept last."""
    residuals = X @ weights[:, :-1].T + weights[:, -1] - y[:, None]
    return (residuals ** 2).mean(axis=0) / 2 + lambdas * np.abs(weights[:, :-1]).sum(axis=1)


def by_glmnet(X, y, lambdas, folder):
    for name, array in (("x", X), ("y", y), ("lambdas", lambdas)):
        np.ascontiguousarray(array).tofile(folder / f"{name}.bin")
    script = SCRIPT
    for word, value in (("ROWS", X.shape[0]), ("COLUMNS", X.shape[1]), ("COUNT", len(lambdas)),
                        ("THRESHOLDS", ", ".join(map(str, GLMNET)))):
        script = script.replace(word, str(value))
    (folder / "found.txt").unlink(missing_ok=True)
    subprocess.run(["Rscript", "-e", script], cwd=folder, check=True, capture_output=True)
    for line in (folder / "found.txt").read_text().splitlines():
        numbers = np.array(line.split(), float)
        yield numbers[0], numbers[1:].reshape(len(lambdas), -1)


def by_us(bench, X, y, lambdas, folder, threads):
    np.savetxt(folder / "path.csv", np.hstack([X, y[:, None]]), delimiter=",", fmt="%.17g",
               header=",".join([f"x{j}" for j in range(X.shape[1])] + ["y"]), comments="")
    for tolerance in OURS:
        answer = json.loads(subprocess.run([bench, str(folder / "path.csv"), str(threads), str(tolerance),
                                            *map(repr, lambdas.tolist())], check=True, capture_output=True,
                                           text=True).stdout)
        yield answer["seconds"], np.array(answer["weights"])


def compare(bench, folder, threads, quick):
    print("\n| problem | to | ours | glmnet | times as fast |\n|---|---|---|---|---|")
    if not shutil.which("Rscript"):
        print(f"| {NAME} | | | R is not installed: scripts/setup bench | |")
        return
    X, y, lambdas = problem(*((200, 40) if quick else (2000, 500)))
    runs = {"ours": by_us(bench, X, y, lambdas, folder, threads), "glmnet": by_glmnet(X, y, lambdas, folder)}
    found = {who: [(seconds, objectives(X, y, lambdas, weights)) for seconds, weights in those]
             for who, those in runs.items()}
    lowest = np.min([losses for those in found.values() for _, losses in those], axis=0)
    for level in LEVELS:
        least = {who: min((seconds for seconds, losses in those if (losses <= (1 + level) * lowest).all()),
                          default=float("inf")) for who, those in found.items()}
        print(f"| {NAME} | {level:g} | {1e3 * least['ours']:.3g} ms | {1e3 * least['glmnet']:.3g} ms | "
              f"{least['glmnet'] / least['ours']:.2g} |", flush=True)
