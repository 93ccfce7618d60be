#!/usr/bin/env python3
"""Training steps of our networks against the same networks in plain PyTorch: same sizes, same number of threads, taking
turns within one run. Before that, both must compute the same loss from the same weights. Then the cost of the tap, of
the authors' separate measuring pass, of making the batches and of auto over plain Adam, as shares of a step.
    compare.py NETWORK_BENCH [--threads N] [--rounds N] [--quick] [--only NAME]

Ours is timed as `train` runs: a step makes its augmented batch, measures the penultimate activations and counts what
is right, and its idle threads look for work for some microseconds, as the front command has it. PyTorch has one batch,
ready. Ours is timed twice more, with idle threads that sleep at once, and that look for as long as OpenMP has it, which
is how PyTorch's are."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

# name, batch, steps of a turn, goal against PyTorch (0: none)
NETWORKS = [
    ("resnet20-v1", 128, 8, 1.3),
    ("resnet164-v2", 128, 1, 1.5),
    ("mnist-cnn", 256, 8, 1.05),
    ("densenet-40-12", 128, 1, 0),
]
# How long idle threads wait for work before they sleep.
FRONT = {"GOMP_SPINCOUNT": "1000"}  # as start_torch_part() in src/app/torch_part.cpp
ASLEEP = {"OMP_WAIT_POLICY": "passive"}
UNSET = {}
TAP_GOAL, DATA_GOAL, AUTO_GOAL = 0.1, 3, 2  # per cent of a step
CALIBRATING = 25  # steps of auto, of the 240 that network_bench.cpp tells it of
TAPS = {"resnet20-v1": (128, 64), "mnist-cnn": (256, 128)}  # what their heads receive

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", help="the built network_bench")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--rounds", type=int, default=5, help="turns of each (default 5)")
parser.add_argument("--quick", action="store_true", help="one turn of one step: to see that it runs")
parser.add_argument("--only", default="", help="networks whose name contains this")
options = parser.parse_args()
PROGRAM = str(pathlib.Path(options.program).resolve())
ROUNDS = 1 if options.quick else options.rounds


class Process:
    """A program that has started and waits, answering one line at a time."""

    def __init__(self, *words, waiting=UNSET):
        own = {name: value for name, value in os.environ.items() if name not in FRONT | ASLEEP}
        environment = own | waiting | {"OPENBLAS_NUM_THREADS": str(options.threads)}
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.facts = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{' '.join(self.process.args)} has ended; what it said is above")
        return json.loads(line)

    def ask(self, line="go"):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def ours(name, batch, steps, measure="in-step", padding="tensorflow", optimizer="sgd", waiting=FRONT):
    return Process(PROGRAM, "train", name, batch, steps, options.threads, measure, padding, optimizer, waiting=waiting)


def theirs(name, batch, steps):
    peer = pathlib.Path(__file__).with_name("peer.py")
    return Process(sys.executable, peer, name, batch, steps, options.threads)


def must_agree(name):
    """One step moves batch norm's averages away from where they start; the loss is then that of a small batch."""
    with tempfile.TemporaryDirectory(prefix="network_bench.") as folder:
        with ours(name, 8, 1, padding="symmetric") as us, theirs(name, 8, 1) as them:
            us.ask()
            mine, other = us.ask(f"check {folder}"), them.ask(f"check {folder}")
    if mine["parameters"] != other["parameters"] or not abs(mine["loss"] / other["loss"] - 1) < 1e-4:
        sys.exit(f"{name}: ours has {mine}, PyTorch's {other}; they must agree")


def take_turns(processes):
    """The answers of each in turn, after one turn to warm up."""
    for process in processes:
        process.ask()
    return list(zip(*[[process.ask() for process in processes] for _ in range(ROUNDS)]))


def median(values):
    return statistics.median(list(values))


def speed(answers):
    return median(a["images"] / a["seconds"] for a in answers)


def verdict(reached, goal):
    return "" if not goal else "PASS" if reached else "short of goal"


def run_network(name, batch, steps, goal, machine):
    """Returns the seconds of a step, the share of the batches in it, and what the machine did at best meanwhile."""
    must_agree(name)
    steps = 1 if options.quick else steps
    with ours(name, batch, steps) as us, theirs(name, batch, steps) as them, \
            ours(name, batch, steps, waiting=ASLEEP) as asleep, ours(name, batch, steps, waiting=UNSET) as unset:
        operations = them.facts["operations"]
        other, *variants, peaks = take_turns([them, us, asleep, unset, machine])
    ratios = [median(b["seconds"] / a["seconds"] for a, b in zip(turns, other)) for turns in variants]
    mine = variants[0]
    best = min(b["seconds"] for b in other) / min(a["seconds"] for a in mine)
    flops = speed(mine) * operations
    peak = {kind: max(answer[kind] for answer in peaks) for kind in peaks[0]}
    speeds = " ".join(f"{speed(turns):9.1f} {ratio:6.2f}" for turns, ratio in zip(variants, ratios))
    print(f"{name:15s} {batch:5d} {speed(other):8.1f} {speeds} {goal or '-':>5} {flops / 1e9:8.0f} "
          f"{100 * flops / peak['sgemm']:6.0f} % {100 * flops / peak['fma']:5.0f} %  "
          f"{verdict(ratios[0] >= goal, goal)} ({best:.2f} by the best turns)", flush=True)
    return batch / speed(mine), 100 * median(a["data"] / a["seconds"] for a in mine), peak


def run_tap(name, step_seconds):
    rows, columns = TAPS[name]
    with Process(PROGRAM, "tap", rows, columns, options.threads, waiting=FRONT) as tap:
        tap.ask()
        seconds = median(tap.ask()["seconds"] for _ in range(ROUNDS))
    share = 100 * seconds / step_seconds
    print(f"{name:15s} measuring {rows} x {columns} in the step: {1e6 * seconds:.1f} us, {share:.4f} % of it "
          f"(goal {TAP_GOAL} %: {verdict(share <= TAP_GOAL, TAP_GOAL)})", flush=True)


def run_pass(name, batch, steps):
    """As many images pass as are trained on, so that the share is that of a whole epoch."""
    with ours(name, batch, 1 if options.quick else steps, measure="pass") as us:
        (answers,) = take_turns([us])
    share = 100 * median(a["measure"] / a["seconds"] for a in answers)
    print(f"{name:15s} the authors' pass before each epoch: {share:.0f} % of the training time", flush=True)


def run_auto(name, batch, steps):
    """While auto calibrates it looks at the gradient in every step, later in every tenth."""
    steps = 1 if options.quick else steps
    with ours(name, batch, steps, optimizer="auto") as auto, ours(name, batch, steps, optimizer="adam") as adam:
        turns = {"while it calibrates": CALIBRATING // steps, "after that": 2 * ROUNDS}
        if options.quick:
            turns = {"while it calibrates": 1}
        auto.ask(), adam.ask()
        for when, count in turns.items():
            pairs = [(auto.ask()["seconds"], adam.ask()["seconds"]) for _ in range(count)]
            share = 100 * (median(a / b for a, b in pairs) - 1)
            goal = AUTO_GOAL if when == "after that" else 0
            print(f"{name:15s} auto over plain Adam {when}: {share:+.1f} % of the step"
                  + (f" (goal {goal} %: {verdict(share <= goal, goal)})" if goal else ""), flush=True)


def main():
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"NOT QUIET: the load is {load:.1f}. Threads that wait for work without sleeping, as PyTorch's, lose "
              f"most beside others,\nso the ratios below are too good; repeat when the machine is idle.")
    print(f"Training steps, images/s by medians, {options.threads} threads each; plain PyTorch with Debian's "
          f"python3-torch; share of the arithmetic limits of the same run")
    print(f"{'network':15s} {'batch':>5s} {'PyTorch':>8s} {'ours':>9s} {'ratio':>6s} {'asleep':>9s} {'ratio':>6s} "
          f"{'unset':>9s} {'ratio':>6s} {'goal':>5s} {'GFLOP/s':>8s} {'of sgemm':>8s} {'of FMA':>7s}")
    chosen = [network for network in NETWORKS if options.only in network[0]]
    if not chosen:
        parser.error(f"there is no network with {options.only!r} in its name")
    with Process(PROGRAM, "peak", options.threads) as machine:
        results = {network[0]: run_network(*network, machine) for network in chosen}
    print("Idle threads of ours look for work briefly (GOMP_SPINCOUNT=1000, as the front command sets it: this counts), "
          "sleep\nat once (OMP_WAIT_POLICY=passive), or look as long as OpenMP has it (nothing is set), as PyTorch's do.")
    for name, batch, steps, _ in chosen:
        if name not in TAPS:
            continue
        step_seconds, data_share, _ = results[name]
        run_tap(name, step_seconds)
        run_pass(name, batch, steps)
        run_auto(name, batch, steps)
        print(f"{name:15s} making the augmented batches: {data_share:.2f} % of the step (goal {DATA_GOAL} %: "
              f"{verdict(data_share < DATA_GOAL, DATA_GOAL)})", flush=True)
    sgemm, fma = (max(peak[kind] for _, _, peak in results.values()) / 1e9 for kind in ("sgemm", "fma"))
    print(f"Machine at best, same run, {options.threads} threads: sgemm {sgemm:.0f} GFLOP/s, multiply-adds in "
          f"registers {fma:.0f} GFLOP/s (float)")


main()
