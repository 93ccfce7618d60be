"""What test_distributed.py starts as two processes: prints, as JSON, what each step of this rank did."""
from __future__ import annotations

import json
import warnings
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from lipschitzlr.torch import Auto, LipschitzSGD

WIDTH, CLASSES = 3, 4


def head() -> nn.Linear:
    return nn.Linear(WIDTH, CLASSES).double()


def batch(rank: int, number: int, rows: int) -> torch.Tensor:
    """Any two processes can make each other's batches."""
    generator = torch.Generator().manual_seed(10 * number + rank)
    return torch.randn(rows, WIDTH, generator=generator, dtype=torch.float64) * (number + 1)


def bound_of(rows: list[int], **options: Any) -> tuple[float, list[str]]:
    """G of one step in which each rank has so many rows, and what was warned of."""
    layer = head()
    optimizer = LipschitzSGD(layer.parameters(), layer, **options)
    layer(batch(dist.get_rank(), 0, rows[dist.get_rank()]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.step()
    return optimizer.constants["G"], [str(one.message) for one in caught]


def missing_pass() -> str:
    layer = head()
    optimizer = LipschitzSGD(layer.parameters(), layer)
    if dist.get_rank() == 0:
        layer(batch(0, 0, 4))
    try:
        optimizer.step()
    except RuntimeError as error:
        return str(error)
    return "no error"


def largest_of_several_passes() -> float:
    """Two passes before each step: an epoch has the largest norms of all four."""
    layer = head()
    optimizer = LipschitzSGD(layer.parameters(), layer, steps_per_epoch=2)
    for step in range(2):
        for part in range(2):
            layer(batch(dist.get_rank(), 3 - 2 * step - part, 4))
        optimizer.step()
    return optimizer.constants["K_z"]


def one_loss_is_negative() -> str:
    layer = head()
    optimizer = Auto(layer)
    nn.functional.cross_entropy(layer(batch(dist.get_rank(), 0, 4)), torch.arange(4)).backward()
    try:
        optimizer.step(1.0 if dist.get_rank() == 0 else -1.0)
    except (RuntimeError, ValueError) as error:
        return str(error)
    return "no error"


def one_loss_is_not_finite() -> list[float]:
    """Rate and rollbacks after a step in which the loss of rank 1 is NaN, and the largest change of a weight."""
    layer = head()
    optimizer = Auto(nn.parallel.DistributedDataParallel(layer))
    before = layer.weight.detach().clone()
    nn.functional.cross_entropy(layer(batch(dist.get_rank(), 0, 4)), torch.arange(4)).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer.step(1.0 if dist.get_rank() == 0 else float("nan"))
    return [optimizer.rate, optimizer.constants["rollbacks"], float((layer.weight - before).abs().max())]


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    print(
        json.dumps(
            {
                "equal": bound_of([4, 4]),
                "unequal": bound_of([4, 6]),
                "one row in all": bound_of([1, 0]),
                "alone": bound_of([4, 4], distributed=False),
                "missing": missing_pass(),
                "negative": one_loss_is_negative(),
                "not finite": one_loss_is_not_finite(),
                "largest": largest_of_several_passes(),
                "weights": bound_of([4, 4], l2=0.5, buffers=[torch.full((4,), 10.0 * (rank + 1))]),
            }
        )
    )
    dist.barrier()
    dist.destroy_process_group()  # else Gloo's threads may outlive the interpreter, which ends the process with an abort


if __name__ == "__main__":
    main()
