#!/usr/bin/env python3
"""Speed and memory of our CSV reader against pandas' and NumPy's, interleaved in one run: on one core, and ours on two.

    bench/read/compare.py BUILD_FOLDER/bench/read/read_bench [--megabytes 120] [--rounds 3]

Makes its files in a temporary folder: six significant digits, whole numbers, all 17 digits, and texts with gaps between
numbers, which pandas reads as categories. The rate is of the fastest round by processor time, which other work on the
machine disturbs least; that by wall time is beside it, and is the one that counts for two threads. polars and DuckDB
take part where Python has them; Debian 12 has packages of neither.
"""
import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COLUMNS = 20
KINDS = {"six digits": "%.6g", "whole numbers": "%d", "17 digits": "%.17g"}
PEERS = ["pandas", "pandas-exact", "numpy"]
PEERS_WITH_THREADS = [name for name in ("polars", "duckdb") if importlib.util.find_spec(name)]
TWO = ", 2 threads"


def make_file(path, kind, megabytes):
    import numpy

    generator = numpy.random.default_rng(1)
    row_format = ",".join([KINDS[kind]] * COLUMNS) + "\n"
    with open(path, "w") as file:
        file.write(",".join(f"c{i}" for i in range(COLUMNS)) + "\n")
        while file.tell() < megabytes * 1e6:
            block = generator.standard_normal((2000, COLUMNS)) * 10.0 ** generator.integers(-2, 5, COLUMNS)
            file.write("".join(row_format % tuple(row) for row in block.tolist()))


def make_texts(path, megabytes):
    import numpy

    generator = numpy.random.default_rng(1)
    levels = [[f"level-{column}-{i}" for i in range(2 ** (column + 1))] for column in range(6)]
    with open(path, "w") as file:
        file.write(",".join([f"c{i}" for i in range(12)] + ["y"]) + "\n")
        while file.tell() < megabytes * 1e6:
            for numbers in generator.integers(0, 100000, (2000, 7)).tolist():
                texts = [level[number % len(level)] for level, number in zip(levels, numbers)]
                texts[numbers[0] % 6] = "?" if numbers[1] % 20 == 0 else texts[numbers[0] % 6]
                file.write(",".join([f"{text},{number}" for text, number in zip(texts, numbers)]) + f",{numbers[6]}\n")


def measure(command, source=None, cores=1):
    def stay():
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])

    done = subprocess.run(command, stdin=source, stdout=subprocess.PIPE, text=True, check=True, preexec_fn=stay)
    return json.loads(done.stdout)


def measure_ours(runs, title, program, path, *words):
    runs[title].append(measure([program, path, "1", *words]))
    runs[title + TWO].append(measure([program, path, "2", *words], cores=2))


def best(runs):
    return min(runs, key=lambda run: run["processor"])


def report(title, size, runs):
    ours = best(runs["ours"])
    print(f"{title}: {size / 1e6:.0f} MB, {ours['rows']} rows, matrix {ours['matrix'] / 1e6:.0f} MB")
    print(f"  {'reader':22} {'MB/s':>7} {'(wall)':>8} {'ours is':>9} {'memory / matrix':>16}")
    for name, results in runs.items():
        run = best(results)
        wall = min(result["wall"] for result in results)
        print(f"  {name:22} {size / 1e6 / run['processor']:7.0f} {size / 1e6 / wall:8.0f} "
              f"{run['processor'] / ours['processor']:8.2f}x {run['peak'] / run['matrix']:15.2f}", end="")
        alone = runs.get(name.removesuffix(TWO)) if name.endswith(TWO) else None
        print(f"   {min(one['wall'] for one in alone) / wall:.2f}x one thread's wall time" if alone else "")


def compare(program, path, kind, rounds):
    ours = ["ours", "ours" + TWO, "ours, piped", "ours, gzip", "ours, gzip" + TWO]
    runs = {name: [] for name in [*ours, *PEERS, *PEERS_WITH_THREADS]}
    packed = path.with_suffix(".gz")
    with open(path, "rb") as plain, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(plain, target)
    peer = [sys.executable, str(pathlib.Path(__file__).with_name("peer.py"))]
    for _ in range(rounds):
        measure_ours(runs, "ours", program, path)
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            runs["ours, piped"].append(measure([program, "-", "1"], cat.stdout))
        measure_ours(runs, "ours, gzip", program, packed)
        for name in PEERS:
            runs[name].append(measure([*peer, name, path]))
        for name in PEERS_WITH_THREADS:
            runs[name].append(measure([*peer, name, path], cores=2))
    report(kind, path.stat().st_size, runs)
    packed.unlink()


def compare_texts(program, path, rounds):
    runs = {"ours": [], "ours" + TWO: [], "pandas-text": []}
    peer = [sys.executable, str(pathlib.Path(__file__).with_name("peer.py"))]
    for _ in range(rounds):
        measure_ours(runs, "ours", program, path, "raw")
        runs["pandas-text"].append(measure([*peer, "pandas-text", path]))
    report("texts and numbers", path.stat().st_size, runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="the built read_bench")
    parser.add_argument("--megabytes", type=float, default=120, help="size of each file (default 120)")
    parser.add_argument("--rounds", type=int, default=3, help="times each reader runs (default 3)")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = pathlib.Path(folder) / "numbers.csv"
            make_file(path, kind, options.megabytes)
            compare(options.program.resolve(), path, kind, options.rounds)
        make_texts(path, options.megabytes)
        compare_texts(options.program.resolve(), path, options.rounds)


main()
