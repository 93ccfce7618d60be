"""The Python half of test_agreement.py; tests/nn/python_agreement.cpp is the other one and has the same cases.

agreement_loop.py FILE reads a start and batches, takes a step per batch with each optimizer, and prints as JSON what
every step had: rate, constants (K_z, max ||w||, G and S; of Auto F, L_inf, H, P and Hb) and loss. As one of several processes (RANK, WORLD_SIZE) it takes its share of
each batch in DistributedDataParallel.
"""
from __future__ import annotations

import array
import json
import os
import sys
from typing import Any, Callable

import torch
import torch.distributed as dist
from torch import Tensor, nn, optim

from lipschitzlr.torch import AdaMo, AdaptiveRMSprop, Auto, AutoAdam, LipschitzRate, LipschitzSGD

EPOCHS = {
    "bias_correction": True,
    "decay": 0.1,
    "first_rate": 0.1,
    "steps_per_epoch": 5,
    "constant": "certified",
    "second_moment": "coded",
    "l2": 0.01,
    "weight_decay": 0.01,
}

Make = Callable[[nn.Module, nn.Linear], Any]


def own(kind: Any, **options: Any) -> Make:
    return lambda model, head: kind(model.parameters(), head, **options)


def driven(kind: Any, **options: Any) -> Make:
    return lambda model, head: LipschitzRate(kind(model.parameters(), **options), head)


FIXED = EPOCHS | {"fixed": True, "first_rate": None, "second_moment": "full-square"}
EACH_STEP = {"second_moment": "elementwise", "l2": 0.01, "weight_decay": 0.01}

CASES: dict[str, Make] = {
    "sgd": own(LipschitzSGD),
    "adamo": own(AdaMo),
    "rmsprop": own(AdaptiveRMSprop),
    "auto-adam": own(AutoAdam),
    "sgd epochs": own(LipschitzSGD, **EPOCHS),
    "adamo epochs": own(AdaMo, **EPOCHS),
    "rmsprop epochs": own(AdaptiveRMSprop, **EPOCHS),
    "auto-adam epochs": own(AutoAdam, **EPOCHS),
    "auto-adam elementwise": own(AutoAdam, **EACH_STEP),
    "auto-adam elementwise epochs": own(AutoAdam, **(EPOCHS | {"second_moment": "elementwise"})),
    "adamo fixed": own(AdaMo, **FIXED),
    "auto-adam fixed": own(AutoAdam, **(FIXED | {"second_moment": "coded-full-square"})),
    "auto": own(Auto, total_steps=30),
    "auto without end": own(Auto, weight_decay=0.01),
    "torch SGD": driven(optim.SGD, lr=1),
    "torch SGD momentum": driven(optim.SGD, lr=1, momentum=0.9),
    "torch Adam": driven(optim.Adam),
    "torch AdamW": driven(optim.AdamW),
    "torch RMSprop": driven(optim.RMSprop),
}


class Problem:
    def __init__(self, path: str) -> None:
        numbers = array.array("d")
        with open(path, "rb") as file:
            numbers.frombytes(file.read())
        values = torch.tensor(numbers, dtype=torch.float64)
        width, hidden, classes, self.rows, steps = (int(size) for size in values[:5])
        self.width, self.hidden, self.classes = width, hidden, classes
        place = 5

        def take(*shape: int) -> Tensor:
            nonlocal place
            count = torch.Size(shape).numel()
            place += count
            return values[place - count : place].view(shape)

        self.start = [take(hidden, width), take(hidden), take(classes, hidden), take(classes)]
        self.batches = [(take(self.rows, width), take(self.rows).long()) for _ in range(steps)]

    def model(self) -> nn.Sequential:
        model = nn.Sequential(nn.Linear(self.width, self.hidden), nn.Tanh(), nn.Linear(self.hidden, self.classes))
        with torch.no_grad():
            for parameter, start in zip(model.double().parameters(), self.start):
                parameter.copy_(start)
        return model


def run(problem: Problem, make: Make) -> dict[str, Any]:
    rank, size = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    model: Any = problem.model()
    stepped = nn.parallel.DistributedDataParallel(model) if size > 1 else model
    optimizer = make(stepped, model[2])
    share = slice(problem.rows * rank // size, problem.rows * (rank + 1) // size)
    steps = []
    for images, labels in problem.batches:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(stepped(images[share]), labels[share])
        loss.backward()
        optimizer.step(loss) if isinstance(optimizer, Auto) else optimizer.step()
        total = loss.detach() / size
        if size > 1:
            dist.all_reduce(total)
        rate = optimizer.param_groups[0]["lr"]
        steps.append([rate, *optimizer.constants.values(), float(total)])
    state = optimizer.state_dict()
    state = state.get("rate", state)
    return {"steps": steps, "state": state["rule"] if isinstance(optimizer, Auto) else state}


def main() -> None:
    torch.set_num_threads(1)
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    problem = Problem(sys.argv[1])
    print(json.dumps({name: run(problem, make) for name, make in CASES.items()}))
    if dist.is_initialized():
        dist.barrier()
        # Else Gloo's threads may outlive the interpreter, which ends the process with an abort.
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
