"""Wrong use of the estimators of every kind ends with an exception that says something: never with a crash, and never
with a model of something else.
"""
from __future__ import annotations

import ctypes.util
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from typing import Any, Callable

import numpy as np
import pandas
import pytest
import scipy.sparse

import lipschitzlr
from lipschitzlr import LipschitzClassifier, LipschitzRegressor, _library

X = np.random.RandomState(0).normal(size=(30, 4))
Y = np.arange(30) % 3
NUMBERS = X @ [1.0, -2.0, 0.5, 0.0]
CSR = scipy.sparse.csr_matrix(X)
FITTED = LipschitzClassifier(l2=0.1).fit(X, Y)
MODEL_TEXT = FITTED._model.text()


class Strange:
    def __array__(self, dtype: Any = None) -> Any:
        raise RuntimeError("no array today")


def with_value(value: float) -> Any:
    array = X.copy()
    array[3, 2] = value
    return array


def wrong_csr(**parts: Any) -> Any:
    """A matrix whose parts do not fit, which scipy itself does not check."""
    matrix = scipy.sparse.csr_matrix(X)
    for name, change in parts.items():
        getattr(matrix, name)[...] = change
    matrix.has_canonical_format = True
    return matrix


def broadcast(rows: int) -> Any:
    """A matrix of a few bytes that claims a size no memory has."""
    return np.broadcast_to(np.float32(1), (rows, 2**20))


def closed() -> Any:
    model = LipschitzClassifier(l2=0.1).fit(X, Y)
    model._model.__del__()
    return model


BAD_ROWS: list[Any] = [
    None, 7, "text", b"bytes", object(), Strange(), {}, {"a": [1]}, [], [[]], [[], []], X[0], X[:, :, None], X[:0],
    X[:, :0], np.float64(1), with_value(np.nan), with_value(np.inf), with_value(-np.inf), X.astype(complex),
    np.char.add(X.astype(str), "?"), np.full((30, 4), None), [["a", "b"]] * 30, np.zeros(30, dtype=[("a", float)]),
    X.astype("M8[s]"), with_value(np.inf).astype(np.float32), [[1, 2], [3]], pandas.DataFrame({"a": list("xyz")}),
    pandas.DataFrame(X, columns=["a", "b", "c", 4]),
    scipy.sparse.csr_matrix(with_value(np.nan)), scipy.sparse.csr_matrix((30, 0)),
    scipy.sparse.csr_matrix(X.astype(complex)), wrong_csr(indices=9), wrong_csr(indices=-1), wrong_csr(indptr=-5),
    wrong_csr(indices=0), wrong_csr(indptr=np.arange(31)[::-1] * 4), broadcast(2**30),
]  # fmt: skip
BAD_TARGETS: list[Any] = [
    None, 7, "text", [], Y[:29], np.c_[Y, Y], np.full(30, np.nan), np.full(30, np.inf), Y + 0.5, Y * 1j, np.zeros(30),
    [None] * 30, [1, "a", None] * 10, scipy.sparse.csr_matrix(Y), [[]] * 30,
    np.array(["a\0b", "c"] * 15, dtype=object), Strange(), {1: 2},
]  # fmt: skip
BAD_PARAMETERS: list[dict[str, Any]] = [
    {"penalty": "l3"}, {"penalty": None, "l2": 1}, {"l2": -1}, {"l2": np.nan}, {"l2": np.inf}, {"l2": "much"},
    {"l2": [1]}, {"l2": True}, {"penalty": "elasticnet", "l2": 1},
    {"penalty": "elasticnet", "l2": 1, "l1_ratio": 2}, {"l1_ratio": 0.5}, {"solver": "magic"}, {"solver": 3},
    {"solver": "newton\0"}, {"scale": "log"}, {"scale": None}, {"max_iter": 0}, {"max_iter": 1.5},
    {"max_iter": 2**70}, {"tol": -1}, {"tol": "small"}, {"random_state": -1}, {"random_state": "x"}, {"n_jobs": 0},
    {"n_jobs": "all"}, {"class_weight": "heavy"}, {"class_weight": {9: 1}}, {"class_weight": {0: -1}},
    {"class_weight": {0: 0, 1: 0, 2: 0}}, {"class_weight": [1, 2, 3]}, {"penalty": "l1", "l2": 1, "solver": "newton"},
    {"class_weight": {0: "x"}},
]  # fmt: skip
BAD_WEIGHTS: list[Any] = [
    np.ones(29), -np.ones(30), np.zeros(30), np.full(30, np.nan), "heavy", np.ones((30, 2)), {}, np.ones(30) * 1j,
]  # fmt: skip
BAD_USE: list[Callable[[pathlib.Path], Any]] = [
    lambda _: LipschitzClassifier().predict(X),
    lambda _: LipschitzClassifier().save("nowhere.json"),
    lambda _: LipschitzRegressor().rates_,
    lambda _: FITTED.predict(X[:, :3]),
    lambda _: FITTED.predict(np.c_[X, X]),
    lambda _: FITTED.predict(scipy.sparse.csr_matrix((3, 5))),
    lambda _: FITTED.save("/nowhere/at/all.json"),
    lambda _: FITTED.save("a\0b"),
    lambda _: FITTED.save(None),
    lambda _: FITTED.set_params(lr=1),
    lambda _: LipschitzClassifier(lr=1),
    lambda folder: lipschitzlr.load(folder / "missing.json"),
    lambda folder: lipschitzlr.load(folder),
    lambda folder: lipschitzlr.load(written(folder, "{}")),
    lambda folder: lipschitzlr.load(written(folder, MODEL_TEXT[: len(MODEL_TEXT) // 2])),
    lambda folder: lipschitzlr.load(written(folder, MODEL_TEXT.replace('"weights": [', '"weights": [[1e999],'))),
    lambda folder: LipschitzRegressor.load(written(folder, MODEL_TEXT)),
    lambda _: lipschitzlr.load(3.5),
    lambda _: closed().predict(X),
    lambda _: closed().save("nowhere.json"),
    lambda _: pickle.dumps(closed()),
    lambda _: pickle.loads(pickle.dumps(FITTED).replace(b'"softmax"', b'"softmix"')),
    lambda _: lipschitzlr.rates(X, Y, l2="auto"),
    lambda _: lipschitzlr.rates(X, Y[:3]),
    lambda _: lipschitzlr.rates(X, Y, lr=1),
    lambda _: lipschitzlr.rates(X, NUMBERS, classes=True),
    lambda _: _library.Options({"unknown": "1"}),
    lambda _: _library.Options({"l2": "auto", "folds": "1"}),
    lambda _: _library.Options({"l2": "0.1"}).fit(_library.Rows(), None, True),
    lambda _: _library.Model(None).summary(),
    lambda _: LipschitzClassifier(l2=0.1, warm_start=True).fit(X, Y).fit(X[:, :2], Y),
    lambda _: FITTED.score(X, Y[:5]),
    lambda _: FITTED.score(X, Y, sample_weight=[1, 2]),
    lambda _: LipschitzRegressor(l2=0.1).fit(X, NUMBERS).score(X, NUMBERS[:5]),
    lambda _: LipschitzRegressor(l2=0.1).fit(pandas.DataFrame(X, columns=["a", "a", "b", "c"]), NUMBERS),
]


def written(folder: pathlib.Path, text: str) -> pathlib.Path:
    path = folder / "model.json"
    path.write_text(text)
    return path


def name_of(case: Any) -> str:
    return repr(case)[:40]


def must_refuse(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError, RuntimeError, OSError, AttributeError, MemoryError)) as caught:
            call()
    assert len(str(caught.value)) > 10, repr(caught.value)


def test_there_are_enough_of_them() -> None:
    assert 2 * len(BAD_ROWS) + len(BAD_TARGETS) + len(BAD_PARAMETERS) + len(BAD_WEIGHTS) + len(BAD_USE) >= 60


@pytest.mark.parametrize("rows", BAD_ROWS, ids=name_of)
def test_rows_that_are_none_are_refused(rows: Any) -> None:
    must_refuse(lambda: LipschitzClassifier(l2=0.1).fit(rows, Y))
    must_refuse(lambda: FITTED.predict(rows))


@pytest.mark.parametrize("targets", BAD_TARGETS, ids=name_of)
def test_targets_that_are_none_are_refused(targets: Any) -> None:
    must_refuse(lambda: LipschitzClassifier(l2=0.1).fit(X, targets))


@pytest.mark.parametrize("parameters", BAD_PARAMETERS, ids=str)
def test_parameters_that_can_not_be_are_refused(parameters: dict[str, Any]) -> None:
    must_refuse(lambda: LipschitzClassifier(**parameters).fit(X, Y))


@pytest.mark.parametrize("weights", BAD_WEIGHTS, ids=name_of)
def test_weights_that_can_not_be_are_refused(weights: Any) -> None:
    must_refuse(lambda: LipschitzRegressor(l2=0.1).fit(X, NUMBERS, sample_weight=weights))


@pytest.mark.parametrize("use", BAD_USE, ids=[str(number) for number in range(len(BAD_USE))])
def test_use_that_makes_no_sense_is_refused(use: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    must_refuse(lambda: use(tmp_path))


def test_threads_train_and_predict_at_the_same_time() -> None:
    shared = LipschitzClassifier(l2=0.1).fit(X, Y)
    expected, failures = shared.predict_proba(X), []

    def work(number: int) -> None:
        try:
            for _ in range(20):
                own = LipschitzClassifier(l2=0.1, n_jobs=1 + number % 2).fit(X, Y)
                assert np.array_equal(own.predict_proba(X), expected)
                assert np.array_equal(shared.predict_proba(X), expected)
                with pytest.raises(ValueError, match=f"row {number + 1}, column 1"):
                    broken = X.copy()
                    broken[number, 0] = np.nan
                    shared.predict(broken)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_forked_process_trains_on() -> None:
    """Also where the parent has trained with threads, and while it trains in another one."""
    big = np.random.RandomState(1).normal(size=(2000, 50))
    classes = (big[:, 0] > 0).astype(int)
    expected = LipschitzClassifier(l2=0.1, n_jobs=2).fit(big, classes).coef_
    running = threading.Event()

    def train() -> None:
        running.set()
        for _ in range(20):
            LipschitzClassifier(l2=0.1, n_jobs=2).fit(big, classes)

    thread = threading.Thread(target=train)
    thread.start()
    running.wait()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            same = False
            try:
                same = np.array_equal(LipschitzClassifier(l2=0.1, n_jobs=2).fit(big, classes).coef_, expected)
            finally:
                os._exit(0 if same else 1)
        children.append(child)
    thread.join()
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


# Says when the training runs, then waits for the signal inside it; ends with 7 when KeyboardInterrupt came out of fit.
INTERRUPTED = """
import signal, sys, threading
import numpy as np
from lipschitzlr import LipschitzClassifier, _library
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it runs in the background ignore it
X = np.random.RandomState(0).normal(size=(5000, 50))
y = (X[:, 0] + np.random.RandomState(1).normal(size=5000) > 0).astype(int)
inside = _library._call
def said(name, *arguments):
    if name == "fit":
        print("fitting", flush=True)
    inside(name, *arguments)
_library._call = said
model = LipschitzClassifier(l2=0.0, solver="gd", tol=0, max_iter=10**9, n_jobs=1)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    assert not hasattr(model, "coef_") and threading.active_count() == 1
    _library._call = inside
    LipschitzClassifier(l2=0.1).fit(X, y)  # nothing is left of it
    sys.exit(7)
"""


def test_ctrl_c_ends_a_training() -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "fitting\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 7
        finally:
            process.kill()


def test_a_library_that_is_none_is_named(tmp_path: pathlib.Path) -> None:
    code = (
        "import lipschitzlr\n"
        "try: lipschitzlr.LipschitzRegressor(l2=0).fit([[1], [2]], [1, 2])\n"
        "except RuntimeError as error: print(error)"
    )
    (tmp_path / "text.so").write_text("text")
    for path in (tmp_path / "missing.so", tmp_path / "text.so", ctypes.util.find_library("m")):
        environment = {**os.environ, "LIPSCHITZLR_LIBRARY": str(path)}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert ran.returncode == 0 and str(path) in ran.stdout, ran.stderr
