"""A head alone, with a batch of its own in every step, as the C++ tests have it."""
from __future__ import annotations

import torch
from torch import Tensor, nn

ROWS, WIDTH, CLASSES = 6, 5, 4


class Loop:
    def __init__(self, seed: int = 3) -> None:
        self.head = nn.Linear(WIDTH, CLASSES).double()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.head.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
        self.parameters = list(self.head.parameters())
        self.batch = torch.empty(0)

    def backward(self, step: int) -> Tensor:
        generator = torch.Generator().manual_seed(100 + step)
        self.batch = torch.randn(ROWS, WIDTH, generator=generator, dtype=torch.float64) * (1 + step % 4)
        for parameter in self.parameters:
            parameter.grad = None
        loss = nn.functional.cross_entropy(self.head(self.batch), torch.arange(ROWS) % CLASSES)
        loss.backward()
        return loss

    def constant(self) -> float:
        """G as the paper has it: (k-1)/(k m) ||A||_F."""
        return (CLASSES - 1) / (CLASSES * ROWS) * float(self.batch.norm())
