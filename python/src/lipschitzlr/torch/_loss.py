"""The Lipschitz constant of a network's loss, from the norms of what its last layer receives (paper, sections 5, 6).

With A the activations of a batch of m rows and K_z = ||A||_F, each loss a mean over the batch:

                    published and coded        certified
    CrossEntropy    (k-1)/(k m) K_z            sqrt(2)/m sum ||a_i||
    BinaryCross...  1/2m K_z                   1/m sum ||a_i||
    SquaredError    1/m (K_a + ||y||) K_z      as published (coded: none)
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

KINDS = ("published", "coded", "certified")


class Norms(NamedTuple):
    """Of the penultimate activations of one batch."""

    frobenius: float = 0.0  # K_z = ||A||_F
    row_norm_sum: float = 0.0  # sum ||a_i||
    square_frobenius: float = 0.0  # ||A o A||_F, of the elementwise squares
    rows: int = 0  # m
    # Of the entries and of their cubes, and how many they are; the largest over several batches has none.
    entry_sum: float = 0.0
    cube_sum: float = 0.0
    entries: int = 0


def check_number(name: str, value: Any, good: bool, wish: str) -> None:
    """Raises TypeError or ValueError unless value is a finite number and good; good is not looked at before that."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    if not (good and math.isfinite(value)):
        raise ValueError(f"{name} is {value}; it must be {wish}")


def is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and value > 0


def is_not_negative(value: Any) -> bool:
    return isinstance(value, (int, float)) and value >= 0


def checked_norm(symbol: str, norm: float) -> float:
    if math.isfinite(norm) and norm >= 0:
        return norm
    raise RuntimeError(
        f"{symbol} is {norm}, so there is no Lipschitz constant; look for inputs or weights that are NaN, infinite or "
        "far too large"
    )


class Loss:
    """The loss behind the last layer. Use one of CrossEntropy, BinaryCrossEntropy and SquaredError."""

    def constant(self, kind: str, norms: Norms) -> float:
        """The bound on the norm of the gradient."""
        raise NotImplementedError


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """Softmax cross-entropy over so many classes; what a head of two or more outputs has when no loss is given."""

    classes: int

    def __post_init__(self) -> None:
        if isinstance(self.classes, bool) or not isinstance(self.classes, int):
            raise TypeError(f"classes is {self.classes!r}; it must be a whole number")
        if self.classes < 2:
            raise ValueError(f"classes is {self.classes}; it must be 2 or more")

    def constant(self, kind: str, norms: Norms) -> float:
        if kind == "certified":
            return math.sqrt(2) / norms.rows * checked_norm("sum ||a_i||", norms.row_norm_sum)
        return (self.classes - 1) / self.classes / norms.rows * checked_norm("K_z", norms.frobenius)


@dataclass(frozen=True)
class BinaryCrossEntropy(Loss):
    """Binary cross-entropy of one output."""

    def constant(self, kind: str, norms: Norms) -> float:
        if kind == "certified":
            return 1 / norms.rows * checked_norm("sum ||a_i||", norms.row_norm_sum)
        return 0.5 / norms.rows * checked_norm("K_z", norms.frobenius)


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared distance: the largest norm of a batch's outputs (K_a), and that of a batch's targets."""

    output_bound: float
    target_norm: float

    def __post_init__(self) -> None:
        for name in ("output_bound", "target_norm"):
            value = getattr(self, name)
            check_number(name, value, is_not_negative(value), "a finite number, 0 or above")

    def constant(self, kind: str, norms: Norms) -> float:
        if kind == "coded":
            raise ValueError("the authors' code has no constant for regression with a network; use published or certified")
        return (self.output_bound + self.target_norm) / norms.rows * checked_norm("K_z", norms.frobenius)
