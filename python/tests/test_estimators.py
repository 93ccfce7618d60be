"""The estimators: scikit-learn's own checks, its models as oracles, and everything that fit and predict promise."""
from __future__ import annotations

import copy
import pathlib
import pickle
import warnings
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import lipschitzlr
from lipschitzlr import LipschitzClassifier, LipschitzRegressor, _arrays

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def scaled(X: Any) -> Any:
    return StandardScaler().fit_transform(X)


@pytest.mark.parametrize("estimator, count", [(LipschitzClassifier(), 51), (LipschitzRegressor(), 47)], ids=str)
def test_every_check_of_scikit_learn_passes_and_none_is_skipped(estimator: Any, count: int) -> None:
    checks = list(check_estimator(estimator, generate_only=True))
    assert len(checks) == count
    for subject, check in checks:
        check(subject)  # a skipped check raises SkipTest, which fails here


@pytest.mark.parametrize("X, y", [CANCER, IRIS], ids=["two classes", "three classes"])
@pytest.mark.parametrize("l2", [1.0, 1e-2])
def test_a_classifier_is_that_of_logistic_regression(X: Any, y: Any, l2: float) -> None:
    ours = LipschitzClassifier(l2=l2, tol=1e-12).fit(X, y)
    oracle = LogisticRegression(C=1 / (l2 * len(y)), tol=1e-7, solver="newton-cg").fit(scaled(X), y)
    np.testing.assert_allclose(ours.predict_proba(X), oracle.predict_proba(scaled(X)), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), np.squeeze(X @ ours.coef_.T + ours.intercept_), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), oracle.predict(scaled(X)))
    assert ours.score(X, y) == np.mean(ours.predict(X) == y)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))


def test_a_regressor_is_that_of_ridge() -> None:
    X, y = DIABETES
    ours = LipschitzRegressor(l2=0.1).fit(X, y)
    oracle = Ridge(alpha=0.1 * len(y)).fit(scaled(X), y)
    np.testing.assert_allclose(ours.predict(X), oracle.predict(scaled(X)), rtol=1e-7)
    np.testing.assert_allclose(X @ ours.coef_ + ours.intercept_, ours.predict(X))
    assert ours.score(X, y) == pytest.approx(oracle.score(scaled(X), y))


@pytest.mark.parametrize("penalty, ratio", [("l1", 1.0), ("elasticnet", 0.5)])
def test_l1_and_the_elastic_net_are_those_of_scikit_learn(penalty: str, ratio: float) -> None:
    X, y = DIABETES
    share = {} if penalty == "l1" else {"l1_ratio": ratio}
    ours = LipschitzRegressor(penalty, l2=5.0, scale="none", tol=1e-10, **share).fit(scaled(X), y)
    oracle = ElasticNet(alpha=5.0, l1_ratio=ratio, tol=1e-10).fit(scaled(X), y)
    np.testing.assert_allclose(ours.coef_, oracle.coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.coef_ == 0, oracle.coef_ == 0)
    assert ours.certificate_.solver == "coordinate"


def test_the_strength_of_l1_and_the_elastic_net_can_be_chosen() -> None:
    X, y = DIABETES
    for penalty, share in (("l1", {}), ("elasticnet", {"l1_ratio": 0.5})):
        model = LipschitzRegressor(penalty, **share).fit(X, y)
        given = LipschitzRegressor(penalty, l2=model.certificate_.l2, **share).fit(X, y)
        np.testing.assert_allclose(model.coef_, given.coef_, rtol=1e-6, atol=1e-6)
        assert model.certificate_.l2 > 0 and model.score(X, y) > 0.45


def test_weights_count_as_repeated_rows_and_rows_of_weight_zero_not_at_all() -> None:
    X, y = scaled(CANCER[0]), CANCER[1]
    counts = np.arange(len(y)) % 3
    settings = {"l2": 0.1, "tol": 1e-12}
    weighted = LipschitzClassifier(**settings).fit(X, y, sample_weight=counts)
    repeated = LipschitzClassifier(**settings).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    balanced = LipschitzClassifier(class_weight="balanced", **settings).fit(X, y)
    by_hand = {c: len(y) / (2 * np.sum(y == c)) for c in (0, 1)}
    for other in (
        LipschitzClassifier(class_weight=by_hand, **settings).fit(X, y),
        LipschitzClassifier(**settings).fit(X, y, sample_weight=np.vectorize(by_hand.get)(y)),
    ):
        np.testing.assert_allclose(balanced.coef_, other.coef_, rtol=1e-12)


def test_the_chosen_penalty_does_not_depend_on_the_order_of_the_rows() -> None:
    X, y = CANCER
    order = np.random.RandomState(0).permutation(len(y))
    one, other = LipschitzClassifier().fit(X, y), LipschitzClassifier().fit(X[order], y[order])
    assert other.certificate_.l2 == pytest.approx(one.certificate_.l2, rel=1e-12) and one.certificate_.l2 > 0
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "fortran", "frame", "list", "ints", "reversed", "read-only"])
def test_other_forms_of_the_same_rows_give_the_same_model(form: str) -> None:
    X, y = np.round(load_wine().data * 10), load_wine().target
    given = {
        "csr": lambda: scipy.sparse.csr_matrix(X),
        "csc": lambda: scipy.sparse.csc_matrix(X),
        "coo": lambda: scipy.sparse.coo_matrix(X),
        "fortran": lambda: np.asfortranarray(X),
        "frame": lambda: pandas.DataFrame(X),
        "list": lambda: X.tolist(),
        "ints": lambda: X.astype(np.int32),
        "reversed": lambda: np.ascontiguousarray(X[::-1])[::-1],
        "read-only": lambda: read_only(X),
    }[form]()
    scale = "none" if form in ("csr", "csc", "coo") else "standard"
    settings = {"l2": 0.5, "scale": scale, "solver": "lbfgs"}
    plain, other = LipschitzClassifier(**settings).fit(X, y), LipschitzClassifier(**settings).fit(given, y)
    np.testing.assert_allclose(other.predict_proba(given), plain.predict_proba(X), atol=1e-5)


def read_only(X: Any) -> Any:
    array = X.copy()
    array.flags.writeable = False
    return array


def test_single_precision_is_trained_on_as_it_is() -> None:
    X, y = CANCER
    single, double = LipschitzClassifier(l2=0.01).fit(X.astype(np.float32), y), LipschitzClassifier(l2=0.01).fit(X, y)
    np.testing.assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("kind", ["U", "O", "i", "u", "f", "b"])
@pytest.mark.parametrize("count", [2, 3, 16, 17, 40])
def test_classes_are_those_of_a_sorted_list_without_repetitions(kind: str, count: int) -> None:
    known = np.array(["b", "a", "", "\u00e4", "b "] + [f"label {i}" for i in range(count)])[:count]
    if kind not in "UO":
        known = np.arange(count) * (1 if count < 16 else 3)
    rows = np.random.RandomState(count).randint(count, size=500)
    y = known[rows].astype({"u": np.uint16, "f": np.float32}.get(kind, kind))
    classes, indices = _arrays.encode(y)
    oracle = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, oracle[0])
    np.testing.assert_array_equal(indices, oracle[1])
    assert classes.dtype == y.dtype and indices.dtype == np.float64


@pytest.mark.parametrize("labels", [[-100, 100], [-128, 0, 127]])
def test_the_difference_of_two_classes_may_be_more_than_their_type_holds(labels: list[int]) -> None:
    y = np.array(labels * 3, dtype=np.int8)
    classes, indices = _arrays.encode(y)
    assert classes.tolist() == labels and classes.dtype == np.int8
    assert indices.tolist() == list(range(len(labels))) * 3


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [0.0, 7.0], ["1", "2"], [10**12, 10**15]], ids=str
)
def test_classes_keep_their_type_also_through_a_file(labels: Any, tmp_path: pathlib.Path) -> None:
    classes = np.array(labels)
    X, y = CANCER[0], classes[CANCER[1]]
    model = LipschitzClassifier(l2=0.1).fit(X, y)
    model.save(tmp_path / "model.json")
    for again in (model, lipschitzlr.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert again.classes_.dtype.kind == classes.dtype.kind
        np.testing.assert_array_equal(again.classes_, classes)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_names_of_a_frame_are_kept_and_checked(tmp_path: pathlib.Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LipschitzClassifier(l2=0.1).fit(X, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[X.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.to_numpy())
    model.save(tmp_path / "m.json")
    assert LipschitzClassifier.load(tmp_path / "m.json").feature_names_in_.tolist() == X.columns.tolist()


def test_pickle_clone_and_deepcopy_give_the_same_bits() -> None:
    X, y = CANCER
    model = LipschitzClassifier(l2=0.1, n_jobs=1).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(X, y)):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(other.coef_, model.coef_)
        assert repr(other) == repr(model) == "LipschitzClassifier(l2=0.1, n_jobs=1)"
    assert not hasattr(clone(model), "coef_")
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_pipeline_grid_search_and_cross_validation_take_them() -> None:
    X, y = CANCER
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LipschitzClassifier()), {"lipschitzclassifier__l2": [1e-3, 1e-1, 10]}, cv=3
    ).fit(X, y)
    assert search.best_params_["lipschitzclassifier__l2"] < 10 and search.best_score_ > 0.95
    assert cross_val_score(LipschitzRegressor(l2=0.01), *DIABETES, cv=3).mean() > 0.4
    jobs = cross_val_score(LipschitzClassifier(l2=0.1), X, y, cv=3, n_jobs=2)
    np.testing.assert_array_equal(jobs, cross_val_score(LipschitzClassifier(l2=0.1), X, y, cv=3))


def test_a_warm_start_begins_where_the_fit_before_ended() -> None:
    X, y = CANCER
    model = LipschitzClassifier(l2=1e-3, warm_start=True).fit(X, y)
    assert model.n_iter_ > 0
    first = model.coef_
    assert model.fit(X, y).n_iter_ == 0
    np.testing.assert_allclose(model.coef_, first, rtol=1e-9)
    assert LipschitzClassifier(l2=1e-3).fit(X, y).n_iter_ > model.set_params(l2=1.1e-3).fit(X, y).n_iter_ > 0


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "accelerated", "gd"])
def test_every_solver_finds_the_same_model(solver: str) -> None:
    X, y = IRIS
    model = LipschitzClassifier(l2=0.1, solver=solver, max_iter=20000).fit(X, y)
    assert model.certificate_.solver == solver
    oracle = LipschitzClassifier(l2=0.1).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), oracle.predict_proba(X), atol=2e-3)


def test_seeds_decide_folds_and_shuffles_and_nothing_else_does() -> None:
    X, y = IRIS

    def fitted(seed: Any, jobs: Any = None) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return LipschitzClassifier(l2=0.1, solver="sgd", max_iter=3, random_state=seed, n_jobs=jobs).fit(X, y).coef_

    np.testing.assert_array_equal(fitted(3), fitted(3, 2))
    np.testing.assert_array_equal(fitted(np.random.RandomState(5)), fitted(np.random.RandomState(5), 1))
    assert not np.array_equal(fitted(3), fitted(4))


def test_too_few_steps_are_warned_of_and_the_certificate_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="all epochs are done"):
        model = LipschitzClassifier(l2=1e-6, max_iter=1).fit(*CANCER)
    assert model.n_iter_ == 1 and model.certificate_.gap > 1e-6
    proven = LipschitzClassifier(l2=1e-3).fit(*CANCER).certificate_
    assert proven.gap <= 1e-6 and "certified" in proven.verdict and proven.loss > 0


def test_rates_are_those_of_the_formula_and_of_the_fitted_model() -> None:
    X, y = CANCER
    design = np.c_[scaled(X), np.ones(len(y))]
    beta = np.linalg.norm(design, 2) ** 2 / (4 * len(y))
    found = lipschitzlr.rates(X, y)
    assert set(found) == {"published", "coded", "certified", "gradient"}
    assert found["gradient"].value == pytest.approx(beta, rel=1e-8)
    assert found["gradient"].rate == 1 / found["gradient"].value and "sigma_max" in found["gradient"].formula
    model = LipschitzClassifier(l2=0.25).fit(X, y)
    assert model.rates_["gradient"].value == pytest.approx(beta + 0.25, rel=1e-8)
    assert model.rates_["gradient"].inputs["m"] == len(y)
    assert lipschitzlr.rates(X, y, l2=0.25) == model.rates_
    design = np.c_[scaled(DIABETES[0]), np.ones(442)]
    assert lipschitzlr.rates(*DIABETES)["gradient"].value == pytest.approx(np.linalg.norm(design, 2) ** 2 / 442)


def test_rates_of_rows_that_changed_or_are_gone_are_refused() -> None:
    X, y = CANCER[0].copy(), CANCER[1]
    model = LipschitzClassifier(l2=0.25).fit(X, y)
    with pytest.raises(AttributeError, match="no longer known"):
        pickle.loads(pickle.dumps(model)).rates_
    X *= 2
    with pytest.raises(AttributeError, match="were changed"):
        model.rates_
