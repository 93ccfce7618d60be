"""Linear models as scikit-learn's users know them, trained by the core of LipschitzLR."""
from __future__ import annotations

import json
import warnings
from typing import Any, Optional

import numpy as np

from . import _arrays, _labels, _library
from ._linear_model import LinearModel


class LipschitzClassifier(LinearModel):
    """Logistic regression for two classes and softmax regression for more, with nothing to tune.

    Minimises the mean loss plus l2 (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2), the intercept free. The columns are
    scaled inside; coef_ and intercept_ are for X as it was given.

    Parameters
    ----------
    penalty : "l2", "l1", "elasticnet" or None
    l2 : strength of the penalty, or "auto": the one with the lowest loss in cross-validation. It belongs to the mean
        loss and to scaled columns: scikit-learn's C is 1/(l2 * rows).
    l1_ratio : of penalty="elasticnet", from 0 to 1
    class_weight : "balanced", or a weight for each class
    solver : "auto" chooses by the shape; "newton", "lbfgs", "coordinate" and "fista" prove how near the optimum they are,
        "gd", "accelerated", "sgd", "adamo", "rmsprop" and "auto-adam" take steps of a computed learning rate
    scale : "auto" (standard, none for sparse X), "none", "standard", "minmax" or "sum"
    fit_intercept : whether there is one
    max_iter : passes at most
    tol : stop when the loss is proven to be within this share of the optimum; None: 1e-6, 1e-8 for least squares. The
        solvers with a rate stop when the loss changed by at most this share, five times in a row; None: 1e-8
    warm_start : begin with the weights of the fit before
    random_state : of folds and shuffles; None: 1
    n_jobs : threads; None: OMP_NUM_THREADS, else all cores; -1: all cores. Results do not depend on it

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    certificate_ : how the training ended, the chosen l2 and the proven distance from the optimum
    rates_ : the Lipschitz constants of the problem, each with value, rate, formula and inputs

    Examples
    --------
    >>> import numpy as np
    >>> from lipschitzlr import LipschitzClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> model = LipschitzClassifier(l2=0.1).fit(X, ["low", "low", "high", "low", "high", "high"])
    >>> model.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    >>> model.certificate_.gap < 1e-6
    True
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        penalty: Optional[str] = "l2",
        *,
        l2: Any = "auto",
        l1_ratio: Optional[float] = None,
        class_weight: Any = None,
        solver: str = "auto",
        scale: str = "auto",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: Optional[float] = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.penalty = penalty
        self.l2 = l2
        self.l1_ratio = l1_ratio
        self.class_weight = class_weight
        self.solver = solver
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LipschitzClassifier:
        """Trains on the rows of X and their classes y, text or whole numbers; returns the estimator."""
        self._train(X, y, sample_weight)
        self.classes_ = self._training.classes
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any, names: Optional[Any] = None) -> _arrays.Training:
        X, y, weights = _arrays.counted(X, y, _arrays.row_weights(sample_weight, len(y)))
        classes, indices = _arrays.encode(y)
        if len(classes) < 2:
            raise ValueError(f"every row has the same class, {classes[0]!r}: there is nothing to tell apart (1 class)")
        if self.class_weight is not None:
            of_class = _labels.class_weights(self.class_weight, classes, indices)[indices.astype(np.intp)]
            weights = of_class if weights is None else weights * of_class
            X, indices, weights = _arrays.counted(X, indices, weights)
        labels = _labels.labels_of(classes)
        training = _arrays.Training(X, indices, weights, names, labels)
        training.classes = classes
        note = _labels.note_of(classes, labels)
        if note:
            training.notes = {"note": note}
        return training

    def _set_weights(self, coefficients: Any, intercepts: Any) -> None:
        self.coef_, self.intercept_ = coefficients, intercepts

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        indices = self._predict(X, _library.PREDICTIONS).astype(np.intp)
        return self.classes_[indices]

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, rows x classes."""
        return self._predict(X, _library.PROBABILITIES)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Any:
        """The scores: of classes_[1] for two classes, of every class for more."""
        return self._predict(X, _library.SCORES)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows whose class is predicted."""
        predicted = self.predict(X)
        right = predicted == _arrays.column(y, len(predicted), type(self).__name__)
        return float(np.average(right, weights=_arrays.row_weights(sample_weight, len(predicted))))


class LipschitzRegressor(LinearModel):
    """Least squares with an L2, L1 or elastic net penalty, and nothing to tune.

    Minimises half the mean of the squared errors plus l2 (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2), the intercept free.
    Parameters and attributes are those of LipschitzClassifier without class_weight and classes_; Ridge's alpha is
    l2 * rows, ElasticNet's is l2.

    Examples
    --------
    >>> import numpy as np
    >>> from lipschitzlr import LipschitzRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LipschitzRegressor(l2=0).fit(X, [1, 3, 5, 7])
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9)
    ([2.0], 1.0)
    """

    _estimator_type = "regressor"

    def __init__(
        self,
        penalty: Optional[str] = "l2",
        *,
        l2: Any = "auto",
        l1_ratio: Optional[float] = None,
        solver: str = "auto",
        scale: str = "auto",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: Optional[float] = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.penalty = penalty
        self.l2 = l2
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LipschitzRegressor:
        """Trains on the rows of X and their numbers y; returns the estimator."""
        self._train(X, y, sample_weight)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any, names: Optional[Any] = None) -> _arrays.Training:
        X, y, weights = _arrays.counted(X, y, _arrays.row_weights(sample_weight, len(y)))
        return _arrays.Training(X, _arrays.as_float64(y, "y"), weights, names)  # the library finds what is not finite

    def _set_weights(self, coefficients: Any, intercepts: Any) -> None:
        self.coef_, self.intercept_ = coefficients[0], float(intercepts[0])

    def predict(self, X: Any) -> Any:
        """The number of each row."""
        return self._predict(X, _library.PREDICTIONS)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2: 1 minus the squared errors as a share of those of the mean."""
        predicted = self.predict(X)
        target = _arrays.numbers(_arrays.column(y, len(predicted), type(self).__name__), "y")
        given = _arrays.row_weights(sample_weight, len(target))
        weights = np.ones(len(target)) if given is None else given
        errors = float(np.sum(weights * (target - predicted) ** 2))
        spread = float(np.sum(weights * (target - np.average(target, weights=weights)) ** 2))
        if spread == 0:
            return 1.0 if errors == 0 else 0.0
        return 1 - errors / spread


def load(path: Any) -> Any:
    """The model of a file that save() or `lipschitzlr fit -o FILE` wrote: a LipschitzClassifier or LipschitzRegressor.

    Labels that all are whole numbers, or numbers, become numbers again.
    """
    model = _library.Model.load(path)
    file = json.loads(model.text())
    estimator: Any = LipschitzRegressor() if model.summary().family == _library.LINEAR else LipschitzClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the training ended was said then
        estimator._take(model)
    if isinstance(estimator, LipschitzClassifier):
        kind = _labels.kind_in(str(file["training"].get("note", "")))
        estimator.classes_ = _labels.classes_of(file["labels"], kind)
    if file.get("has_names", True):
        estimator.feature_names_in_ = np.asarray(file["features"], dtype=object)
    estimator.fit_intercept = bool(file["intercept"])
    return estimator
