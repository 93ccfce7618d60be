"""Computed learning rates for any PyTorch loop: rate = 1/L, with L from what the last layer receives.

The paper's optimizers, with no rate to set:

>>> import torch
>>> from lipschitzlr.torch import AdaMo
>>> _ = torch.manual_seed(1)
>>> model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
>>> optimizer = AdaMo(model.parameters(), model)  # the last Linear of the model is its head
>>> x, y = torch.randn(30, 2), torch.arange(30) % 3
>>> for step in range(3):
...     optimizer.zero_grad()
...     torch.nn.functional.cross_entropy(model(x), y).backward()
...     optimizer.step()
>>> optimizer.param_groups[0]["lr"] == optimizer.rate
True

`LipschitzRate` computes the rate of an optimizer of torch's own: SGD, Adam, AdamW, RMSprop.
"""
from ._driver import LipschitzRate
from ._loss import BinaryCrossEntropy, CrossEntropy, Loss, SquaredError
from ._optimizers import AdaMo, AdaptiveRMSprop, AutoAdam, LipschitzSGD
from ._options import RateOptions
from ._tap import find_head

__all__ = [
    "AdaMo",
    "AdaptiveRMSprop",
    "AutoAdam",
    "BinaryCrossEntropy",
    "CrossEntropy",
    "LipschitzRate",
    "LipschitzSGD",
    "Loss",
    "RateOptions",
    "SquaredError",
    "find_head",
]
