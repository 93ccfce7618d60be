"""Models go between Python and the command line with all their bits."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_diabetes, load_iris

import lipschitzlr
from lipschitzlr import LipschitzClassifier, LipschitzRegressor

BIN = os.environ.get("LIPSCHITZLR_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="LIPSCHITZLR_BIN names no built program")


def run(*words: Any, cwd: pathlib.Path) -> str:
    ran = subprocess.run([BIN, *map(str, words)], cwd=cwd, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def iris() -> tuple[pandas.DataFrame, Any]:
    frame = load_iris(as_frame=True).frame
    frame.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width", "target"]
    labels = np.array(["setosa", "versicolor", "virginica"])[frame.pop("target")]
    return frame, labels


def written(frame: pandas.DataFrame, y: Any, folder: pathlib.Path) -> pathlib.Path:
    path = folder / "rows.csv"
    frame.assign(target=y).to_csv(path, index=False, float_format="%.17g")
    return path


def test_both_train_the_same_bits(tmp_path: pathlib.Path) -> None:
    diabetes = load_diabetes(as_frame=True)
    for X, y, model in [
        (*iris(), LipschitzClassifier(l2=0.01)),
        (diabetes.data, diabetes.target, LipschitzRegressor(l2=0.01)),
        (diabetes.data, diabetes.target, LipschitzRegressor("l1", l2=0.5)),
    ]:
        penalty = ["--l1", 0.5, "--l2", 0] if model.penalty == "l1" else ["--l2", 0.01]
        run("fit", written(X, y, tmp_path), *penalty, "-o", "theirs.json", cwd=tmp_path)
        model.fit(X, y).save(tmp_path / "ours.json")
        theirs, ours = (json.loads((tmp_path / name).read_text()) for name in ("theirs.json", "ours.json"))
        for field in ("weights", "scaling", "features", "labels", "family", "intercept", "has_names"):
            assert theirs[field] == ours[field], field


def test_both_choose_the_same_penalty(tmp_path: pathlib.Path) -> None:
    diabetes = load_diabetes(as_frame=True)
    for X, y, model in [
        (*iris(), LipschitzClassifier()),
        (diabetes.data, diabetes.target, LipschitzRegressor(random_state=5)),
        (diabetes.data, diabetes.target, LipschitzRegressor("l1")),
    ]:
        options = ["--l1", "auto"] if model.penalty == "l1" else ["--seed", model.random_state or 1]
        run("fit", written(X, y, tmp_path), *options, "-o", "theirs.json", cwd=tmp_path)
        theirs, ours = lipschitzlr.load(tmp_path / "theirs.json"), model.fit(X, y)
        assert theirs.certificate_.l2 == ours.certificate_.l2 > 0
        np.testing.assert_array_equal(theirs.coef_, ours.coef_)


def test_a_model_of_the_command_line_is_loaded_and_saved_as_it_was(tmp_path: pathlib.Path) -> None:
    X, y = iris()
    run("fit", written(X, y, tmp_path), "-o", "model.json", cwd=tmp_path)
    model = lipschitzlr.load(tmp_path / "model.json")
    assert isinstance(model, LipschitzClassifier) and model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.certificate_.l2 > 0 and model.certificate_.gap <= 1e-6
    model.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    answers = run("predict", "model.json", tmp_path / "rows.csv", cwd=tmp_path).split()
    assert [word for word in answers if word in model.classes_] == model.predict(X).tolist()
    with pytest.raises(ValueError, match="LipschitzClassifier"):
        LipschitzRegressor.load(tmp_path / "model.json")


def test_the_command_line_predicts_with_a_model_of_python(tmp_path: pathlib.Path) -> None:
    diabetes = load_diabetes(as_frame=True)
    model = LipschitzRegressor(l2=0.01).fit(diabetes.data, diabetes.target)
    model.save(tmp_path / "model.json")
    path = written(diabetes.data, diabetes.target, tmp_path)
    answers = run("predict", "model.json", path, cwd=tmp_path).split()
    numbers = [float(word) for word in answers if word[0].isdigit()]
    assert numbers == model.predict(diabetes.data).tolist()


def test_rates_are_those_of_the_command_line(tmp_path: pathlib.Path) -> None:
    X, y = iris()
    answer = json.loads(run("rate", written(X, y, tmp_path), "--json", cwd=tmp_path))
    found = lipschitzlr.rates(X, y)
    theirs = {one["name"]: one for one in answer["constants"]}
    assert set(theirs) == set(found)
    for name, rate in found.items():
        assert rate.value == theirs[name]["value"] and rate.formula == theirs[name]["formula"]
