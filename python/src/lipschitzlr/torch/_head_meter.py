"""The constant of a network's last layer in closed form: h = sum_i |dz_i|_1 |a_i|_1, with a_i what the layer receives in
row i and dz_i the gradient of the loss at its output. The gradient of its weights is a sum of outer products, so that
|df/dW|_1 <= h always. Rows are examples, or the places of sequences.
"""
from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import torch
from torch import Tensor, nn

from ._tap import not_compiled

_LEAST_LOSS_SCALE = 16.0
_SAME = 0.03  # how far rounding in half precision takes a ratio from 1 or from a power of 2
_LARGEST_CLIPPING = 1024.0  # beyond that it is GradScaler's factor times one of clipping, and nobody knows which


class HeadReading(NamedTuple):
    """Of all passes since the last reading; floats, which can be summed over processes."""

    forward: float = 0.0  # passes in training mode
    measured: float = 0.0  # of these
    backward: float = 0.0  # of the measured ones
    constant: float = 0.0  # h
    scaled_product: float = 0.0  # of the probe of the gradient in the backward passes with the one of W.grad
    probe_square: float = 0.0  # of the probe of W.grad

    def factors(self) -> tuple[float, float]:
        """By which GradScaler multiplied the loss before the backward pass and divided the gradients after it, a power
        of 2; and by which clipping divided the gradients. Tied weights, which get a gradient from elsewhere too, make
        the ratio smaller than 1."""
        ratio = self.scaled_product / self.probe_square if self.probe_square > 0 else 1.0
        if not math.isfinite(ratio) or ratio <= 1 + _SAME:
            return 1.0, 1.0
        power = 2.0 ** round(math.log2(ratio))
        if ratio >= _LEAST_LOSS_SCALE and abs(ratio / power - 1) <= _SAME:
            return power, 1.0
        if ratio > _LARGEST_CLIPPING:
            raise RuntimeError(
                "the gradients were changed between backward() and step() by more than clipping or a GradScaler alone "
                "does; leave clipping out: the steps of Auto are bounded without it"
            )
        return 1.0, ratio


class HeadMeter:
    """observe() is a forward hook of the layer."""

    def __init__(self, layer: nn.Linear) -> None:
        self.weight = layer.weight
        self.wanted = True
        # Its product with a gradient tells by how much that was scaled; signs at random, so that no activations with a
        # mean of 0 cancel it.
        signs = torch.randint(2, (layer.in_features,), generator=torch.Generator().manual_seed(1))
        self._probe = (2 * signs - 1).to(torch.float64)
        self._forward = self._measured = 0
        self._backward: list[tuple[Tensor, Tensor]] = []  # h and the probe of the gradient, of each pass

    def observe(self, layer: nn.Module, inputs: tuple[Any, ...], outputs: Any) -> None:
        if not layer.training:
            return
        self._forward += 1
        if self.wanted and isinstance(outputs, Tensor) and outputs.requires_grad:
            self._measured += 1
            self._measure(inputs[0], outputs)

    def forget(self) -> None:
        """The gradients of the passes so far are gone."""
        self._forward = self._measured = 0
        self._backward = []

    def take(self) -> HeadReading:
        constant = scaled_product = probe_square = 0.0
        gradient = self.weight.grad
        if self._backward:
            constant = sum(float(one) for one, _ in self._backward)
        if self._backward and gradient is not None:
            now = gradient.to(torch.float64).mv(self._probe.to(gradient.device))
            then = torch.stack([probe.to(now.device) for _, probe in self._backward]).sum(0)
            scaled_product, probe_square = float(then.dot(now)), float(now.dot(now))
        reading = HeadReading(
            self._forward, self._measured, len(self._backward), constant, scaled_product, probe_square
        )
        self.forget()
        return reading

    @not_compiled
    def _measure(self, activations: Tensor, outputs: Tensor) -> None:
        with torch.no_grad():
            rows = activations.detach().to(torch.float64).reshape(-1, activations.shape[-1])
            norms, probes = rows.abs().sum(1), rows.mv(self._probe.to(rows.device))

        def measure(gradient: Tensor) -> None:
            with torch.no_grad():
                dz = gradient.detach().to(torch.float64).reshape(-1, gradient.shape[-1])
                self._backward.append((dz.abs().sum(1).dot(norms), dz.t().mv(probes)))

        hook: Callable[..., Any] = outputs.register_hook
        hook(measure)
