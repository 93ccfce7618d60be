"""The options of a computed rate, declared once for all optimizers and LipschitzRate."""
from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Callable, Mapping, Optional

from ._loss import KINDS, Loss, check_number, is_not_negative, is_positive

SECOND_MOMENTS = ("elementwise", "full-square", "without-weight-square", "coded", "coded-full-square")
SCHEDULES = ("constant", "cosine", "step")

# What belongs to the rule and is saved with its state.
RULE_OPTIONS = (
    "beta", "beta1", "beta2", "epsilon", "bias_correction", "decay", "first_rate", "fixed", "coded_denominator",
    "initial_k1", "initial_k2", "hold_averages",
)  # fmt: skip


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < 1


_NUMBERS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("beta", "beta1", "beta2"), (_is_share, "at least 0 and below 1")),
    **dict.fromkeys(("epsilon", "decay", "l2"), (is_not_negative, "a finite number, 0 or above")),
    **dict.fromkeys(
        ("first_rate", "initial_k1", "initial_k2", "gradient_bound", "factor"), (is_positive, "a finite number above 0")
    ),
}
_FLAGS = ("bias_correction", "fixed", "coded_denominator", "hold_averages", "distributed")
_COUNTS = ("steps_per_epoch", "schedule_steps")
_CHOICES = {"constant": KINDS, "second_moment": SECOND_MOMENTS, "schedule": SCHEDULES}


@dataclass(frozen=True)
class RateOptions:
    """The keywords that every optimizer and LipschitzRate take, with their defaults.

    >>> RateOptions(beta=0.95, steps_per_epoch=100).beta
    0.95
    >>> RateOptions(beta=1.5)
    Traceback (most recent call last):
    ValueError: beta is 1.5; it must be at least 0 and below 1
    """

    rule: Optional[str] = None  # sgd, adamo, rmsprop, auto-adam; None: the optimizer's
    beta: float = 0.9  # AdaMo, RMSprop: weight of the past in the average K
    beta1: float = 0.9  # Auto-Adam: the same for K1
    beta2: float = 0.999  # Auto-Adam: the same for K2
    epsilon: float = 1e-7  # RMSprop, Auto-Adam: added to sqrt(K), and to the root of the averaged squares
    bias_correction: bool = False  # divide the averages, and each K, by 1 - beta^t
    decay: float = 0.0  # the rate of step t is divided by 1 + decay t
    first_rate: Optional[float] = None  # the rate of the first epoch; AdaMo's K starts there too
    fixed: bool = False  # keep the constants of the first observation for the whole run
    coded_denominator: bool = False  # RMSprop: divide by K_z alone, as the authors' code does
    initial_k1: Optional[float] = None  # Auto-Adam: K1 and K2 before the first observation
    initial_k2: Optional[float] = None
    hold_averages: bool = False  # Auto-Adam: never move K1, K2 from these
    steps_per_epoch: int = 0  # compute the rate once in so many steps, from the largest norms; 0: in every step
    loss: Optional[Loss] = None  # None: cross-entropy over the outputs of the head
    constant: str = "published"  # which Lipschitz constant: published, coded, certified
    second_moment: str = "without-weight-square"  # the estimate S: also elementwise, full-square, coded,
    # coded-full-square
    l2: float = 0.0  # lambda of a penalty lambda/2 ||w||^2 in the loss, as it enters the constant
    gradient_bound: Optional[float] = None  # taken for G, whatever is measured
    schedule: str = "constant"  # multiplies the rate over schedule_steps: constant, cosine, step
    schedule_steps: int = 0
    factor: float = 1.0  # multiplies every rate
    distributed: bool = True  # sum the norms over torch's default process group when there is one

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> RateOptions:
        """As the constructor, but an unknown name is answered with the known ones."""
        known = [field.name for field in fields(cls)]
        for name in keywords:
            if name == "lr":
                raise TypeError("there is no lr to set: the rate is computed; leave lr out")
            if name not in known:
                raise TypeError(f"there is no option {name}; known are {', '.join(known)}")
        return cls(**keywords)

    def __post_init__(self) -> None:
        for name, (is_good, wish) in _NUMBERS.items():
            value = getattr(self, name)
            if value is None and getattr(type(self), name) is None:
                continue
            check_number(name, value, is_good(value), wish)
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} is {getattr(self, name)!r}; it must be True or False")
        for name in _COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} is {value!r}; it must be a whole number")
            check_number(name, value, value >= 0, "0 or above")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(choices)}")
        if self.loss is not None and not isinstance(self.loss, Loss):
            raise TypeError(
                f"loss is {self.loss!r}; it must be CrossEntropy(...), BinaryCrossEntropy() or SquaredError(...)"
            )
        self._check_together()

    def _check_together(self) -> None:
        if self.hold_averages and (self.initial_k1 is None or self.initial_k2 is None):
            raise ValueError("hold_averages needs initial_k1 and initial_k2")
        if self.hold_averages and self.bias_correction:
            raise ValueError("hold_averages and bias_correction exclude each other")
        if self.first_rate is not None and self.steps_per_epoch == 0:
            raise ValueError("first_rate needs steps_per_epoch, the number of steps after which the first epoch ends")
        if self.schedule != "constant" and self.schedule_steps == 0:
            raise ValueError(f"schedule {self.schedule} needs schedule_steps, the number of steps that it lasts")
