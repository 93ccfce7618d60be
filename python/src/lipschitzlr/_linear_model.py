"""What both estimators have: parameters, training, prediction, files."""
from __future__ import annotations

import os
import warnings
from typing import Any, Dict, NamedTuple, Optional, TypeVar

import numpy as np

from . import _arrays, _library, _parameters
from ._compat import convergence_warning, new_tags, not_fitted
from ._rates import Rate, named_rates

_QUICK = 3e6  # values in a pass: less is over before anybody presses Ctrl-C
_MOST_SAMPLED = 64
Estimator = TypeVar("Estimator", bound="LinearModel")


class Certificate(NamedTuple):
    """How a training ended and what is proven of its model."""

    gap: float  # the loss is at most this share of itself above the optimum; infinite: nothing is proven
    verdict: str
    stop: str
    solver: str
    reason: str  # of the choice of the solver
    condition: float  # of the Hessian; NaN where it was not computed
    l2: float  # strength of the penalty, as given or chosen
    loss: float  # with the penalty
    seconds: float


class LinearModel:
    """What both estimators have: parameters, the call of the library, files."""

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters of the constructor by their names."""
        return {name: getattr(self, name) for name in _parameters.of_constructor(type(self))}

    def set_params(self: Estimator, **params: Any) -> Estimator:
        """Sets parameters of the constructor; unknown names are an error."""
        known = _parameters.of_constructor(type(self))
        for name in params:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in _parameters.of_constructor(type(self)).items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _more_tags(self) -> Dict[str, Any]:
        return {"requires_y": True}

    def __sklearn_tags__(self) -> Any:
        return new_tags(self._estimator_type)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __getstate__(self) -> Dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_training", None)  # the rows are not part of a model
        return state

    _estimator_type = ""
    penalty: Optional[str]
    l2: Any
    l1_ratio: Optional[float]
    solver: str
    scale: str
    fit_intercept: bool
    max_iter: int
    tol: Optional[float]
    warm_start: bool
    random_state: Any
    n_jobs: Optional[int]

    def save(self, path: Any) -> None:
        """Writes the model file of the command line: `lipschitzlr predict FILE rows.csv` takes it."""
        self._fitted().save(path)

    @classmethod
    def load(cls: type[Estimator], path: Any) -> Estimator:
        """The model of a file that save() or `lipschitzlr fit -o FILE` wrote."""
        from ._estimators import load

        estimator = load(path)
        if not isinstance(estimator, cls):
            raise ValueError(f"{os.fspath(path)} is a model for {type(estimator).__name__}")
        return estimator

    @property
    def rates_(self) -> Dict[str, Rate]:
        """The Lipschitz constants of the training problem and the learning rates that follow from them, by name.

        They are computed when they are first asked for, from the rows that were passed to fit, which the estimator
        refers to until then; a pickle and a file are without the rows.
        """
        self._fitted()
        if not hasattr(self, "_rates"):
            if not hasattr(self, "_training"):
                raise AttributeError("the training rows are no longer known; lipschitzlr.rates(X, y) computes rates")
            if _fingerprint(self._training.features) != self._fingerprint:
                raise AttributeError("the training rows were changed after fit; lipschitzlr.rates(X, y) computes rates")
            settings = {**self._training.settings, "l2": repr(float(self._fitted().training()["l2"]))}
            self._rates = named_rates(self._training, settings)
            del self._training
        return dict(self._rates)

    def _fitted(self) -> _library.Model:
        model = getattr(self, "_model", None)
        if not isinstance(model, _library.Model):
            raise not_fitted(self)
        return model

    def _settings(self) -> Dict[str, str]:
        """What differs from the library's defaults: what need not be checked and said takes no time."""
        settings = _parameters.penalty_settings(self.penalty, self.l2, self.l1_ratio)
        if self.scale != "auto":
            settings["scale"] = _parameters.word("scale", self.scale)
        if self.solver != "auto":
            settings["solver"] = _parameters.word("solver", self.solver)
        if not self.fit_intercept:
            settings["intercept"] = "no"
        if self.max_iter != 1000:
            settings["epochs"] = _parameters.whole("max_iter", self.max_iter, 1)
        if self.random_state is not None:
            settings["seed"] = _parameters.seed(self.random_state)
        threads = _parameters.threads(self.n_jobs)
        if threads != 0:
            settings["threads"] = str(threads)
        if self.tol is not None:
            settings["tolerance"] = _parameters.real("tol", self.tol)
        return settings

    def _prepare(self, X: Any, y: Any, sample_weight: Any, names: Optional[Any] = None) -> _arrays.Training:
        raise NotImplementedError

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        names = _arrays.feature_names(X)
        rows = _arrays.features(X)
        target = _arrays.column(y, rows.shape[0], type(self).__name__)
        training = self._prepare(rows, target, sample_weight, names)
        settings = training.settings = {**self._settings(), **training.notes}
        start = getattr(self, "_model", None) if self.warm_start else None
        model = _library.Options(settings).fit(training.rows, start, training.work(settings) < _QUICK)
        for name in ("_rates", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._training, self._fingerprint = training, _fingerprint(training.features)
        self._take(model)
        if names is not None:
            self.feature_names_in_ = names

    def _take(self, model: _library.Model) -> None:
        summary = model.summary()
        self._model = model
        self.n_features_in_ = int(summary.features)
        self.n_iter_ = int(summary.epochs)
        coefficients, intercepts = np.empty((summary.outputs, summary.features)), np.empty(summary.outputs)
        model.weights(_arrays.address(coefficients), _arrays.address(intercepts))
        self._set_weights(coefficients, intercepts)
        if not summary.converged:
            sentence = f"not converged: {self.certificate_.stop}; give more max_iter or a larger l2"
            warnings.warn(sentence, convergence_warning(), stacklevel=4)

    @property
    def certificate_(self) -> Certificate:
        """How the training ended and what is proven of the model."""
        training = self._fitted().training()
        solver = training.get("solver", "")  # linear::fit writes the name alone
        named = solver if isinstance(solver, dict) else {"name": solver}

        def number(name: str, otherwise: float) -> float:
            value = training.get(name)
            return otherwise if value is None else float(value)  # JSON has no infinity: null stands there

        return Certificate(
            gap=number("certified_gap", np.inf),
            verdict=str(training.get("verdict", "")),
            stop=str(training.get("stop", "")),
            solver=str(named.get("name", "")),
            reason=str(named.get("reason", "")),
            condition=number("condition", np.nan),
            l2=number("l1", 0) + number("l2", 0),
            loss=number("loss", np.nan),
            seconds=number("seconds", 0),
        )

    def _set_weights(self, coefficients: Any, intercepts: Any) -> None:
        raise NotImplementedError

    def _predict(self, X: Any, what: int) -> Any:
        model = self._fitted()
        _arrays.check_names(_arrays.feature_names(X), getattr(self, "feature_names_in_", None), type(self).__name__)
        rows = _arrays.features(X)
        if rows.shape[1] != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {rows.shape[1]} features, but {expected}")
        shape = model.summary()
        columns = {_library.SCORES: shape.outputs, _library.PREDICTIONS: 1, _library.PROBABILITIES: shape.classes}[what]
        result = np.empty((rows.shape[0], columns))
        matrix, alive = _arrays.as_matrix(rows)
        model.predict(matrix, what, _parameters.threads(self.n_jobs), _arrays.address(result))
        del alive
        return result.ravel() if columns == 1 else result


def _fingerprint(features: Any) -> int:
    """Of some values at even distances: tells whether rows were changed in place."""
    values = features.data if _arrays.is_sparse(features) else features.reshape(-1)
    return hash(values[:: max(1, len(values) // _MOST_SAMPLED)].tobytes())
