#!/usr/bin/env python3
"""A network training's record beside a curve of the paper's authors, epoch by epoch: validation accuracy, training loss
with the penalty (as Keras reports it) and the computed rate.
    compare.py RECORD NAME      e.g. experiments/records/cifar10-resnet20-adamo-adaptive
                                     CIFAR10/Momentum/ResNet/Adaptive/1e-3"""
import json
import pathlib
import sys

CURVES = pathlib.Path(__file__).resolve().parent / "curves" / "authors.json"


def epochs_of(record):
    lines = (json.loads(line) for line in (pathlib.Path(record) / "metrics.jsonl").open(encoding="utf-8"))
    return [line for line in lines if line["kind"] == "epoch"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    record, name = sys.argv[1:]
    curves = json.loads(CURVES.read_text(encoding="utf-8"))["curves"]
    if name not in curves:
        sys.exit(f"there is no curve {name}; there are\n  " + "\n  ".join(curves))
    theirs = curves[name]
    print(f"{'epoch':>5} {'val. acc.':>10} {'authors':>8} {'loss':>9} {'authors':>8} {'rate':>9} {'authors':>9}")
    for i, ours in enumerate(epochs_of(record)[: len(theirs["loss"])]):
        rate = f"{theirs['rate'][i]:9.4g}" if "rate" in theirs else f"{'-':>9}"
        print(f"{ours['epoch']:5} {100 * ours['val_accuracy']:8.2f} % {100 * theirs['val_accuracy'][i]:8.2f} "
              f"{ours['loss'] + ours['penalty']:9.4f} {theirs['loss'][i]:8.4f} {ours['rate']:9.4g} {rate}")


if __name__ == "__main__":
    main()
