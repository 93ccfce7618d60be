"""What an estimator shares with scikit-learn, which need not be installed: its exceptions when it is loaded, tags."""
from __future__ import annotations

import sys
from typing import Any, Type


class _NotFitted(ValueError, AttributeError):
    """The estimator has not been fitted yet."""


class _NotConverged(UserWarning):
    """The training ended before the optimum was reached."""


class _Converted(UserWarning):
    """Data had another form than expected and were converted."""


# Whoever catches scikit-learn's class has imported it.
def _of_sklearn(name: str, otherwise: Any) -> Any:
    module = sys.modules.get("sklearn.exceptions")
    return otherwise if module is None else getattr(module, name, otherwise)


def not_fitted(estimator: object) -> ValueError:
    error: Type[ValueError] = _of_sklearn("NotFittedError", _NotFitted)
    return error(f"this {type(estimator).__name__} is not fitted yet; call fit first")


def convergence_warning() -> Type[Warning]:
    warning: Type[Warning] = _of_sklearn("ConvergenceWarning", _NotConverged)
    return warning


def conversion_warning() -> Type[Warning]:
    warning: Type[Warning] = _of_sklearn("DataConversionWarning", _Converted)
    return warning


def new_tags(kind: str) -> Any:
    """The tags of scikit-learn 1.6 and later."""
    from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags  # type: ignore[import]

    return Tags(
        estimator_type=kind,
        target_tags=TargetTags(required=True),
        input_tags=InputTags(sparse=True),
        classifier_tags=ClassifierTags() if kind == "classifier" else None,
        regressor_tags=RegressorTags() if kind == "regressor" else None,
    )
