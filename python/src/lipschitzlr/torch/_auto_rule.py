"""The automatic rate of an optimizer whose steps are bounded per weight, as Adam's are: rate/auto.hpp of the C++ library
has the formulas and the reasons. All numbers are Python floats, in its order of operations: same bits.
"""
from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Mapping, NamedTuple, Optional

from ._rules import saved_count, saved_number

_FORMAT = "lipschitzlr automatic rate 1"
_UNKNOWN_HORIZON = 1000.0
_PAST = 0.9  # weight of the past in F, G, H
_START = 64.0  # the first rate is the closed form's divided by this
_FIRST_LOSSES = 20  # whose largest the guard compares with
_SETTLED = 5  # steps before the guard looks at averages
_MOST_GROWTH = 3  # of F over the first losses
_VANISHED = 1e-7  # share of the largest gradient
_FITTED = 0.1  # share of the first losses: a small gradient is then no fault
_VANISHED_STEPS = 3
_GUARD_STEPS = 10  # after calibration the gradient is looked at once in so many steps
_MOST_ROLLBACKS = 12
_ROUNDING = 1e-5  # of a gradient in single precision
_FAR_START = 5  # times the loss of the best constant prediction
_LEARNT = 0.98  # share of that loss: a mean below it is no accident of a batch


class AutoNorms(NamedTuple):
    """The 1-norms of a step's gradient, where wants_norms() asks for them."""

    gradient: float  # |g|_1 over all parameters
    matrices: float  # over those of two dimensions or more
    head_constant: Optional[float] = None  # h; None: there is no head to measure
    head_gradient: float = 0.0  # |g|_1 of the head's weights

    def finite(self) -> bool:
        return math.isfinite(self.gradient) and math.isfinite(self.head_constant or 0.0)


class Decision(NamedTuple):
    """What becomes of the weights in a step."""

    rate: float = 0.0  # of the step
    keep: bool = False  # keep a snapshot after the step; of those kept only the last two are needed
    back_to: str = ""  # "start" or "snapshot": put back what was kept there, and take no step
    reason: str = ""  # why the weights go back, to where and what changes: a sentence


@dataclass
class Averages:
    """What goes back with the weights."""

    step: int = 0  # of all, when it was kept
    count: int = 0  # t: steps since the start
    loss: float = 0.0
    gradient: float = 0.0
    head: float = 0.0
    base: float = 0.0  # b; 0: none yet
    estimates: int = 0
    mean_log: float = 0.0  # of the estimates q


@dataclass
class AutoNumbers:
    """For logs."""

    loss: float = 0.0  # F
    gradient: float = 0.0  # G
    head: float = 0.0  # H
    measured_rate: float = 0.0  # P, of the last calibrating step
    closed_form_rate: float = 0.0  # Hb, likewise
    rate: float = 0.0  # of the last step
    rollbacks: int = 0
    # Of the steps in which the head was measured: how often its gradient exceeded its constant, and the largest ratio.
    head_checks: int = 0
    head_excesses: int = 0
    largest_head_ratio: float = 0.0


@dataclass
class AutoRule:
    """total_steps: T, 0 when it is not known. weight_tensors: D, those of two dimensions or more."""

    total_steps: int = 0
    weight_tensors: int = 1
    numbers: AutoNumbers = field(default_factory=AutoNumbers)
    averages: Averages = field(default_factory=Averages)
    kept: list[Averages] = field(default_factory=list)  # the older first
    steps: int = 0  # those of rollbacks too
    calibrated_at: float = 0.0  # the step after which q is frozen
    cap: float = 1.0  # c
    first_loss: float = 0.0
    largest_first_loss: float = 0.0
    largest_gradient: float = 0.0
    vanished: int = 0  # in so many measured steps in a row

    def __post_init__(self) -> None:
        self.calibrated_at = self._calibration_steps()

    def wants_norms(self) -> bool:
        """Of the next step: while it calibrates, and in every tenth step after that."""
        return self._calibrates(self.steps + 1) or (self.steps + 1) % _GUARD_STEPS == 0

    def refusal(self, loss: float) -> str:
        """Why no step can be taken with this loss; empty: it can."""
        if self.total_steps != 0 and self.steps >= self.total_steps:
            return (
                f"all {self.total_steps} steps that total_steps announced are done, and the rate is 0; announce more of "
                "them, or none"
            )
        if loss < 0:
            return (
                f"the loss is {loss:.6g}, and the automatic rate needs one that is never negative; subtract its lower "
                "bound"
            )
        return ""

    def observe(self, loss: float, norms: Optional[AutoNorms]) -> Decision:
        """Of each step, before it is taken and after refusal(); norms when wants_norms()."""
        if self.steps == 0:
            self.kept = [replace(self.averages)]
        self.steps += 1
        finite = math.isfinite(loss) and (norms is None or norms.finite())
        if finite:
            self._average(loss, norms)
            self._grow(loss, norms)
        fault = self._fault(loss, finite)
        if fault and self.numbers.rollbacks < _MOST_ROLLBACKS:
            return self._go_back(finite, fault)
        if fault and not finite:
            raise RuntimeError(
                f"{fault} at step {self.steps}, after {_MOST_ROLLBACKS} rollbacks; look at the inputs: are they finite "
                "and scaled?"
            )
        left = 1.0 if self.total_steps == 0 else 1 - self.steps / self._horizon()
        self.numbers.rate = self.averages.base * left
        keep = self.averages.count % int(max(10, self._horizon() // 40)) == 0
        if keep:
            self.kept = [*self.kept[-1:], replace(self.averages, step=self.steps)]
        return Decision(self.numbers.rate, keep)

    def introduction(self) -> str:
        """After the first step: what was measured, and what follows from it."""
        loss, head, measured = self.averages.loss, self.averages.head, self.numbers.measured_rate
        text = (
            f"The loss begins at f0 = {loss:.4g} and changes by at most L_inf = |grad f|_1 = "
            f"{self.averages.gradient:.4g} per unit of step, so that a rate of f0 / (sqrt(pi/2) L_inf) = {measured:.3g} "
            "would bring it to 0 at its fastest. "
        )
        if head > 0:
            first = loss / (_START * self.weight_tensors * head)
            text += (
                f"The head's constant in closed form is {head:.4g}; over {self.weight_tensors} weight tensors, and with a "
                f"margin of {_START:g}, the first rate is {first:.3g}. "
            )
        else:
            text += f"With a margin of {_START:g} the first rate is {measured / _START:.3g}. "
        text += f"It grows towards the larger estimate, which is frozen after {self.calibrated_at:.0f} steps, "
        return text + (
            "and stays there." if self.total_steps == 0 else f"and falls linearly to 0 at step {self.total_steps}."
        )

    def certificate(self) -> str:
        """Of the head; empty when it was never measured."""
        numbers = self.numbers
        if numbers.head_checks == 0:
            return ""
        steps = f"{numbers.head_checks} measured steps"
        if numbers.head_excesses > 0:
            return (
                f"the head's gradient exceeded its constant in {numbers.head_excesses} of {steps}: this is a bug, please "
                "report it"
            )
        return (
            f"the head's gradient never exceeded its constant in {steps}; it came to {numbers.largest_head_ratio:.3g} of "
            "it at most"
        )

    def shortfall(self, reached: float, constant: float) -> str:
        """Why a training has not become better than the best constant prediction, and what helps; empty when it has."""
        if reached < constant:
            return ""
        text = f"the loss, {reached:.4g}, is not below {constant:.4g}, that of the best constant prediction: "
        mean = self.averages.loss
        if self.first_loss > _FAR_START * constant:
            return text + (
                f"it began at {self.first_loss:.4g}, because the outputs of the start are far too large, and "
                f"{self.steps} steps have not brought it down; scale the inputs to deviation 1, make the start smaller, or "
                "train longer"
            )
        if self.largest_first_loss > _FAR_START * constant:
            return text + (
                f"it rose from {self.first_loss:.4g} to {self.largest_first_loss:.4g} in the first steps, because from so "
                "small a start the loss hardly depends on the weights, and the rate was too large; scale the inputs to "
                "deviation 1, or make the start larger"
            )
        if mean < _LEARNT * constant:
            return text + (
                f"in training it is {mean:.4g}, so that what was learnt holds for these examples only; take more of them, "
                "fewer weights, or a penalty"
            )
        rollbacks = self.numbers.rollbacks
        back = f" (the weights went back {rollbacks} times)" if rollbacks > 0 else ""
        return text + (
            f"in training it is {mean:.4g} too, as if the outputs did not depend on the inputs{back}; scale the inputs to "
            "deviation 1, make the start larger, and see whether the targets depend on them"
        )

    def state_dict(self) -> dict[str, Any]:
        """All state but T and D, as the C++ library saves it."""
        return {
            "format": _FORMAT,
            "averages": asdict(self.averages),
            "kept": [asdict(kept) for kept in self.kept],
            "numbers": asdict(self.numbers),
            **{name: getattr(self, name) for name in _STATE},
        }

    def with_state(self, saved: Mapping[str, Any]) -> AutoRule:
        """A rule that continues there, with the T and D of this one. Raises ValueError, KeyError or TypeError."""
        if saved["format"] != _FORMAT:
            raise ValueError("it is of another kind")
        rule = replace(
            self,
            averages=_from_saved(Averages, saved["averages"]),
            kept=[_from_saved(Averages, kept) for kept in saved["kept"]],
            numbers=_from_saved(AutoNumbers, saved["numbers"]),
        )
        for name in _STATE:
            setattr(rule, name, _saved_as(getattr(rule, name), name, saved[name]))
        if len(rule.kept) > 2 or (rule.steps > 0 and not rule.kept) or not rule.cap > 0:
            raise ValueError("its numbers do not fit")
        return rule

    def _horizon(self) -> float:
        return float(self.total_steps) or _UNKNOWN_HORIZON

    def _calibration_steps(self) -> float:
        return max(min(0.1 * self._horizon(), 100.0), min(25.0, self._horizon() / 2))

    def _calibrates(self, step: int) -> bool:
        return step <= self.calibrated_at or self.averages.estimates == 0

    def _average(self, loss: float, norms: Optional[AutoNorms]) -> None:
        of, numbers = self.averages, self.numbers
        first = of.count == 0
        of.count += 1
        of.loss = loss if first else _mixed(of.loss, loss)
        if self.first_loss == 0:
            self.first_loss = loss
        if of.count <= _FIRST_LOSSES:
            self.largest_first_loss = max(self.largest_first_loss, loss)
        numbers.loss = of.loss
        if norms is None:
            return
        if self._calibrates(self.steps):
            of.gradient = norms.gradient if first else _mixed(of.gradient, norms.gradient)
            if norms.head_constant is not None:
                of.head = norms.head_constant if first else _mixed(of.head, norms.head_constant)
            numbers.gradient, numbers.head = of.gradient, of.head
        if norms.head_constant is not None:
            self._check_head(norms.head_gradient, norms.head_constant)
        self.largest_gradient = max(self.largest_gradient, of.gradient)
        vanished = norms.matrices <= _VANISHED * self.largest_gradient and of.loss > _FITTED * self.largest_first_loss
        self.vanished = self.vanished + 1 if vanished else 0

    def _check_head(self, gradient: float, constant: float) -> None:
        self.numbers.head_checks += 1
        if gradient > constant * (1 + _ROUNDING):
            self.numbers.head_excesses += 1
        if constant > 0:
            self.numbers.largest_head_ratio = max(self.numbers.largest_head_ratio, gradient / constant)

    def _grow(self, loss: float, norms: Optional[AutoNorms]) -> None:
        of, numbers = self.averages, self.numbers
        if norms is not None and self._calibrates(self.steps):
            numbers.measured_rate = _measured(of.loss, of.gradient)
            numbers.closed_form_rate = _quotient(of.loss, self.weight_tensors * of.head)
            estimate = max(numbers.measured_rate, numbers.closed_form_rate)
            if estimate == 0:
                return  # nothing to learn from this step
            of.estimates += 1
            of.mean_log += (math.log(estimate) - of.mean_log) / of.estimates
            if of.base == 0:
                head = _quotient(loss, self.weight_tensors * (norms.head_constant or 0.0))
                of.base = (head if head > 0 else _measured(loss, norms.gradient)) / _START
        else:
            estimate = math.exp(of.mean_log)
        growth = min(1.3, max(1.1, math.pow(100, 20 / self._horizon())))
        of.base = min(self.cap * estimate, growth * of.base)

    def _fault(self, loss: float, finite: bool) -> str:
        """What the guard sees; empty: nothing."""
        if not math.isfinite(loss):
            return f"the loss is {loss}"
        if not finite:
            return "the gradient is not finite"
        if self.averages.count <= _SETTLED:
            return ""
        if self.averages.loss > _MOST_GROWTH * self.largest_first_loss:
            return (
                f"the mean loss is {self.averages.loss:.4g}, more than {_MOST_GROWTH} times the largest of the first "
                f"{_FIRST_LOSSES}, {self.largest_first_loss:.4g}"
            )
        return "the gradient of the weights has vanished" if self.vanished >= _VANISHED_STEPS else ""

    def _go_back(self, finite: bool, fault: str) -> Decision:
        vanished = finite and self.averages.count > _SETTLED and self.vanished >= _VANISHED_STEPS
        early = not finite and self.averages.count < 0.2 * self._horizon()
        to_start = vanished or early
        self.averages = Averages() if to_start else replace(self.kept[0])
        if to_start:
            self.calibrated_at = self.steps + self._calibration_steps()
        self.cap /= 2
        self.averages.base /= 2
        self.vanished = 0
        self.numbers.rollbacks += 1
        self.numbers.rate = 0.0
        self.kept = [replace(self.averages)]
        where = "the start" if self.averages.step == 0 else f"step {self.averages.step}"
        reason = (
            f"step {self.steps}: {fault}; the weights go back to {where}, and the rate is at most {self.cap:g} of its "
            "estimate"
        )
        return Decision(back_to="start" if to_start else "snapshot", reason=reason)


_STATE = ("steps", "calibrated_at", "cap", "first_loss", "largest_first_loss", "largest_gradient", "vanished")


def _mixed(old: float, value: float) -> float:
    return _PAST * old + (1 - _PAST) * value


def _quotient(loss: float, constant: float) -> float:
    """An estimate without a denominator is none: 0."""
    ratio = loss / constant if constant > 0 else 0.0
    return ratio if math.isfinite(ratio) else 0.0


def _measured(loss: float, gradient: float) -> float:
    return _quotient(loss, math.sqrt(math.pi / 2) * gradient)


def _saved_as(like: Any, name: str, value: Any) -> Any:
    if isinstance(like, int):
        return saved_count(value)
    if name != "mean_log":
        return saved_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}")
    return float(value)


def _from_saved(kind: Any, saved: Mapping[str, Any]) -> Any:
    values = {one.name: _saved_as(one.default, one.name, saved[one.name]) for one in fields(kind)}
    return kind(**values)
