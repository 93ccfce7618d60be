"""The Lipschitz constants of a linear model's training problem and the learning rates that follow from them."""
from __future__ import annotations

from typing import Any, Dict, NamedTuple

from . import _arrays, _library

_QUICK = 1e5  # values


class Rate(NamedTuple):
    """A Lipschitz constant, and the learning rate that is its inverse."""

    value: float
    rate: float
    formula: str
    inputs: Dict[str, float]  # of the formula, by their symbols


def named_rates(training: _arrays.Training, settings: Dict[str, str]) -> Dict[str, Rate]:
    answer = _library.Options(settings).rates(training.rows, training.work({"l2": "0"}) < _QUICK)
    return {
        one["name"]: Rate(one["value"], one["rate"], one["formula"], one["inputs"]) for one in answer["constants"]
    }


def rates(X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None, **options: Any) -> Dict[str, Rate]:
    """The constants by name: "published", "coded" and "certified" of the loss, "gradient" of its gradient.

    A y of text, or of at most ten different whole numbers, each three times on average, makes classes, any other y a
    regression; classes=True or False says which. options are parameters of LipschitzClassifier, such as l2=0.1
    and scale="none"; without l2 there is no penalty.

    >>> from lipschitzlr import rates
    >>> found = rates([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.5, 5.0, 7.5])
    >>> found["gradient"].formula, round(found["gradient"].rate, 6)
    ('sigma_max^2/m', 1.0)
    """
    from ._estimators import LipschitzClassifier, LipschitzRegressor

    if options.get("l2") == "auto":
        raise ValueError("l2='auto' is chosen by a training: see rates_ of the fitted estimator")
    rows = _arrays.features(X)
    target = _arrays.column(y, rows.shape[0], "rates")
    classified = _arrays.looks_like_classes(target) if classes is None else bool(classes)
    if options.get("penalty", "l2") is not None:
        options.setdefault("l2", 0.0)
    estimator = (LipschitzClassifier if classified else LipschitzRegressor)(**options)
    return named_rates(estimator._prepare(rows, target, sample_weight), estimator._settings())
