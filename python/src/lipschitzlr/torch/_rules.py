"""From constants to a learning rate: one class per rule, each fed with

    G    = max ||grad L||, the Lipschitz constant of the loss
    S    = max ||(grad L)^2||, its second moment
    K_z  = the largest norm of the penultimate activations

All numbers are Python floats, which are doubles, in the order of operations of the C++ library: same bits.
"""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar, Mapping, NamedTuple

from ._loss import Norms
from ._options import RULE_OPTIONS, RateOptions

_FORMAT = "lipschitzlr rate rule"
_VERSION = 1
_ADVICE = "look for inputs or weights that vanished or exploded"


class Measurement(NamedTuple):
    G: float
    S: float
    K_z: float


def _divide(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator != 0 else math.inf


class Rule:
    """A rate rule. What it remembers is in numbers, by symbol."""

    name: ClassVar[str]

    def __init__(self, options: RateOptions) -> None:
        self.options = options
        self.numbers = self._start()
        self.observations = 0  # that moved the averages
        self._first_epoch_over = False

    def observe(self, measured: Measurement) -> None:
        """One update of the averages; changes nothing and raises RuntimeError when a number can't be used."""
        for symbol in self._needs():
            value = getattr(measured, symbol)
            if not (math.isfinite(value) and value > 0):
                raise RuntimeError(
                    f"the rule {self.name} can't make a rate of {symbol} = {value}: it must be finite and above zero; "
                    + _ADVICE
                )
        if self.options.steps_per_epoch > 0:
            self._first_epoch_over = True
        if self.options.fixed and self.observations > 0:
            return
        self._update(measured)
        self.observations += 1

    def end_epoch(self) -> None:
        """Ends the rate of the first epoch for a rule that is fed in every step."""
        if self.options.steps_per_epoch == 0:
            self._first_epoch_over = True

    def has_rate(self) -> bool:
        return self._holds_first_rate() or self.observations > 0 or self._has_rate_at_start()

    def rate_at(self, step: int) -> float:
        """The rate of that step, counted from 0, with its decay."""
        return self._rate() / (1 + self.options.decay * float(step))

    def state_dict(self) -> dict[str, Any]:
        """As the C++ library saves a rule, in JSON's types."""
        options = {name: getattr(self.options, name) for name in RULE_OPTIONS}
        options["update"] = "epoch" if self.options.steps_per_epoch > 0 else "iteration"
        state = {
            "observations": self.observations,
            "first_epoch_over": self._first_epoch_over,
            "numbers": dict(self.numbers),
        }
        return {"format": _FORMAT, "version": _VERSION, "rule": self.name, "options": options, "state": state}

    @staticmethod
    def from_state_dict(saved: Mapping[str, Any], name: str, options: RateOptions) -> Rule:
        """The rule of that name as it was saved, with its options. Raises ValueError, KeyError or TypeError."""
        if saved["format"] != _FORMAT or not isinstance(saved["version"], int):
            raise ValueError("it is of another kind")
        if saved["version"] > _VERSION:
            raise ValueError(f"it has version {saved['version']} and this package reads up to {_VERSION}")
        if saved["rule"] != name:
            raise ValueError(f"it is of the rule {saved['rule']}, but this is the rule {name}")
        if saved["options"]["update"] != ("epoch" if options.steps_per_epoch > 0 else "iteration"):
            raise ValueError("its rate is updated per epoch and this one in every step, or the reverse")
        rule = RULES[name](replace(options, **{option: saved["options"][option] for option in RULE_OPTIONS}))
        state = saved["state"]
        if state["numbers"].keys() != rule.numbers.keys():
            raise ValueError("its numbers do not fit")
        rule.numbers = {symbol: saved_number(state["numbers"][symbol]) for symbol in rule.numbers}
        rule.observations = saved_count(state["observations"])
        rule._first_epoch_over = saved_flag(state["first_epoch_over"])
        return rule

    def _start(self) -> dict[str, float]:
        raise NotImplementedError

    def _needs(self) -> tuple[str, ...]:
        return ("G",)

    def _update(self, measured: Measurement) -> None:
        raise NotImplementedError

    def _computed_rate(self) -> float:
        raise NotImplementedError

    def _has_rate_at_start(self) -> bool:
        return False

    def _holds_first_rate(self) -> bool:
        return self.options.first_rate is not None and not self._first_epoch_over

    def _rate(self) -> float:
        if self.options.first_rate is not None and not self._first_epoch_over:
            return float(self.options.first_rate)
        rate = self._computed_rate()
        if math.isfinite(rate) and rate > 0:
            return rate
        numbers = ", ".join(f"{symbol} = {value}" for symbol, value in self.numbers.items())
        raise RuntimeError(f"the rule {self.name} gives the rate {rate} from {numbers}; {_ADVICE}")

    def _average(self, symbol: str, beta: float, value: float) -> None:
        past = self._past(beta)
        self.numbers[symbol] = past * self.numbers[symbol] + (1 - past) * value

    # The one observation of a fixed rule stands for itself where averages are corrected; else the first average stays.
    def _past(self, beta: float) -> float:
        return 0.0 if self.options.fixed and self.options.bias_correction else float(beta)

    def _bias_divisor(self, beta: float) -> float:
        if not self.options.bias_correction or self.observations == 0:
            return 1.0
        return 1 - math.pow(self._past(beta), float(self.observations))


class Sgd(Rule):
    """rate = 1/G"""

    name = "sgd"

    def _start(self) -> dict[str, float]:
        return {"G": 0.0}

    def _update(self, measured: Measurement) -> None:
        self.numbers["G"] = measured.G

    def _computed_rate(self) -> float:
        return _divide(1.0, self.numbers["G"])


class AdaMoRule(Rule):
    """K <- beta K + (1 - beta) G, rate = 1/K (paper, algorithm 1)"""

    name = "adamo"

    def _start(self) -> dict[str, float]:
        return {"K": float(self.options.first_rate or 0)}

    # Where K began is no part of a rate that stays.
    def _past(self, beta: float) -> float:
        return 0.0 if self.options.fixed else float(beta)

    def _update(self, measured: Measurement) -> None:
        self._average("K", self.options.beta, measured.G)

    def _computed_rate(self) -> float:
        return _divide(self._bias_divisor(self.options.beta), self.numbers["K"])


class RmsPropRule(Rule):
    """K <- beta K + (1 - beta) S, rate = (sqrt(K) + epsilon)/G, as coded over K_z (paper, algorithm 2)"""

    name = "rmsprop"

    def _start(self) -> dict[str, float]:
        return {"K": 0.0, "denominator": 0.0}

    def _needs(self) -> tuple[str, ...]:
        return ("S", self._denominator())

    def _denominator(self) -> str:
        return "K_z" if self.options.coded_denominator else "G"

    def _update(self, measured: Measurement) -> None:
        self._average("K", self.options.beta, measured.S)
        self.numbers["denominator"] = getattr(measured, self._denominator())

    def _computed_rate(self) -> float:
        root = math.sqrt(self.numbers["K"] / self._bias_divisor(self.options.beta))
        return _divide(root + self.options.epsilon, self.numbers["denominator"])


class AutoAdamRule(Rule):
    """K1, K2 as averages of G, S with beta1, beta2, rate = (sqrt(K2) + epsilon)/K1 (paper, algorithm 3)"""

    name = "auto-adam"

    def _start(self) -> dict[str, float]:
        return {"K1": float(self.options.initial_k1 or 0), "K2": float(self.options.initial_k2 or 0)}

    def _has_rate_at_start(self) -> bool:
        return self.options.initial_k1 is not None and self.options.initial_k2 is not None

    def _needs(self) -> tuple[str, ...]:
        return ("G", "S")

    def _update(self, measured: Measurement) -> None:
        if self.options.hold_averages:
            return
        self._average("K1", self.options.beta1, measured.G)
        self._average("K2", self.options.beta2, measured.S)

    def _computed_rate(self) -> float:
        first = self.numbers["K1"] / self._bias_divisor(self.options.beta1)
        second = self.numbers["K2"] / self._bias_divisor(self.options.beta2)
        return _divide(math.sqrt(second) + self.options.epsilon, first)


RULES: Mapping[str, type[Rule]] = {rule.name: rule for rule in (Sgd, AdaMoRule, RmsPropRule, AutoAdamRule)}


def saved_number(value: Any) -> float:
    """A number that was saved: finite and not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{value!r} is none of its numbers")
    return float(value)


def saved_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
        raise ValueError(f"{value!r} is no count")
    return value


def saved_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def second_moment(estimate: str, c: float, norms: Norms, l2: float, weight: float) -> float:
    """S = max ||(grad L)^2|| (paper, section 7.3), with c = (k-1)/(k m)."""
    data, penalty = c * norms.frobenius, l2 * weight
    if estimate == "elementwise":
        return _elementwise(c, norms, penalty)
    if estimate == "full-square":
        return data * data + penalty * penalty + 2 * penalty * data
    if estimate == "without-weight-square":
        return data * data + 2 * penalty * data
    coded = c * c * norms.square_frobenius + 2 * penalty * data
    return coded if estimate == "coded" else coded + penalty * penalty


def _elementwise(c: float, norms: Norms, t: float) -> float:
    """||(c A + t) o (c A + t)||_F by the power sums of A's entries, which are measured before t is known."""
    total = (
        c**4 * norms.square_frobenius**2
        + 4 * c**3 * t * norms.cube_sum
        + 6 * c * c * t * t * norms.frobenius**2
        + 4 * c * t**3 * norms.entry_sum
        + t**4 * norms.entries
    )
    return math.sqrt(max(0.0, total)) if math.isfinite(total) else total


def schedule_factor(schedule: str, step: int, steps: int) -> float:
    """By which the rate of step t = 0, 1, ... of T is multiplied; from step T on it stays."""
    if schedule == "constant":
        return 1.0
    share = min(step, steps) / steps
    if schedule == "cosine":
        return (1 + math.cos(math.pi * share)) / 2
    return 1.0 if share < 0.5 else 0.1 if share < 0.75 else 0.01
