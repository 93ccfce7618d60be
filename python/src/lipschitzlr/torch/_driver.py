"""A computed rate for an optimizer of torch's own. The rule comes from the optimizer, and so do the weights of the past
and epsilon:

    SGD                     sgd
    SGD with momentum mu    adamo, with the rate times (1 - mu) / (1 - dampening): torch's velocity is a sum, AdaMo's an
                            average. The steps are then AdaMo's.
    Adam, AdamW             auto-adam
    RMSprop                 rmsprop, with momentum mu the rate times 1 - mu
"""
from __future__ import annotations

from dataclasses import replace
from types import MethodType
from typing import Any, Iterable, Mapping

from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop

from ._base import Closure, GroupOptimizer, loss_of
from ._controller import RateController
from ._options import RateOptions


def _of_all_groups(optimizer: Optimizer, name: str) -> Any:
    values = [group[name] for group in optimizer.param_groups]
    if any(value != values[0] for value in values):
        raise ValueError(f"the parameter groups have different {name}, and all get one rate; give them the same {name}")
    return values[0]


def _rule_of(optimizer: Optimizer) -> dict[str, Any]:
    """The options that follow from the optimizer."""
    if isinstance(optimizer, SGD):
        momentum = _of_all_groups(optimizer, "momentum")
        if momentum == 0:
            return {"rule": "sgd", "beta": 0.0}
        dampening = _of_all_groups(optimizer, "dampening")
        if not dampening < 1:
            raise ValueError(f"dampening is {dampening}; a computed rate needs one below 1")
        return {"rule": "adamo", "beta": momentum, "factor": (1 - momentum) / (1 - dampening)}
    if isinstance(optimizer, (Adam, AdamW)):
        beta1, beta2 = _of_all_groups(optimizer, "betas")
        epsilon = _of_all_groups(optimizer, "eps")
        return {"rule": "auto-adam", "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "bias_correction": True}
    if isinstance(optimizer, RMSprop):
        alpha, epsilon = _of_all_groups(optimizer, "alpha"), _of_all_groups(optimizer, "eps")
        momentum = _of_all_groups(optimizer, "momentum")
        return {"rule": "rmsprop", "beta": alpha, "epsilon": epsilon, "bias_correction": False, "factor": 1 - momentum}
    raise ValueError(
        f"which rule goes with {type(optimizer).__name__} is not known; name one: rule='sgd', 'adamo', 'rmsprop' or "
        "'auto-adam'"
    )


def _options_for(optimizer: Optimizer, given: Mapping[str, Any]) -> RateOptions:
    options = RateOptions.from_keywords(given)
    if options.rule is not None:
        return options
    derived = _rule_of(optimizer)
    for name in ("beta", "beta1", "beta2", "epsilon", "bias_correction"):
        if name in given:
            raise TypeError(f"{name} comes from {type(optimizer).__name__}; set it there, or name a rule")
    return replace(options, **{**derived, "factor": options.factor * derived.get("factor", 1.0)})


class LipschitzRate:
    """Sets the rate of every step of an optimizer, whose own lr no longer matters.

    From then on optimizer.step() computes the rate first, so there is nothing to forget; step() of this object is the
    same. All groups get the same rate. head and options are as for the paper's optimizers.

    >>> import torch
    >>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
    >>> optimizer = torch.optim.AdamW(model.parameters())
    >>> rate = LipschitzRate(optimizer, model)
    >>> nn.functional.cross_entropy(model(torch.ones(6, 2)), torch.arange(6) % 3).backward()
    >>> optimizer.step()
    >>> optimizer.param_groups[0]["lr"] == rate.rate
    True
    """

    def __init__(self, optimizer: Optimizer, head: nn.Module, *, buffers: Iterable[Tensor] = (), **options: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"the optimizer is {optimizer!r}; it must be one of torch.optim")
        if isinstance(optimizer, GroupOptimizer):
            raise TypeError(f"{type(optimizer).__name__} sets its rate itself; call its step()")
        if hasattr(optimizer, "_lipschitz_rate"):
            raise ValueError("this optimizer has a LipschitzRate already; close() that one first")
        self._controller = RateController(head, _options_for(optimizer, options), buffers)
        self.optimizer = optimizer
        self._drive()

    @property
    def rate(self) -> float:
        """The rate of the current step."""
        return self._controller.rate()

    @property
    def constants(self) -> dict[str, float]:
        """K_z, max_w, G and S of the latest observation; max_w is measured once per epoch or with l2 only."""
        return self._controller.constants

    @property
    def options(self) -> RateOptions:
        return self._controller.options

    @property
    def steps(self) -> int:
        return self._controller.steps

    @property
    def param_groups(self) -> Any:
        return self.optimizer.param_groups

    def step(self, closure: Closure = None) -> Any:
        """The rate, then the optimizer's step. A closure is called first."""
        if not hasattr(self.optimizer, "_lipschitz_rate"):
            raise RuntimeError("step() after close(): the optimizer is driven no more")
        return self.optimizer.step(closure)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.optimizer.zero_grad(set_to_none=set_to_none)

    def close(self) -> None:
        """Gives the optimizer its own step() back, with the rate it had last, and takes the hook off the head."""
        self._controller.close()
        if hasattr(self.optimizer, "_lipschitz_rate"):
            del self.optimizer._lipschitz_rate
            setattr(self.optimizer, "step", self._undriven_step)

    def state_dict(self) -> dict[str, Any]:
        """All that the next rate depends on, beside what the optimizer's own state_dict() has."""
        return self._controller.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """After the optimizer's own. Raises ValueError, and changes nothing, unless state_dict() gave it."""
        self._controller.load_state_dict(state_dict)

    def __getstate__(self) -> dict[str, Any]:
        return {"_controller": self._controller, "optimizer": self.optimizer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._drive()

    def _drive(self) -> None:
        self._undriven_step = self.optimizer.step
        setattr(self.optimizer, "_lipschitz_rate", self)

        def step(optimizer: Optimizer, closure: Closure = None) -> Any:
            loss = loss_of(closure)
            self._controller.begin_step(optimizer.param_groups)
            self._undriven_step()
            self._controller.end_step(optimizer.param_groups)
            return loss

        # A bound method, as torch's schedulers and GradScaler expect of an optimizer.
        setattr(self.optimizer, "step", MethodType(step, self.optimizer))
