"""The paper's optimizers. There is no rate to set: each has a rule that computes it. With eta that rate and g the
gradient (plus weight_decay w, per group):

    LipschitzSGD      w <- w - eta g
    AdaMo             V <- beta V + (1-beta) g;       w <- w - eta V
    AdaptiveRMSprop   v <- beta v + (1-beta) g^2;     w <- w - eta g / (sqrt(v) + epsilon)
    AutoAdam          m, v as averages with beta1, beta2;    w <- w - eta m / (sqrt(v) + epsilon)

With bias_correction each average is divided by 1 - beta^t, t counting the steps of its parameter.
"""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar, Iterable, Mapping

import torch
from torch import Tensor, nn

from ._base import Closure, GroupOptimizer, Parameters, average, average_squares, loss_of, root
from ._controller import RateController
from ._options import RateOptions


class LipschitzOptimizer(GroupOptimizer):
    """The base of the paper's optimizers.

    params are parameters or groups of them, as torch's optimizers take; head is the last Linear of the network, or the
    network when that can be found in it. A group may have a weight_decay and a scale of its own, which multiplies its
    rate. buffers count in max ||w|| beside the parameters, as in the authors' code. options are those of RateOptions.

    After a step, param_groups[i]["lr"] and rate are the rate, and constants what it was computed from.
    """

    rule: ClassVar[str]

    def __init__(
        self,
        params: Parameters,
        head: nn.Module,
        *,
        weight_decay: float = 0.0,
        scale: float = 1.0,
        buffers: Iterable[Tensor] = (),
        **options: Any,
    ) -> None:
        rate_options = RateOptions.from_keywords(options)
        super().__init__(params, weight_decay, scale)
        self._controller = RateController(head, replace(rate_options, rule=rate_options.rule or self.rule), buffers)

    @property
    def rate(self) -> float:
        """The rate of the current step, before a group's scale."""
        return self._controller.rate()

    @property
    def constants(self) -> dict[str, float]:
        """K_z, max_w, G and S of the latest observation; max_w is measured once per epoch or with l2 only."""
        return self._controller.constants

    @property
    def steps(self) -> int:
        return self._controller.steps

    def close(self) -> None:
        """Takes the measuring hook off the head, for example before torch.jit.script; no step can follow."""
        self._controller.close()

    def step(self, closure: Closure = None) -> Any:
        """One step. Parameters without a gradient are left alone. A closure is called first."""
        loss = loss_of(closure)
        with torch.no_grad():
            steps = self._steps()
            self._controller.begin_step(self.param_groups)
            for step in steps:
                self._update(step.parameter, step.decayed(), self._count(step.parameter), step.group["lr"])
            self._controller.end_step(self.param_groups)
        return loss

    def state_dict(self) -> dict[str, Any]:
        """As torch's, and under "rate" all that the next rate depends on: a run that loads it continues bit for bit."""
        return {**super().state_dict(), "rate": self._controller.state_dict()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Raises ValueError, and changes nothing, unless it is the state of such an optimizer of such parameters."""
        if not isinstance(state_dict, Mapping) or not {"state", "param_groups", "rate"} <= state_dict.keys():
            raise ValueError(f"the saved state can't be used: it is not that of {type(self).__name__}")
        rest = {"state": state_dict["state"], "param_groups": state_dict["param_groups"]}
        self._check_saved(rest)
        self._controller.load_state_dict(state_dict["rate"])
        super().load_state_dict(rest)

    def __getstate__(self) -> dict[str, Any]:
        # torch's own has its own three attributes only; its type stubs do not mention it.
        return {**getattr(super(), "__getstate__")(), "_controller": self._controller}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], rate: float) -> None:
        raise NotImplementedError

    def _corrected(self, beta: float, state: dict[str, Any]) -> float:
        """By which an average is divided."""
        return 1 - math.pow(beta, state["step"]) if self._controller.options.bias_correction else 1.0


class LipschitzSGD(LipschitzOptimizer):
    """Gradient descent with the rate 1/G.

    >>> model = nn.Linear(4, 3)
    >>> optimizer = LipschitzSGD(model.parameters(), model)
    >>> nn.functional.cross_entropy(model(torch.ones(6, 4)), torch.arange(6) % 3).backward()
    >>> optimizer.step()
    >>> round(optimizer.constants["G"], 4)  # (k-1)/(k m) ||A||_F = 2/18 sqrt(24)
    0.5443
    >>> optimizer.param_groups[0]["lr"] == 1 / optimizer.constants["G"]
    True
    """

    rule = "sgd"

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], rate: float) -> None:
        parameter.add_(gradient, alpha=-rate)


class AdaMo(LipschitzOptimizer):
    """Momentum as an average of gradients, with the rate 1/K, K the average of G (paper, algorithm 1).

    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> AdaMo(model.parameters(), model, beta=0.95, weight_decay=1e-4).param_groups[0]["weight_decay"]
    0.0001
    """

    rule = "adamo"

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], rate: float) -> None:
        beta = self._controller.options.beta
        parameter.add_(average(state, gradient, beta), alpha=-rate / self._corrected(beta, state))


class AdaptiveRMSprop(LipschitzOptimizer):
    """RMSprop with the rate (sqrt(K) + epsilon)/G, K the average of S (paper, algorithm 2).

    >>> model = nn.Linear(4, 1)
    >>> optimizer = AdaptiveRMSprop(model.parameters(), model)
    Traceback (most recent call last):
    ValueError: a head of one output does not tell its loss; set loss to BinaryCrossEntropy() or to SquaredError(...)
    """

    rule = "rmsprop"

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], rate: float) -> None:
        options = self._controller.options
        squares = average_squares(state, gradient, options.beta)
        divisor = root(squares, self._corrected(options.beta, state), options.epsilon)
        parameter.addcdiv_(gradient, divisor, value=-rate)


class AutoAdam(LipschitzOptimizer):
    """Adam with the rate (sqrt(K2) + epsilon)/K1, K1 and K2 the averages of G and S (paper, algorithm 3).

    >>> model = nn.Linear(4, 3)
    >>> optimizer = AutoAdam(model.parameters(), model, bias_correction=True)
    >>> optimizer.step()
    Traceback (most recent call last):
    RuntimeError: no penultimate activations were measured since the last step; is this the head of the model that you \
train, is the model in training mode, and was there a forward pass before this step?
    """

    rule = "auto-adam"

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], rate: float) -> None:
        options = self._controller.options
        momentum = average(state, gradient, options.beta1)
        squares = average_squares(state, gradient, options.beta2)
        divisor = root(squares, self._corrected(options.beta2, state), options.epsilon)
        parameter.addcdiv_(momentum, divisor, value=-rate / self._corrected(options.beta1, state))
