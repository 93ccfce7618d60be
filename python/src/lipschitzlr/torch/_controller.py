"""The rate controller: sets the rate of each step of an optimizer by a rule, fed with what the tap on the network's last
layer measured."""
from __future__ import annotations

import weakref
from typing import Any, Callable, Iterable, Mapping, Sequence

import torch
import torch.distributed
from torch import Tensor, nn

from ._loss import CrossEntropy, Loss, Norms, checked_norm
from ._options import RateOptions
from ._rules import RULES, Measurement, Rule, saved_count, saved_flag, saved_number, schedule_factor, second_moment
from ._tap import Tap, find_head, group_device, has_group

Groups = Sequence[Mapping[str, Any]]
_SYMBOLS = ("K_z", "max_w", "G", "S")


def _loss_behind(head: nn.Linear) -> Loss:
    if head.out_features >= 2:
        return CrossEntropy(head.out_features)
    raise ValueError(
        "a head of one output does not tell its loss; set loss to BinaryCrossEntropy() or to SquaredError(...)"
    )


def _make_rule(options: RateOptions) -> Rule:
    if options.rule is None or options.rule not in RULES:
        raise ValueError(f"there is no rate rule {options.rule!r}; choose one of {', '.join(RULES)}")
    return RULES[options.rule](options)


class RateController:
    """Belongs to one optimizer, whose parameter groups it is given in every step."""

    def __init__(self, head: nn.Module, options: RateOptions, buffers: Iterable[Tensor] = ()) -> None:
        layer = find_head(head)
        self._options = options
        self._loss = options.loss or _loss_behind(layer)
        self._loss.constant(options.constant, Norms(1.0, 1.0, 1.0, 1))  # whether there is such a constant
        self._rule = _make_rule(options)
        self._buffers = list(buffers)
        for buffer in self._buffers:
            if not isinstance(buffer, Tensor):
                raise TypeError(f"buffers has {buffer!r}; it must be a list of tensors, such as model.buffers()")
        self._numbers = dict.fromkeys(_SYMBOLS, 0.0)
        self._guessed = False  # the rate rests on the first batch only
        self._batches_seen = 0  # what the tap had counted at the last step
        self._steps = 0
        self._rates: list[float] = []  # as set in each group
        self._tap = Tap()
        self._tap.keeps_batches = options.second_moment == "elementwise"
        handle = layer.register_forward_pre_hook(self._tap.observe)
        # The hook of an optimizer that nobody has any more would measure in vain.
        self._detach: Any = weakref.finalize(self, handle.remove)
        self._closed = False

    def __getstate__(self) -> dict[str, Any]:
        # A copy has the copied model's hook when both are copied together, and no hook otherwise.
        return {name: value for name, value in self.__dict__.items() if name != "_detach"}

    def close(self) -> None:
        """Takes the tap off the head."""
        self._closed = True
        if hasattr(self, "_detach"):
            self._detach()

    @property
    def options(self) -> RateOptions:
        return self._rule.options

    @property
    def constants(self) -> dict[str, float]:
        return dict(self._numbers)

    @property
    def steps(self) -> int:
        return self._steps

    def rate(self) -> float:
        """Of the current step, decay and schedule included."""
        if not self._rule.has_rate():
            raise RuntimeError("there is no rate before the first step: it is computed from the first batch")
        options = self._options
        return (
            self._rule.rate_at(self._steps)
            * schedule_factor(options.schedule, self._steps, options.schedule_steps)
            * options.factor
        )

    def begin_step(self, groups: Groups) -> None:
        """After the forward pass: feeds the rule when it is due, and sets the rate of every group."""
        if self._closed:
            raise RuntimeError("step() after close(): the head is measured no more")
        self._check_rates(groups)
        self._tap.collect(self._options.distributed)
        if self._tap.batches == self._batches_seen:
            raise RuntimeError(
                "no penultimate activations were measured since the last step; is this the head of the model that you "
                "train, is the model in training mode, and was there a forward pass before this step?"
            )
        self._batches_seen = self._tap.batches
        if self._per_step or not self._rule.has_rate():
            self._guessed = not self._per_step
            self._feed(self._tap.last, groups, [self._tap.last])
        rate, rates = self.rate(), []
        for group in groups:
            set_rate(group, rate)
            rates.append(float(group["lr"]))
        self._rates = rates

    def end_step(self, groups: Groups) -> None:
        """Counts the step: decay, schedule and epochs go by it."""
        self._steps += 1
        if self._options.steps_per_epoch > 0 and self._steps % self._options.steps_per_epoch == 0:
            # The fixed policy takes its constant from a whole epoch: what the first batch gave was only to begin with.
            if self._guessed and self._rule.options.fixed:
                self._rule = _make_rule(self._rule.options)
            self._guessed = False
            self._feed(self._tap.largest, groups, self._tap.kept or [self._tap.largest])
            self._tap.reset()
            self._batches_seen = 0

    def state_dict(self) -> dict[str, Any]:
        """As the C++ library saves it, in JSON's types. What describes the loss is the constructor's."""
        return {
            "rule": self._rule.state_dict(),
            "steps": self._steps,
            "guessed": self._guessed,
            "numbers": [self._numbers[symbol] for symbol in _SYMBOLS],
            "tap": self._tap.state_dict(),
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Raises ValueError, and changes nothing, unless it is what state_dict() of such a controller gave."""
        try:
            rule = Rule.from_state_dict(saved["rule"], self._rule.name, self._options)
            steps, guessed = saved_count(saved["steps"]), saved_flag(saved["guessed"])
            numbers = {symbol: saved_number(saved["numbers"][place]) for place, symbol in enumerate(_SYMBOLS)}
            last, largest, batches, kept = Tap.checked_state(saved["tap"])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"the saved state of the learning rate can't be used: {reason}") from error
        self._rule, self._steps, self._guessed, self._numbers = rule, steps, guessed, numbers
        self._options = rule.options
        self._tap.last, self._tap.largest, self._tap.batches, self._tap.kept = last, largest, batches, kept
        self._batches_seen = batches
        self._rates = []

    @property
    def _per_step(self) -> bool:
        return self._options.steps_per_epoch == 0

    def _check_rates(self, groups: Groups) -> None:
        for number, (group, rate) in enumerate(zip(groups, self._rates)):
            if float(group["lr"]) != rate:
                raise RuntimeError(
                    f"the rate of parameter group {number} was set to {float(group['lr'])} by something else; it comes "
                    f"from the rule {self._rule.name}; use the options schedule or decay instead of a scheduler"
                )

    def _feed(self, norms: Norms, groups: Groups, batches: Sequence[Norms]) -> None:
        if norms.rows == 0:
            raise RuntimeError("the batch of this step has no rows, so there is no rate; leave such batches out")
        options = self._options
        constant = self._loss.constant(options.constant, norms)
        # Only a penalty asks for the weights' norm, but a log wants it too: it costs little once per epoch, but not in
        # every step.
        skips = self._per_step and options.l2 == 0
        weight = self._numbers["max_w"] if skips else checked_norm("max ||w||", self._weight_norm(groups))
        bound = options.gradient_bound
        if bound is None:
            bound = constant if options.l2 == 0 else constant + options.l2 * weight
        factor = constant / norms.frobenius if norms.frobenius > 0 else 0.0
        moment = max(second_moment(options.second_moment, factor, batch, options.l2, weight) for batch in batches)
        self._rule.observe(Measurement(float(bound), moment, norms.frobenius))
        self._numbers = dict(zip(_SYMBOLS, (norms.frobenius, weight, float(bound), moment)))

    def _weight_norm(self, groups: Groups) -> float:
        tensors = self._buffers + [parameter for group in groups for parameter in group["params"]]
        norms = [tensor.detach().to(torch.float64).norm().cpu() for tensor in tensors if tensor.is_floating_point()]
        largest = torch.stack(norms).max() if norms else torch.zeros((), dtype=torch.float64)
        if self._options.distributed and has_group():
            # Buffers may differ between processes: that of rank 0 gives all the rate of the same bits.
            broadcast: Callable[[Tensor, int], Any] = torch.distributed.broadcast
            largest = largest.to(group_device())
            broadcast(largest, 0)
        return float(largest)


# A compiled or captured step of torch reads its rate from a tensor, which must stay the same object.
def set_rate(group: Any, rate: float) -> None:
    scaled = rate * group.get("scale", 1.0)
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(scaled)
    else:
        group["lr"] = scaled
