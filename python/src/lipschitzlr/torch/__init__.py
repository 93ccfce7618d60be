"""Computed learning rates for any PyTorch loop, from the Lipschitz constant of the loss. Nothing is set:

>>> import torch
>>> from lipschitzlr.torch import Auto
>>> _ = torch.manual_seed(1)
>>> model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
>>> optimizer = Auto(model, total_steps=3)
>>> x, y = torch.randn(30, 2), torch.arange(30) % 3
>>> for step in range(3):
...     optimizer.zero_grad()
...     loss = torch.nn.functional.cross_entropy(model(x), y)
...     loss.backward()
...     _ = optimizer.step(loss)
>>> optimizer.param_groups[0]["lr"] == optimizer.rate
True

`LipschitzSGD`, `AdaMo`, `AdaptiveRMSprop` and `AutoAdam` are the paper's, with rate = 1/L and L from what the last layer
receives; `LipschitzRate` computes the rate of an optimizer of torch's own: SGD, Adam, AdamW, RMSprop.
"""
from ._auto import Auto
from ._driver import LipschitzRate
from ._loss import BinaryCrossEntropy, CrossEntropy, Loss, SquaredError
from ._optimizers import AdaMo, AdaptiveRMSprop, AutoAdam, LipschitzSGD
from ._options import RateOptions
from ._tap import find_head

__all__ = [
    "AdaMo",
    "AdaptiveRMSprop",
    "Auto",
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
