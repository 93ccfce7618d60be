"""The automatic optimizer: its rate is computed, grown, frozen and brought to 0 by a rule (_auto_rule.py), its direction
is Adam's with Nesterov's momentum. With t the steps of a parameter and g its gradient with weight decay:

    m <- 0.9 m + 0.1 g;   v <- 0.995 v + 0.005 g^2
    w <- w - rate (0.9 m / (1 - 0.9^(t+1)) + 0.1 g / (1 - 0.9^t)) / (sqrt(v / (1 - 0.995^t)) + 1e-8)

Beside it runs an average of the weights, a <- a + 9/(t+8) (w - a). When the guard of the rule sends the weights back, they,
their averages and the buffers of the model are restored from one of three copies: the start and the last two snapshots.
"""
from __future__ import annotations

import math
import numbers
import warnings
import weakref
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Union

import torch
import torch.distributed
from torch import Tensor, nn

from ._auto_rule import AutoNorms, AutoRule
from ._base import GroupOptimizer, Parameters, Step, average, average_squares, loss_of, root, zeros
from ._controller import set_rate
from ._head_meter import HeadMeter, HeadReading
from ._rules import saved_count
from ._tap import find_head, group_device, has_group

_BETA1, _BETA2, _EPSILON = 0.9, 0.995, 1e-8
_LATE = 8  # how much of the average is of late steps
_TENSORS = ("weights", "average", "squares")


class _KeptParameter(NamedTuple):
    weights: Tensor
    steps: int = 0
    average: Optional[Tensor] = None  # None without steps
    squares: Optional[Tensor] = None


class _Kept(NamedTuple):
    """All that goes back."""

    parameters: list[_KeptParameter]
    buffers: list[Tensor]


class Auto(GroupOptimizer):
    """Nothing to set: the rate is the loss divided by its Lipschitz constant in Adam's geometry (docs/auto.md).

    Give it the network, or parameters (or groups of them with a weight_decay and a scale of their own) and the network
    or its last Linear. Without a head only the measured constant counts, and there is no certificate. total_steps is the
    number of steps to come, at the last of which the rate is 0; without it the rate stays, and evaluation_weights() puts
    averaged weights in place. step() is told the loss. buffers go back with the weights: those of the network unless
    they are given.

    >>> _ = torch.manual_seed(1)
    >>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
    >>> optimizer = Auto(model, total_steps=100)
    >>> x, y = torch.randn(30, 2), torch.arange(30) % 3
    >>> for step in range(100):
    ...     optimizer.zero_grad()
    ...     loss = nn.functional.cross_entropy(model(x), y)
    ...     loss.backward()
    ...     _ = optimizer.step(loss)
    >>> bool(loss < 0.7), optimizer.rate
    (True, 0.0)
    >>> optimizer.certificate.split(";")[0]
    "the head's gradient never exceeded its constant in 33 measured steps"
    """

    def __init__(
        self,
        params: Union[nn.Module, Parameters],
        head: Optional[nn.Module] = None,
        *,
        total_steps: int = 0,
        weight_decay: float = 0.0,
        scale: float = 1.0,
        buffers: Optional[Iterable[Tensor]] = None,
        distributed: bool = True,
    ) -> None:
        if isinstance(total_steps, bool) or not isinstance(total_steps, int):
            raise TypeError(f"total_steps is {total_steps!r}; it must be a whole number")
        if total_steps < 0:
            raise ValueError(f"total_steps is {total_steps}; it must be 0 (not known) or above")
        if not isinstance(distributed, bool):
            raise TypeError(f"distributed is {distributed!r}; it must be True or False")
        network = params if isinstance(params, nn.Module) else head
        if head is None and isinstance(params, nn.Module):
            head = params
        layer = None if head is None else find_head(head)
        super().__init__(params.parameters() if isinstance(params, nn.Module) else params, weight_decay, scale)
        self._distributed = distributed
        self._network = network if buffers is None else None
        self._given_buffers = list(buffers or ())
        for buffer in self._given_buffers:
            if not isinstance(buffer, Tensor):
                raise TypeError(f"buffers has {buffer!r}; it must be a list of tensors, such as model.buffers()")
        self._rule = AutoRule(total_steps, self._weight_tensors())
        self._kept: list[_Kept] = []  # the start, then what the rule has kept, the older first
        self._remark = ""
        self._rates: list[float] = []  # as set in each group
        self._evaluates = self._closed = False
        self._meter: Optional[HeadMeter] = None
        if layer is not None:
            self._meter = HeadMeter(layer)
            handle = layer.register_forward_hook(self._meter.observe)
            self._detach: Any = weakref.finalize(self, handle.remove)

    @property
    def rate(self) -> float:
        """The rate of the last step, before a group's scale; 0 when the weights went back."""
        return self._rule.numbers.rate

    @property
    def constants(self) -> dict[str, float]:
        """The averages F of the loss, L_inf of the gradient's 1-norm and H of the head's constant, the estimates P and Hb of
        the rate, and how often weights went back: the names of the command line's records."""
        of = self._rule.numbers
        estimates = {"F": of.loss, "L_inf": of.gradient, "H": of.head, "P": of.measured_rate, "Hb": of.closed_form_rate}
        return {**estimates, "rollbacks": float(of.rollbacks)}

    @property
    def steps(self) -> int:
        """Calls of step(), those that sent the weights back too."""
        return self._rule.steps

    @property
    def remark(self) -> str:
        """A sentence about the last step, when there is something to say: what the first one measured, why weights went
        back."""
        return self._remark

    @property
    def certificate(self) -> str:
        """How often the gradient of the head exceeded its constant: never, or it is a bug. Empty without a head."""
        return self._rule.certificate()

    def shortfall(self, reached: float, constant: float) -> str:
        """Why a training has not become better than the best constant prediction, and what helps: from the loss that it has
        reached, on validation rows where there are any, and that of the constant. Empty when it is better."""
        return self._rule.shortfall(reached, constant)

    def close(self) -> None:
        """Takes the measuring hook off the head, for example before torch.jit.script; no step can follow."""
        self._closed = True
        if hasattr(self, "_detach"):
            self._detach()

    def add_param_group(self, param_group: Any) -> None:
        if getattr(self, "_kept", []):
            raise RuntimeError("parameters can't be added after the first step; make another Auto of all of them")
        super().add_param_group(param_group)
        if hasattr(self, "_rule"):
            self._rule.weight_tensors = self._weight_tensors()

    def zero_grad(self, set_to_none: bool = True) -> None:
        super().zero_grad(set_to_none=set_to_none)
        if self._meter is not None:
            self._meter.forget()

    def step(self, loss: Any = None) -> Any:
        """One step. loss: of this step, or a closure that computes it and its gradients. Parameters without a gradient are
        left alone. Raises RuntimeError when the loss is not finite after 12 rollbacks; each of them is a warning."""
        if callable(loss):
            loss = loss_of(loss)
        with torch.no_grad():
            value = _number(loss)
            steps = self._steps()
            reading = HeadReading() if self._meter is None else self._meter.take()
            value, norms = self._of_all(value, steps, reading, self._refusal(value, steps, reading))
            if not self._kept:
                self._kept = [self._now()] * 2  # nothing changes them
            decision = self._rule.observe(value, norms)
            first = self._rule.steps == 1 and not decision.reason
            self._remark = self._rule.introduction() if first else decision.reason
            if self._meter is not None:
                self._meter.wanted = self._rule.wants_norms()
            for group in self.param_groups:
                set_rate(group, decision.rate)
            self._rates = [float(group["lr"]) for group in self.param_groups]
            if decision.back_to:
                back = self._kept[0 if decision.back_to == "start" else 1]
                self._put_back(back)
                self._kept = [self._kept[0], back]
                warnings.warn(decision.reason, RuntimeWarning, stacklevel=3)
                return loss
            for step in steps:
                _update(step, self._count(step.parameter))
            if decision.keep:
                self._kept = [self._kept[0], self._kept[-1], self._now()]
        return loss

    @contextmanager
    def evaluation_weights(self, average: Optional[bool] = None) -> Iterator[None]:
        """In the block the averaged weights stand in the network; after it the trained ones, and the buffers, are back.
        average: whether to; None: when total_steps is not known. The statistics of batch norm belong to the trained
        weights: in the block torch.optim.swa_utils.update_bn(batches, model) computes those of the average.

        >>> model = nn.Linear(4, 3)
        >>> optimizer = Auto(model)
        >>> with optimizer.evaluation_weights():
        ...     model(torch.ones(1, 4)).shape
        torch.Size([1, 3])
        """
        if self._evaluates:
            raise RuntimeError("evaluation_weights() inside of evaluation_weights()")
        use = self._rule.total_steps == 0 if average is None else average
        averaged = [one for one in self._parameters() if use and "mean" in self.state.get(one, {})]
        trained = [tensor.detach().clone() for tensor in [*averaged, *self._buffers()]]
        with torch.no_grad():
            for parameter in averaged:
                parameter.copy_(self.state[parameter]["mean"])
        self._evaluates = True
        try:
            yield
        finally:
            self._evaluates = False
            with torch.no_grad():
                for tensor, values in zip([*averaged, *self._buffers()], trained):
                    tensor.copy_(values)

    def state_dict(self) -> dict[str, Any]:
        """As torch's, and under "rate" the rule and the copies that weights can go back to: a run that loads it continues
        bit for bit. With another total_steps it continues along the new line to 0."""
        kept = [
            {
                "parameters": [{name: value for name, value in one._asdict().items() if value is not None} for one in p],
                "buffers": list(buffers),
            }
            for p, buffers in self._kept
        ]
        return {**super().state_dict(), "rate": {"rule": self._rule.state_dict(), "kept": kept}}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Raises ValueError, and changes nothing, unless it is the state of an Auto of such parameters."""
        if not isinstance(state_dict, Mapping) or not {"state", "param_groups", "rate"} <= state_dict.keys():
            raise ValueError(f"the saved state can't be used: it is not that of {type(self).__name__}")
        rest = {"state": state_dict["state"], "param_groups": state_dict["param_groups"]}
        self._check_saved(rest)
        try:
            rule = self._rule.with_state(state_dict["rate"]["rule"])
            kept = [self._kept_from(saved) for saved in state_dict["rate"]["kept"]]
            if len(kept) > 3 or len(kept) == 1 or (not kept) != (rule.steps == 0):
                raise ValueError("its copies of the weights do not fit")
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"the saved state of the automatic rate can't be used: {reason}") from error
        super().load_state_dict(rest)
        self._rule, self._kept, self._rates, self._remark = rule, kept, [], ""
        if self._meter is not None:
            self._meter.forget()
            self._meter.wanted = rule.wants_norms()

    def __getstate__(self) -> dict[str, Any]:
        # torch's own has its own three attributes only. A copy has the copied model's hook when both are copied together,
        # and no hook otherwise.
        own = {name: value for name, value in self.__dict__.items() if name.startswith("_") and name != "_detach"}
        return {**own, **getattr(super(), "__getstate__")()}

    def _refusal(self, value: float, steps: list[Step], head: HeadReading) -> Optional[Exception]:
        """Why this process can't take a step."""
        if self._closed:
            return RuntimeError("step() after close(): the head is measured no more")
        if self._evaluates:
            return RuntimeError("step() inside of evaluation_weights(): the trained weights are not in place")
        for number, (group, rate) in enumerate(zip(self.param_groups, self._rates)):
            if float(group["lr"]) != rate:
                return RuntimeError(
                    f"the rate of parameter group {number} was set to {float(group['lr'])} by something else; it is "
                    "computed: take the scheduler out, and give total_steps for a rate that ends at 0"
                )
        refusal = self._rule.refusal(value)
        if refusal:
            return ValueError(refusal) if value < 0 else RuntimeError(refusal)
        if not steps or (head.measured > 0 and head.backward == 0):
            return RuntimeError(
                "there was no backward pass since the last step; call loss.backward() before step(loss)"
            )
        if self._meter is not None and head.forward == 0:
            return RuntimeError(
                "there was no forward pass in training mode since the last step; is this the head of the model that you "
                "train, and is the model in training mode?"
            )
        return None

    def _of_all(
        self, loss: float, steps: list[Step], head: HeadReading, refusal: Optional[Exception]
    ) -> tuple[float, Optional[AutoNorms]]:
        """The loss and the norms of the whole batch: the gradients are already those of all processes, which average them,
        the loss and the head's constant are means over the processes. Raises in all of them when one can't go on."""
        wanted = self._rule.wants_norms() and refusal is None
        norms = self._gradient_norms(steps) if wanted else (0.0, 0.0, 0.0)
        if self._distributed and has_group():
            size = torch.distributed.get_world_size()
            sums = _reduced([loss, *head, 0.0 if refusal is None else 1.0], torch.distributed.ReduceOp.SUM)
            if sums[-1] > 0:
                raise refusal or RuntimeError("another process can't take this step; its error says why")
            loss, head = sums[0] / size, HeadReading(*sums[1:-1])
            head = head._replace(constant=head.constant / size)
            if wanted:
                finite = [norm if math.isfinite(norm) else math.inf for norm in norms]
                norms = tuple(_reduced(finite, torch.distributed.ReduceOp.MAX))  # type: ignore[assignment]
        if refusal is not None:
            raise refusal
        if not wanted:
            return loss, None
        loss_scale, clipping = head.factors()
        constant = head.constant / loss_scale if head.backward > 0 else None
        # The constant of the loss is that of its gradient, not of a clipped one.
        return loss, AutoNorms(norms[0] * clipping, norms[1] * clipping, constant, norms[2])

    def _weight_tensors(self) -> int:
        return max(1, sum(one.requires_grad and one.dim() >= 2 for one in self._parameters()))

    def _buffers(self) -> list[Tensor]:
        """Those that the network has now: torch.optim.swa_utils.update_bn replaces them."""
        return self._given_buffers if self._network is None else list(self._network.buffers())

    def _gradient_norms(self, steps: list[Step]) -> tuple[float, float, float]:
        """|g|_1 of all parameters, of those of two dimensions or more, and of the head's weights."""
        sums = torch.stack([step.gradient.to(torch.float64).abs().sum().cpu() for step in steps]).tolist()
        matrices = sum(one for one, step in zip(sums, steps) if step.parameter.dim() >= 2)
        weight = None if self._meter is None else self._meter.weight
        head = sum(one for one, step in zip(sums, steps) if step.parameter is weight)
        return sum(sums), matrices, head

    def _now(self) -> _Kept:
        parameters = []
        for parameter in self._parameters():
            state, weights = self.state.get(parameter, {}), parameter.detach().clone()
            if state.get("step", 0) > 0:
                copies = state["average"].clone(), state["squares"].clone()
                parameters.append(_KeptParameter(weights, state["step"], *copies))
            else:
                parameters.append(_KeptParameter(weights))
        return _Kept(parameters, [buffer.clone() for buffer in self._buffers()])

    def _put_back(self, kept: _Kept) -> None:
        for parameter, one in zip(self._parameters(), kept.parameters):
            parameter.copy_(one.weights)
            self.state.pop(parameter, None)
            if one.average is not None and one.squares is not None:
                self.state[parameter] = {
                    "step": one.steps,
                    "average": one.average.clone(),
                    "squares": one.squares.clone(),
                    "mean": one.weights.clone(),
                }
        for buffer, values in zip(self._buffers(), kept.buffers):
            buffer.copy_(values)

    def _kept_from(self, saved: Mapping[str, Any]) -> _Kept:
        ours = self._parameters()
        if len(saved["parameters"]) != len(ours) or len(saved["buffers"]) != len(self._buffers()):
            raise ValueError("it has another number of parameters or buffers")
        parameters = []
        for parameter, one in zip(ours, saved["parameters"]):
            steps = saved_count(one["steps"])
            names = _TENSORS if steps > 0 else _TENSORS[:1]
            parameters.append(_KeptParameter(steps=steps, **{name: _copy(one[name], parameter) for name in names}))
        return _Kept(parameters, [_copy(one, like) for one, like in zip(saved["buffers"], self._buffers())])


def _number(loss: Any) -> float:
    if isinstance(loss, Tensor) and loss.numel() == 1:
        return float(loss.detach())
    if isinstance(loss, numbers.Real) and not isinstance(loss, bool):
        return float(loss)
    given = "" if loss is None else f", not {type(loss).__name__}"
    raise TypeError(
        f"Auto needs the loss of every step, a number{given}: call step(loss), or give step() a closure that returns it"
    )


def _update(step: Step, state: dict[str, Any]) -> None:
    parameter, gradient, t = step.parameter, step.decayed(), state["step"]
    momentum = average(state, gradient, _BETA1)
    squares = average_squares(state, gradient, _BETA2)
    ahead = (momentum * (_BETA1 / (1 - math.pow(_BETA1, t + 1)))).add_(
        gradient, alpha=(1 - _BETA1) / (1 - math.pow(_BETA1, t))
    )
    parameter.addcdiv_(ahead, root(squares, 1 - math.pow(_BETA2, t), _EPSILON), value=-step.group["lr"])
    zeros(state, "mean", parameter).lerp_(parameter.detach(), (1 + _LATE) / (t + _LATE))


def _reduced(numbers: list[float], operation: Any) -> list[float]:
    all_reduce: Callable[[Tensor, Any], Any] = torch.distributed.all_reduce
    values = torch.tensor(numbers, dtype=torch.float64, device=group_device())
    all_reduce(values, operation)
    result: list[float] = values.tolist()
    return result


def _copy(saved: Any, like: Tensor) -> Tensor:
    """On the device and in the memory format of the other, of which the last bits depend."""
    if saved.shape != like.shape:
        raise ValueError("its tensors have other shapes than the parameters")
    return torch.empty_like(like, requires_grad=False).copy_(saved.detach())
