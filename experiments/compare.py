#!/usr/bin/env python3
"""A network training's record beside a curve of the paper's authors, epoch by epoch: validation accuracy, training loss
with the penalty (as Keras reports it) and the computed rate.
    compare.py RECORD CURVES NAME      e.g. experiments/records/cifar10-resnet20-adamo-adaptive authors_curves.json
                                            CIFAR10/Momentum/ResNet/Adaptive/1e-3"""
import json
import pathlib
import sys


def epochs_of(record):
    lines = (json.loads(line) for line in (pathlib.Path(record) / "metrics.jsonl").open(encoding="utf-8"))
    return [line for line in lines if line["kind"] == "epoch"]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    record, curves, name = sys.argv[1:]
    theirs = json.loads(pathlib.Path(curves).read_text(encoding="utf-8"))["runs"].get(name)
    if theirs is None:
        sys.exit(f"{curves}: there is no curve {name}")
    print(f"{'epoch':>5} {'val. acc.':>10} {'authors':>8} {'loss':>9} {'authors':>8} {'rate':>9} {'authors':>9}")
    for i, ours in enumerate(epochs_of(record)):
        rate = f"{theirs['lr'][i]:9.4g}" if "lr" in theirs else f"{'-':>9}"
        print(f"{ours['epoch']:5} {100 * ours['val_accuracy']:8.2f} % {100 * theirs['val_acc'][i]:8.2f} "
              f"{ours['loss'] + ours['penalty']:9.4f} {theirs['loss'][i]:8.4f} {ours['rate']:9.4g} {rate}")


if __name__ == "__main__":
    main()
