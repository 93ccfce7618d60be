"""The same networks as a plain PyTorch script has them: ordinary modules, images as channels x height x width, the
allocator and the layout as they come. Started by compare.py, works one line at a time, as network_bench does.
    peer.py NETWORK BATCH STEPS THREADS"""
import json
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

EPSILON, MOMENTUM = 1e-3, 0.01  # Keras's, which the paper's networks were trained with


def norm(channels, epsilon=EPSILON):
    return nn.BatchNorm2d(channels, eps=epsilon, momentum=MOMENTUM)


def conv(before, after, kernel=3, stride=1, bias=True):
    return nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=bias)


class BlockV1(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1, self.norm1 = conv(before, after, 3, stride), norm(after)
        self.conv2, self.norm2 = conv(after, after), norm(after)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = conv(before, after, 1, stride) if before != after else nn.Identity()

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        return self.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class BlockV2(nn.Module):
    def __init__(self, before, inner, after, stride, first):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.start = nn.Identity() if first else nn.Sequential(norm(before), nn.ReLU(inplace=True))
        self.conv1, self.norm2 = conv(before, inner, 1, stride), norm(inner)
        self.conv2, self.norm3 = conv(inner, inner), norm(inner)
        self.conv3 = conv(inner, after, 1)
        self.shortcut = conv(before, after, 1, stride) if before != after else nn.Identity()

    def forward(self, x):
        y = self.relu(self.norm2(self.conv1(self.start(x))))
        return self.conv3(self.relu(self.norm3(self.conv2(y)))) + self.shortcut(x)


class Dense(nn.Module):
    """A layer whose output is appended to its input."""

    def __init__(self, before, growth):
        super().__init__()
        self.norm, self.relu = norm(before, 1.1e-5), nn.ReLU(inplace=True)
        self.conv = conv(before, growth, bias=False)

    def forward(self, x):
        return torch.cat([x, self.conv(self.relu(self.norm(x)))], 1)


def end(channels):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]


def resnet_v1(blocks):
    layers, before = [conv(3, 16), norm(16), nn.ReLU(inplace=True)], 16
    for stage, after in enumerate((16, 32, 64)):
        for block in range(blocks):
            layers.append(BlockV1(before, after, 2 if stage and not block else 1))
            before = after
    return nn.Sequential(*layers, *end(before))


def resnet_v2(blocks):
    layers, before, inner = [conv(3, 16), norm(16), nn.ReLU(inplace=True)], 16, 16
    for stage, after in enumerate((64, 128, 256)):
        for block in range(blocks):
            layers.append(BlockV2(before, inner, after, 2 if stage and not block else 1, not stage and not block))
            before = after
        inner = after
    return nn.Sequential(*layers, norm(before), nn.ReLU(inplace=True), *end(before))


def densenet(layers_per_block, growth):
    layers, width = [conv(3, 2 * growth, bias=False)], 2 * growth
    for block in range(3):
        for _ in range(layers_per_block):
            layers.append(Dense(width, growth))
            width += growth
        layers += [norm(width, 1.1e-5), nn.ReLU(inplace=True)]
        if block < 2:
            layers += [conv(width, width, 1, bias=False), nn.AvgPool2d(2)]
    return nn.Sequential(*layers, *end(width))


def mnist_cnn():
    def relu():
        return nn.ReLU(inplace=True)

    return nn.Sequential(
        nn.Conv2d(1, 32, 3), relu(), nn.Conv2d(32, 32, 3), relu(), nn.MaxPool2d(2), nn.Dropout(0.2),
        conv(32, 64), relu(), conv(64, 64), relu(), nn.MaxPool2d(2), nn.Dropout(0.25),
        conv(64, 128), relu(), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(128 * 36, 128), relu(), nn.BatchNorm1d(128, eps=EPSILON, momentum=MOMENTUM),
        nn.Dropout(0.25), nn.Linear(128, 10))


NETWORKS = {
    "resnet20-v1": lambda: resnet_v1(3),
    "resnet164-v2": lambda: resnet_v2(18),
    "mnist-cnn": mnist_cnn,
    "densenet-40-12": lambda: densenet(12, 12),
}


def count_operations(model, shape):
    """Floating-point operations of one image's training step in convolutions and dense layers: a multiply-add is two;
    forward, gradient of the weights and, except for the first layer, gradient of what comes in."""
    counts = []

    def count(layer, _, out):
        counts.append(2 * out.numel() * layer.weight[0].numel())

    layers = [layer for layer in model.modules() if isinstance(layer, (nn.Conv2d, nn.Linear))]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    model.eval()
    with torch.no_grad():
        model(torch.zeros(1, *shape))
    model.train()
    for hook in hooks:
        hook.remove()
    return 3 * sum(counts) - counts[0]


def load(model, path):
    """A safetensors file, tensor by tensor in the order of the layers."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    entries = sorted(header.values(), key=lambda entry: entry["data_offsets"])
    values = np.frombuffer(data, "<f4")
    arrays = [values[slice(*(at // 4 for at in e["data_offsets"]))].reshape(e["shape"]) for e in entries]
    tensors = [t for name, t in model.state_dict().items() if not name.endswith("num_batches_tracked")]
    assert len(arrays) == len(tensors), f"{len(arrays)} tensors in the file, {len(tensors)} here"
    for array, tensor in zip(arrays, tensors):
        if array.shape == (128, 128 * 36):  # Keras flattens height, width, channels
            array = array.reshape(128, 6, 6, 128).transpose(0, 3, 1, 2).reshape(128, -1)
        assert array.shape == tuple(tensor.shape), f"{array.shape} in the file, {tuple(tensor.shape)} here"
        tensor.copy_(torch.from_numpy(array.copy()))


def check(model, folder, shape):
    pixels = np.fromfile(f"{folder}/pixels.bin", np.uint8).reshape(-1, shape[1], shape[2], shape[0]) / 255
    images = torch.from_numpy((pixels - pixels.mean(0)).transpose(0, 3, 1, 2).astype(np.float32))
    with torch.no_grad():
        load(model, f"{folder}/weights.safetensors")
        model.eval()
        loss = F.cross_entropy(model(images.contiguous()), torch.arange(len(images)) % 10)
        model.train()
    return {"loss": loss.item(), "parameters": sum(p.numel() for p in model.parameters())}


def train(model, optimizer, images, labels, steps):
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()
    return {"images": steps * len(images), "seconds": time.perf_counter() - start}


def main():
    name, batch, steps, threads = sys.argv[1], *map(int, sys.argv[2:5])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    shape = (1, 28, 28) if name == "mnist-cnn" else (3, 32, 32)
    model = NETWORKS[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    images, labels = torch.rand(batch, *shape) - 0.5, torch.arange(batch) % 10
    print(json.dumps({"operations": count_operations(model, shape), "version": torch.__version__}), flush=True)
    for line in sys.stdin:
        words = line.split()
        answer = train(model, optimizer, images, labels, steps) if words == ["go"] else check(model, words[1], shape)
        print(json.dumps(answer), flush=True)


main()
