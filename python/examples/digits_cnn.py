"""A small convolutional network on the digits, trained twice with nothing to tune: with AdaMo, and with torch's AdamW
whose rate LipschitzRate computes.

    python digits_cnn.py FOLDER/digits.csv [RECORDS]     with RECORDS, leaves a record of each training there
"""
from __future__ import annotations

import csv
import sys
import time
from typing import Any, Callable, Optional

import torch
from torch import Tensor, nn

import lipschitzlr
from lipschitzlr.torch import AdaMo, LipschitzRate


def load(path: str) -> tuple[Tensor, Tensor]:
    """Images of 8 x 8 grey values from 0 to 1, and their labels."""
    with open(path, newline="", encoding="utf-8") as file:
        table = torch.tensor([[float(value) for value in line] for line in list(csv.reader(file))[1:]])
    return table[:, :-1].reshape(-1, 1, 8, 8) / 16, table[:, -1].long()


def make_model() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def adamo(model: nn.Sequential) -> Any:
    return AdaMo(model.parameters(), model, constant="certified")


def adamw(model: nn.Sequential) -> Any:
    # The published rate of Auto-Adam is about 1, too much for a step whose every number is about the rate: docs/python.md.
    return LipschitzRate(torch.optim.AdamW(model.parameters()), model, factor=0.01)


def train(make: Callable[[nn.Sequential], Any], images: Tensor, labels: Tensor, record: Optional[lipschitzlr.Record]) -> float:
    torch.manual_seed(1)
    model = make_model()
    optimizer = make(model)
    order = torch.randperm(len(images))
    training, validation = order[:1500], order[1500:]
    accuracy = 0.0
    for _ in range(10):
        began, total = time.monotonic(), 0.0
        for batch in training[torch.randperm(len(training))].split(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += float(loss) * len(batch)
        seconds = time.monotonic() - began
        model.eval()
        with torch.no_grad():
            accuracy = float((model(images[validation]).argmax(1) == labels[validation]).double().mean())
        model.train()
        if record:
            record.epoch(
                loss=total / len(training),
                val_accuracy=accuracy,
                rate=optimizer.rate,
                train_seconds=seconds,
                **optimizer.constants,
            )
    return accuracy


def main() -> None:
    images, labels = load(sys.argv[1])
    for name, make in (("adamo", adamo), ("adamw", adamw)):
        if len(sys.argv) > 2:
            with lipschitzlr.Record(
                f"{sys.argv[2]}/{name}", data="digits", network="cnn", optimizer=name, epochs=10
            ) as record:
                accuracy = train(make, images, labels, record)
        else:
            accuracy = train(make, images, labels, None)
        print(f"{name}: {100 * accuracy:.1f} % of 297 unseen digits")


if __name__ == "__main__":
    main()
