"""Learning rates computed from the Lipschitz constant of the loss: rate = 1/L.

`lipschitzlr.torch` has optimizers for PyTorch loops; it is imported by its name, so that this package needs no torch.
"""
from importlib.metadata import version as _version

from ._record import Record
from ._report import report

__version__ = _version("lipschitzlr")
__all__ = ["Record", "__version__", "report"]
