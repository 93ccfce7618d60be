"""What all optimizers of this package have in common: parameter groups with a weight_decay and a scale, their checks, and
the averages that steps are made of."""
from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple, Optional, Union

import torch
from torch import Tensor
from torch.optim import Optimizer

from ._loss import check_number, is_not_negative, is_positive
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


class Step(NamedTuple):
    """Of one parameter."""

    parameter: Tensor
    gradient: Tensor  # without its weight decay
    group: dict[str, Any]

    def decayed(self) -> Tensor:
        """The gradient with its weight decay."""
        decay = self.group["weight_decay"]
        return self.gradient.add(self.parameter, alpha=decay) if decay != 0 else self.gradient


class GroupOptimizer(Optimizer):
    """An optimizer whose rate is computed, times the scale of each group."""

    def __init__(self, params: Parameters, weight_decay: float, scale: float) -> None:
        super().__init__(params, {"lr": 0.0, "weight_decay": weight_decay, "scale": scale})

    def add_param_group(self, param_group: Any) -> None:
        if not isinstance(param_group, dict) or "params" not in param_group:
            raise TypeError(f"a parameter group must be a dictionary with params, not {type(param_group).__name__}")
        if "lr" in param_group:
            raise ValueError("a parameter group has no lr of its own: the rate is computed; set its scale")
        decay, scale = (param_group.get(name, self.defaults[name]) for name in ("weight_decay", "scale"))
        check_number("weight_decay", decay, is_not_negative(decay), "a finite number, 0 or above")
        check_number("scale", scale, is_positive(scale), "a finite number above 0")
        super().add_param_group(param_group)

    def _parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def _steps(self) -> list[Step]:
        """Of the parameters that have a gradient; a frozen one has none."""
        return [
            Step(parameter, _checked_gradient(parameter), group)
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and parameter.grad.numel() > 0
        ]

    def _count(self, parameter: Tensor) -> dict[str, Any]:
        """The state of a parameter that takes a step."""
        state: dict[str, Any] = self.state[parameter]
        state["step"] = state.get("step", 0) + 1
        return state

    def _check_saved(self, saved: dict[str, Any]) -> None:
        try:
            counts = [len(group["params"]) for group in self.param_groups]
            if [len(group["params"]) for group in saved["param_groups"]] != counts:
                raise ValueError("it has other parameter groups")
            for group in saved["param_groups"]:
                if not {"lr", "weight_decay", "scale"} <= group.keys():
                    raise ValueError("a parameter group lacks lr, weight_decay or scale")
            theirs = [number for group in saved["param_groups"] for number in group["params"]]
            for parameter, number in zip(self._parameters(), theirs):
                state = saved["state"].get(number, {})
                if state:
                    saved_count(state["step"])
                for name, tensor in state.items():
                    if name != "step" and tensor.shape != parameter.shape:
                        raise ValueError("its tensors have other shapes than the parameters")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the saved state of the optimizer can't be used: {error}") from error


def _checked_gradient(parameter: Tensor) -> Tensor:
    gradient = parameter.grad
    assert gradient is not None
    if gradient.is_sparse:
        raise RuntimeError("sparse gradients are not supported; make the Embedding with sparse=False")
    if not parameter.is_floating_point():
        raise TypeError(f"parameters must be real floating-point numbers, not {parameter.dtype}")
    return gradient


def zeros(state: dict[str, Any], name: str, like: Tensor) -> Tensor:
    """The tensor of that name; zeros at first."""
    if name not in state:
        state[name] = torch.zeros_like(like)
    tensor: Tensor = state[name]
    return tensor


def average(state: dict[str, Any], value: Tensor, beta: float) -> Tensor:
    return zeros(state, "average", value).mul_(beta).add_(value, alpha=1 - beta)


def average_squares(state: dict[str, Any], value: Tensor, beta: float) -> Tensor:
    return zeros(state, "squares", value).mul_(beta).addcmul_(value, value, value=1 - beta)


def root(average: Tensor, divisor: float, epsilon: float) -> Tensor:
    return average.div(divisor).sqrt_().add_(epsilon)
