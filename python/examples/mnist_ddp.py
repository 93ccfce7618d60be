"""Several processes train one network on the first images of MNIST, each with its part of every batch; the rate is that
of the whole batch, as if one process had it. Debian 12's torchrun needs -r 1 -t 1 too.

    torchrun --nproc_per_node 2 mnist_ddp.py "$(lipschitzlr data path mnist)"
"""
from __future__ import annotations

import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from lipschitzlr.torch import AdaMo
from mnist_cnn import IMAGES, TRAINED_ON, load, make_model


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    images, labels = load(pathlib.Path(sys.argv[1]))
    examples = TensorDataset(images[:TRAINED_ON], labels[:TRAINED_ON])
    sampler: DistributedSampler[tuple[torch.Tensor, ...]] = DistributedSampler(examples)
    loader = DataLoader(examples, batch_size=50 // dist.get_world_size(), sampler=sampler)
    model = DistributedDataParallel(make_model())
    optimizer = AdaMo(model.parameters(), model, constant="certified")
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    model.eval()
    accuracy = float((model(images[TRAINED_ON:]).argmax(1) == labels[TRAINED_ON:]).double().mean())
    print(f"rank {dist.get_rank()}: {100 * accuracy:.1f} % of {IMAGES - TRAINED_ON} unseen images, rate {optimizer.rate!r}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
