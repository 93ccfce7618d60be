"""The tap on a network's last layer: in every forward pass in training mode it measures what the layer receives, the
penultimate activations A (m x d) of a batch, and keeps their norms only."""
from __future__ import annotations

import math
import warnings
from typing import Any, Callable, Mapping, TypeVar

import torch
import torch.distributed
from torch import Tensor, nn

from ._loss import Norms
from ._rules import saved_count, saved_number

_NUMBERS = 7  # that _measure gives of a batch
_Function = TypeVar("_Function", bound=Callable[..., Any])
# A compiled model must not trace the measurement; torch before 2.1 has nothing to ask.
not_compiled: Callable[[_Function], _Function] = getattr(
    getattr(torch, "compiler", None), "disable", lambda function: function
)


def find_head(model: nn.Module) -> nn.Linear:
    """The last Linear of a model: itself, the only one in it, or the last one where a Sequential tells the order.

    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.LogSoftmax(dim=1))
    >>> find_head(model) is model[2]
    True
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"the head is {model!r}; it must be the last Linear of the network, or the network")
    path = ""
    inner = model
    while not isinstance(inner, nn.Linear):
        children = {
            name: child
            for name, child in inner.named_children()
            if any(isinstance(module, nn.Linear) for module in child.modules())
        }
        if not children:
            raise ValueError(f"{type(inner).__name__} has no Linear; pass the last layer of the network as its head")
        if len(children) > 1 and not isinstance(inner, nn.Sequential):
            names = [path + name for name in children]
            raise ValueError(
                f"which Linear of {type(inner).__name__} is the last can't be seen: they are in {', '.join(names)}; "
                f"pass the last one itself, for example model.{names[-1]}"
            )
        name, inner = list(children.items())[-1]
        path += name + "."
    return inner


@not_compiled
def _measure(activations: Tensor) -> Tensor:
    """||A||_F^2, sum ||a_i||, ||A o A||_F^2, m, and the sums of entries, of their cubes and of 1, in double and on A's
    device, so that no step waits for a GPU here."""
    with torch.no_grad():
        entries = activations.detach().to(torch.float64)
        squares = entries.square()
        row_squares = squares.sum(1)
        return torch.stack(
            [
                row_squares.sum(),
                row_squares.sqrt().sum(),
                squares.square().sum(),
                row_squares.new_full((), float(activations.shape[0])),
                entries.sum(),
                squares.flatten().dot(entries.flatten()),
                row_squares.new_full((), float(activations.numel())),
            ]
        )


def group_device() -> torch.device:
    """Where the default process group wants its tensors."""
    return torch.device("cuda" if torch.distributed.get_backend() == "nccl" else "cpu")


def has_group() -> bool:
    """Whether there is a default process group of several processes."""
    group = torch.distributed
    return group.is_available() and group.is_initialized() and group.get_world_size() > 1


def _sum_over_processes(batches: list[Tensor]) -> list[Tensor]:
    """The sums over the default process group of each of the batches that every process measured since its last step."""
    size, count = torch.distributed.get_world_size(), len(batches)
    all_reduce: Callable[[Tensor], Any] = torch.distributed.all_reduce
    last = batches[-1].cpu() if batches else torch.zeros(_NUMBERS, dtype=torch.float64)
    own = torch.cat([last, torch.tensor([last[3] ** 2, count, count**2], dtype=torch.float64)])
    device = group_device()
    sums = own.to(device)
    all_reduce(sums)
    rows, (row_squares, counts, count_squares) = float(sums[3]), sums[_NUMBERS:].tolist()
    # All have the same number if and only if the square of the sum is size times the sum of the squares.
    if size * count_squares != counts * counts:
        raise RuntimeError(
            f"the processes made different numbers of forward passes in training mode since the last step, this one "
            f"{count}; every process must make the same steps"
        )
    if size * row_squares != rows * rows:
        warnings.warn(
            "the processes have batches of different sizes: their gradients are averaged as if they were equal, which "
            "is not the gradient of the mean over the whole batch; let each have the same number of examples"
        )
    if count <= 1:
        return [sums[:_NUMBERS]] * count
    all_sums = torch.stack([batch.to(device) for batch in batches])
    all_reduce(all_sums)
    return list(all_sums)


class Tap:
    """What was measured: the norms of the last batch, the largest since reset(), and the number of batches."""

    def __init__(self) -> None:
        self.last = Norms()
        # Each number at its maximum; row_norm_sum belongs to the largest mean (1/m) sum ||a_i||.
        self.largest = Norms()
        self.batches = 0
        self.keeps_batches = False  # since reset(), in kept
        self.kept: list[Norms] = []
        self._pending: list[Tensor] = []  # measured since collect()

    def observe(self, layer: nn.Module, inputs: tuple[Any, ...]) -> None:
        """The hook before the layer's forward()."""
        if not layer.training:
            return
        if getattr(layer, "_is_replica", False):
            raise RuntimeError("nn.DataParallel shows the head parts of a batch; use DistributedDataParallel")
        if not inputs or not isinstance(inputs[0], Tensor):
            raise TypeError("the head must be called with its activations as the first argument, head(x)")
        activations = inputs[0]
        if activations.dim() != 2:
            raise ValueError(
                f"penultimate activations must be a matrix, one row per example, not a tensor of {activations.dim()} "
                "dimensions; flatten what comes before the last layer"
            )
        if not activations.is_floating_point():
            raise TypeError(f"penultimate activations must be floating-point numbers, not {activations.dtype}")
        self._pending.append(_measure(activations))

    def collect(self, distributed: bool) -> None:
        """Counts what was measured since the last call: of the whole batch, where processes share it."""
        batches, self._pending = self._pending, []
        if distributed and has_group():
            batches = _sum_over_processes(batches)
        if not batches:
            return
        measured = torch.stack([batch.cpu() for batch in batches]).tolist()
        for number, (squares, row_norm_sum, fourths, rows, entry_sum, cubes, entries) in enumerate(measured, 1):
            # One before the last that is NaN or infinite had no step: AMP's GradScaler left it out.
            if number == len(measured) or math.isfinite(squares):
                roots = math.sqrt(squares), math.sqrt(fourths)
                self.add(Norms(roots[0], row_norm_sum, roots[1], int(rows), entry_sum, cubes, int(entries)))

    def add(self, norms: Norms) -> None:
        means = [of.row_norm_sum / of.rows if of.rows > 0 else 0.0 for of in (self.largest, norms)]
        rows = max(self.largest.rows, norms.rows)
        self.largest = Norms(
            _maximum(self.largest.frobenius, norms.frobenius),
            _maximum(*means) * rows,
            _maximum(self.largest.square_frobenius, norms.square_frobenius),
            rows,
        )
        self.last = norms
        if self.keeps_batches:
            self.kept.append(norms)
        self.batches += 1

    def reset(self) -> None:
        self.last, self.largest, self.batches, self.kept = Norms(), Norms(), 0, []

    def state_dict(self) -> dict[str, Any]:
        state = {"last": list(self.last[:4]), "largest": list(self.largest[:4]), "batches": self.batches}
        return state | ({"kept": [_kept_state(norms) for norms in self.kept]} if self.kept else {})

    @staticmethod
    def checked_state(saved: Mapping[str, Any]) -> tuple[Norms, Norms, int, list[Norms]]:
        """last, largest, batches and kept as saved; raises ValueError, KeyError, IndexError or TypeError."""
        last, largest = _saved_norms(saved["last"]), _saved_norms(saved["largest"])
        return last, largest, saved_count(saved["batches"]), [_saved_kept(one) for one in saved.get("kept", [])]


# Unlike max(), NaN when one of them is.
def _maximum(a: float, b: float) -> float:
    return a if math.isnan(a) or a >= b else b


# As the C++ library saves it: the seventh number is that of columns.
def _kept_state(norms: Norms) -> list[float]:
    return [*norms[:6], norms.entries // max(norms.rows, 1)]


def _saved_kept(values: Any) -> Norms:
    norms, columns = _saved_norms(values), saved_count(values[6])
    for value in values[4:6]:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"{value!r} is none of its numbers")
    return norms._replace(entry_sum=float(values[4]), cube_sum=float(values[5]), entries=norms.rows * columns)


def _saved_norms(values: Any) -> Norms:
    return Norms(saved_number(values[0]), saved_number(values[1]), saved_number(values[2]), saved_count(values[3]))
