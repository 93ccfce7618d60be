#!/usr/bin/env python3
"""Methods that promise to need no learning rate, each with nothing set, against the best of a grid at the same budget.
    compare.py AUTO_BENCH [--held-out | --ablations | --hostile] [--only NAME] [--methods NAME,...] [--minutes N]
               [--records FOLDER] [--quick]

Every training is one line in FOLDER/development.jsonl or held-out.jsonl; what is there already is not run again, so that
a run can be stopped at any time and continued. At the end, and with --minutes 0 at once, figures.py makes the table and
the performance profile from these lines. Held-out workloads were named in workloads.cpp before their first run: they
are opened once, when the rule is finished, and only with --held-out.

The oracle is the best of {NAdam, SGD with momentum} x {constant, linear decay} x half decades of rates. The grid begins
with three rates and grows at an edge as long as the best is there. It is chosen by two seeds and measured with the three
that every method has.

--ablations trains auto without one of its parts on the development workloads, --hostile trains it from fifty hostile
starts: weights, inputs and batches of the wrong size, labels at random."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHOICE_SEEDS, SEEDS = [101, 102], [1, 2, 3]
NADAM = {"optimizer": "nadamw", "settings": {"beta1": 0.9, "beta2": 0.995, "weight_decay": 0}}
# A family of the grid: its optimizer, and the half decades that it begins with.
GRID = {"nadam": (NADAM, range(-5, -2)), "momentum": ({"optimizer": "momentum"}, range(-3, 0))}
SCHEDULES = ["constant", "linear"]
FARTHEST = {"nadam": (-12, 2), "momentum": (-10, 4)}  # half decades: nothing is looked for beyond
METHODS = {
    "auto": {"optimizer": "auto"},
    "nadam 0.01 linear": NADAM | {"rate": 0.01, "schedule": "linear"},
    "nadamw AlgoPerf": {"optimizer": "nadamw", "schedule": "cosine", "warmup": 0.02},
    "adamw cosine": {"optimizer": "adamw", "schedule": "cosine", "warmup": 0.05, "weight_decay": 0.01},
    "adam": {"optimizer": "adam"},
    "prodigy cosine": {"optimizer": "prodigy", "schedule": "cosine"},
    "dadapt-adam": {"optimizer": "dadapt-adam"},
    "dog": {"optimizer": "dog"},
    "schedule-free": {"optimizer": "schedule-free"},
    "momo-adam": {"optimizer": "momo-adam"},
    "momentum 0.1": {"optimizer": "momentum", "rate": 0.1},
}
ABLATIONS = ["ramp", "measured", "decay", "average", "guard"]


def hostile_starts():
    """Fifty starts of development workloads; softmax-mnist is convex, the others are deep, with and without norms."""
    networks = ["mlp-covertype", "mlp-fashion-narrow", "lenet", "cnn-batch-norm", "resnet8", "mlp-california"]
    starts = [(name, {"start": scale}) for name in networks for scale in (0.01, 0.1, 10, 100)]
    starts += [(name, {"inputs": scale}) for name in networks + ["softmax-mnist"] for scale in (1e-3, 1e3)]
    starts += [(name, {"batch": rows}) for name in networks[:4] for rows in (8, 2048)]
    starts += [(name, {"labels": "random"}) for name in ("mlp-covertype", "mlp-fashion-narrow", "lenet", "softmax-mnist")]
    return starts


class Records:
    """The lines of one file; a training is known by all that was asked of it."""

    def __init__(self, path):
        self.path = path
        self.lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self.known = {self.key(line["wish"]): line for line in self.lines}

    @staticmethod
    def key(wish):
        return json.dumps(wish, sort_keys=True)

    def add(self, line):
        self.lines.append(line)
        self.known[self.key(line["wish"])] = line
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


class OutOfTime(Exception):
    pass


class Bench:
    """auto_bench, started when it is first needed; trains what is not in the records."""

    def __init__(self, program, records, minutes):
        self.program, self.records, self.process = program, records, None
        self.end = math.inf if minutes is None else time.monotonic() + 60 * minutes
        version = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        self.version = version.stdout.strip()

    def train(self, wish):
        known = self.records.known.get(Records.key(wish))
        if known is not None:
            return known
        if time.monotonic() > self.end:
            raise OutOfTime
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps(wish) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            self.process.wait()
            self.process = None
            return None  # it has said why
        result = json.loads(answer)
        for name in ("losses", "accuracies"):
            result[name] = [value if value is None else float(f"{value:.6g}") for value in result[name]]
        result["seconds"] = round(result["seconds"], 3)
        line = {"wish": wish, "date": time.strftime("%Y-%m-%d"), "commit": self.version} | result
        self.records.add(line)
        shown = result["losses"][-1]
        print(f"{wish['workload']:20} {wish['optimizer']:14} {wish.get('rate', 0):<9.3g} {wish.get('schedule', ''):9}"
              f" seed {wish['seed']:<4} loss {'not finite' if shown is None else f'{shown:.4f}'}"
              f"  {result['seconds']:.1f} s", flush=True)
        return line


def rate_of(half_decades):
    return float(f"{10 ** (half_decades / 2):.3g}")


def grid_wish(workload, family, schedule, half_decades, seed):
    rate = {"rate": rate_of(half_decades), "schedule": schedule}
    return {"workload": workload, "role": "grid", "seed": seed} | GRID[family][0] | rate


def search(bench, workload, family, schedule):
    """The grid of one family and schedule: [(mean final loss, half decades)], grown until the best is inside."""
    scores = {}

    def score(place):
        if place not in scores:
            runs = [bench.train(grid_wish(workload, family, schedule, place, seed)) for seed in CHOICE_SEEDS]
            scores[place] = figures.mean_final(runs)
        return scores[place]

    for place in GRID[family][1]:
        score(place)
    while True:
        best = min(scores, key=lambda place: (scores[place], place))  # of equals, such as infinite ones, the least
        edge = min(scores) - 1 if best == min(scores) else max(scores) + 1 if best == max(scores) else None
        if edge is None or not FARTHEST[family][0] <= edge <= FARTHEST[family][1]:
            return scores[best], best
        score(edge)


def run_workload(bench, workload, methods):
    """The grid, the best of each schedule with fresh seeds, then every method."""
    for schedule in SCHEDULES:
        found = {family: search(bench, workload, family, schedule) for family in GRID}
        family = min(found, key=lambda name: found[name][0])
        for seed in SEEDS:
            bench.train(grid_wish(workload, family, schedule, found[family][1], seed) | {"role": f"best {schedule}"})
    for name in methods:
        for seed in SEEDS:
            if bench.train({"workload": workload, "role": name, "seed": seed} | METHODS[name]) is None:
                print(f"{workload}: {name} was left out", file=sys.stderr)
                break


def run_ablations(bench, workloads):
    for workload in workloads:
        for part in ABLATIONS:
            for seed in SEEDS:
                bench.train({"workload": workload["name"], "role": f"without {part}", "seed": seed, "optimizer": "auto",
                             "without": part})


def run_hostile(bench, workloads):
    for name, start in hostile_starts():
        if any(one["name"] == name for one in workloads):
            bench.train({"workload": name, "role": "hostile", "seed": 1, "optimizer": "auto"} | start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built auto_bench")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--held-out", action="store_true", help="open the held-out workloads")
    part.add_argument("--ablations", action="store_true", help="auto without one of its parts")
    part.add_argument("--hostile", action="store_true", help="auto from fifty hostile starts")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--methods", default=",".join(METHODS), help="names with commas between them")
    parser.add_argument("--minutes", type=float, help="begin no training after so many")
    parser.add_argument("--records", default=str(ROOT / "experiments" / "auto"), help="folder of the lines and figures")
    parser.add_argument("--quick", action="store_true", help="one training, recorded nowhere: to see that it runs")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    listed = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    workloads = [one for one in map(json.loads, listed)
                 if one["held_out"] == options.held_out and options.only in one["name"]]
    if not workloads:
        sys.exit(f"compare.py: no workload's name contains {options.only}")
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(program, Records(pathlib.Path(folder) / "quick.jsonl"), None)
            sys.exit(bench.train({"workload": "softmax-mnist", "role": "adam", "seed": 1} | METHODS["adam"]) is None)
    methods = options.methods.split(",")
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        sys.exit(f"compare.py: there is no method \"{unknown[0]}\"; known are {', '.join(METHODS)}")
    kind = "held-out" if options.held_out else "development"
    records = Records(pathlib.Path(options.records) / f"{kind}.jsonl")
    folder = pathlib.Path(options.records)
    extra = "ablations" if options.ablations else "hostile" if options.hostile else None
    bench = Bench(program, Records(folder / f"{extra}.jsonl") if extra else records, options.minutes)
    try:
        if options.ablations:
            run_ablations(bench, workloads)
        elif options.hostile:
            run_hostile(bench, workloads)
        else:
            for workload in workloads:
                run_workload(bench, workload["name"], methods)
    except OutOfTime:
        print("The time is over; the same command continues.")
    if options.ablations:
        figures.write_ablations(records.lines, bench.records.lines, [f"without {part}" for part in ABLATIONS], folder)
    elif options.hostile:
        figures.write_hostile(bench.records.lines, folder)
    else:
        figures.write(records.lines, kind, folder, list(METHODS))


if __name__ == "__main__":
    main()
