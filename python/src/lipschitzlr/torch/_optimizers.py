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
from typing import Any, Callable, ClassVar, Iterable, Mapping, Optional, Union

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ._controller import RateController
from ._loss import check_number, is_not_negative, is_positive
from ._options import RateOptions
from ._rules import saved_count

Parameters = Union[Iterable[Tensor], Iterable[dict[str, Any]]]
Closure = Optional[Callable[[], Any]]


def loss_of(closure: Closure) -> Any:
    if closure is None:
        return None
    if not callable(closure):
        raise TypeError(f"step() was given {closure!r}; a closure computes the loss and its gradients: step(closure)")
    with torch.enable_grad():
        return closure()


class LipschitzOptimizer(Optimizer):
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
        super().__init__(params, {"lr": 0.0, "weight_decay": weight_decay, "scale": scale})
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

    def add_param_group(self, param_group: Any) -> None:
        if not isinstance(param_group, dict) or "params" not in param_group:
            raise TypeError(f"a parameter group must be a dictionary with params, not {type(param_group).__name__}")
        if "lr" in param_group:
            raise ValueError("a parameter group has no lr of its own: the rate is computed; set its scale")
        decay, scale = (param_group.get(name, self.defaults[name]) for name in ("weight_decay", "scale"))
        check_number("weight_decay", decay, is_not_negative(decay), "a finite number, 0 or above")
        check_number("scale", scale, is_positive(scale), "a finite number above 0")
        super().add_param_group(param_group)

    def step(self, closure: Closure = None) -> Any:
        """One step. Parameters without a gradient are left alone. A closure is called first."""
        loss = loss_of(closure)
        with torch.no_grad():
            gradients = [
                (parameter, _checked_gradient(parameter), group)
                for group in self.param_groups
                for parameter in group["params"]
                if parameter.grad is not None and parameter.grad.numel() > 0
            ]
            self._controller.begin_step(self.param_groups)
            for parameter, gradient, group in gradients:
                if group["weight_decay"] != 0:
                    gradient = gradient.add(parameter, alpha=group["weight_decay"])
                state = self.state[parameter]
                state["step"] = state.get("step", 0) + 1
                self._update(parameter, gradient, state, group["lr"])
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

    def _check_saved(self, saved: dict[str, Any]) -> None:
        try:
            counts = [len(group["params"]) for group in self.param_groups]
            if [len(group["params"]) for group in saved["param_groups"]] != counts:
                raise ValueError("it has other parameter groups")
            for group in saved["param_groups"]:
                if not {"lr", "weight_decay", "scale"} <= group.keys():
                    raise ValueError("a parameter group lacks lr, weight_decay or scale")
            ours = [parameter for group in self.param_groups for parameter in group["params"]]
            theirs = [number for group in saved["param_groups"] for number in group["params"]]
            for parameter, number in zip(ours, theirs):
                state = saved["state"].get(number, {})
                if state:
                    saved_count(state["step"])
                for name, tensor in state.items():
                    if name != "step" and tensor.shape != parameter.shape:
                        raise ValueError("its tensors have other shapes than the parameters")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the saved state of the optimizer can't be used: {error}") from error

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], rate: float) -> None:
        raise NotImplementedError

    def _corrected(self, beta: float, state: dict[str, Any]) -> float:
        """By which an average is divided."""
        return 1 - math.pow(beta, state["step"]) if self._controller.options.bias_correction else 1.0


def _checked_gradient(parameter: Tensor) -> Tensor:
    gradient = parameter.grad
    assert gradient is not None
    if gradient.is_sparse:
        raise RuntimeError("sparse gradients are not supported; make the Embedding with sparse=False")
    if not parameter.is_floating_point():
        raise TypeError(f"parameters must be real floating-point numbers, not {parameter.dtype}")
    return gradient


def _zeros(state: dict[str, Any], name: str, like: Tensor) -> Tensor:
    """The tensor of that name; zeros at first."""
    if name not in state:
        state[name] = torch.zeros_like(like)
    tensor: Tensor = state[name]
    return tensor


def _average(state: dict[str, Any], value: Tensor, beta: float) -> Tensor:
    return _zeros(state, "average", value).mul_(beta).add_(value, alpha=1 - beta)


def _average_squares(state: dict[str, Any], value: Tensor, beta: float) -> Tensor:
    return _zeros(state, "squares", value).mul_(beta).addcmul_(value, value, value=1 - beta)


def _root(average: Tensor, divisor: float, epsilon: float) -> Tensor:
    return average.div(divisor).sqrt_().add_(epsilon)


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
        parameter.add_(_average(state, gradient, beta), alpha=-rate / self._corrected(beta, state))


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
        squares = _average_squares(state, gradient, options.beta)
        root = _root(squares, self._corrected(options.beta, state), options.epsilon)
        parameter.addcdiv_(gradient, root, value=-rate)


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
        average = _average(state, gradient, options.beta1)
        squares = _average_squares(state, gradient, options.beta2)
        root = _root(squares, self._corrected(options.beta2, state), options.epsilon)
        parameter.addcdiv_(average, root, value=-rate / self._corrected(options.beta1, state))
