"""Learning rates computed from the Lipschitz constant of the loss: rate = 1/L.

`lipschitzlr.torch` has optimizers for PyTorch loops; it is imported by its name, so that this package needs no torch.
"""
from importlib.metadata import version as _version

__version__ = _version("lipschitzlr")
__all__ = ["__version__"]
