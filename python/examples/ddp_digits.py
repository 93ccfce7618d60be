"""Several processes train one network on the digits, each with its part of every batch; the rate is that of the whole
batch, as if one process had it.

    torchrun --nproc_per_node 2 ddp_digits.py FOLDER/digits.csv      (Debian 12's torchrun needs -r 1 -t 1 too)
"""
from __future__ import annotations

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from digits_cnn import load, make_model
from lipschitzlr.torch import AdaMo


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    images, labels = load(sys.argv[1])
    digits = TensorDataset(images[:1500], labels[:1500])
    sampler: DistributedSampler[tuple[torch.Tensor, ...]] = DistributedSampler(digits)
    loader = DataLoader(digits, batch_size=50 // dist.get_world_size(), sampler=sampler)
    model = DistributedDataParallel(make_model())
    optimizer = AdaMo(model.parameters(), model, constant="certified")
    for epoch in range(6):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    model.eval()
    accuracy = float((model(images[1500:]).argmax(1) == labels[1500:]).double().mean())
    print(f"rank {dist.get_rank()}: {100 * accuracy:.1f} % of 297 unseen digits, rate {optimizer.rate!r}")


if __name__ == "__main__":
    main()
