"""A small convolutional network on the first 6,000 images of MNIST, trained twice: with AdaMo, and with torch's AdamW whose
rate LipschitzRate computes.

    lipschitzlr data get mnist
    python mnist_cnn.py "$(lipschitzlr data path mnist)" [RECORDS]     with RECORDS, leaves a record of each training there
"""
from __future__ import annotations

import pathlib
import sys
import time
from typing import Any, Callable, Optional

import torch
from torch import Tensor, nn

import lipschitzlr
from lipschitzlr.torch import AdaMo, LipschitzRate


IMAGES, TRAINED_ON, EPOCHS = 6000, 5000, 3


def read(path: pathlib.Path, header: int) -> Tensor:
    return torch.frombuffer(bytearray(path.read_bytes()[header:]), dtype=torch.uint8)


def load(folder: pathlib.Path) -> tuple[Tensor, Tensor]:
    """Images of 28 x 28 grey values from 0 to 1, and their labels, from the two IDX files."""
    images = read(folder / "train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)[:IMAGES] / 255
    return images, read(folder / "train-labels-idx1-ubyte", 8)[:IMAGES].long()


def make_model() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(288, 10),
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
    training, validation = order[:TRAINED_ON], order[TRAINED_ON:]
    accuracy = 0.0
    for _ in range(EPOCHS):
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
    images, labels = load(pathlib.Path(sys.argv[1]))
    for name, make in (("adamo", adamo), ("adamw", adamw)):
        if len(sys.argv) > 2:
            with lipschitzlr.Record(
                f"{sys.argv[2]}/{name}", data="mnist", network="cnn", optimizer=name, epochs=EPOCHS
            ) as record:
                accuracy = train(make, images, labels, record)
        else:
            accuracy = train(make, images, labels, None)
        print(f"{name}: {100 * accuracy:.1f} % of {IMAGES - TRAINED_ON} unseen images")


if __name__ == "__main__":
    main()
