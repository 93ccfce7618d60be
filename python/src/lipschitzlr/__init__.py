"""Learning rates computed from the Lipschitz constant of the loss: rate = 1/L.

`LipschitzClassifier` and `LipschitzRegressor` are linear models for tables, with nothing to tune; `rates` are the
constants of such a model's training. `lipschitzlr.torch` has optimizers for PyTorch loops; it is imported by its name,
so that this package needs no torch.
"""
from ._estimators import LipschitzClassifier, LipschitzRegressor, load
from ._linear_model import Certificate
from ._rates import Rate, rates
from ._record import Record
from ._report import report
from ._version import VERSION as __version__

__all__ = [
    "Certificate",
    "LipschitzClassifier",
    "LipschitzRegressor",
    "Rate",
    "Record",
    "__version__",
    "load",
    "rates",
    "report",
]
