#!/usr/bin/env python3
"""A table that is larger than the memory it may take, against the disk it is on.

usage: compare.py STREAM_BENCH [--gigabytes 12] [--columns 100] [--memory 1G] [--folder FOLDER] [--threads N]

Makes a dense table of so many gigabytes of doubles in a folder of its own, packs it, then fits, predicts and evaluates
with `--memory`. Before and during each command the file is taken out of the system's cache again and again, so that every
pass reads the disk, as it would with a file larger than the machine. Prints seconds, how often the file was read from the
disk, the time of such a pass beside that of reading the file with nothing else to do, and the largest resident set.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

BLOCK = 4 << 20


def evict(descriptor: int) -> None:
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def read_once(path: pathlib.Path) -> float:
    """The seconds that the disk needs for the file."""
    buffer = bytearray(BLOCK)
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        evict(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        start = time.perf_counter()
        while file.readinto(buffer):
            pass
        return time.perf_counter() - start


class Evictor:
    """Takes a file out of the cache until it is told to stop."""

    def __init__(self, path: pathlib.Path):
        self.descriptor = os.open(path, os.O_RDONLY)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self) -> None:
        while not self.stopped.wait(0.3):
            evict(self.descriptor)

    def __enter__(self):
        os.fsync(self.descriptor)
        evict(self.descriptor)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        os.close(self.descriptor)


def run(words: list, output) -> tuple:
    """Seconds, bytes read from the disk and largest resident set of a command that must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in words], stdout=output, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with {process.returncode}: {' '.join(map(str, words))}")
    return time.perf_counter() - start, usage.ru_inblock * 512, usage.ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stream_bench", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=12)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--folder", help="where there is room for the table twice; default: that of temporary files")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    program = arguments.stream_bench.resolve().parents[2] / "bin" / "lipschitzlr"
    rows = int(arguments.gigabytes * 1e9 / 8 / arguments.columns)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        table, packed, model = folder / "big.csv", folder / "big.lrd", folder / "model.json"
        start = time.perf_counter()
        with open(table, "wb") as output:
            subprocess.run([arguments.stream_bench, str(rows), str(arguments.columns)], stdout=output, check=True)
        print(f"{rows} rows, {arguments.columns} features: {table.stat().st_size / 1e9:.2f} GB of CSV made in "
              f"{time.perf_counter() - start:.0f} s")
        seconds, _, peak = run([program, "data", "pack", table, "-o", packed], subprocess.DEVNULL)
        size = packed.stat().st_size
        print(f"packed: {size / 1e9:.2f} GB in {seconds:.0f} s, {table.stat().st_size / 1e6 / seconds:.0f} MB/s of text, "
              f"peak {peak / 1e6:.0f} MB")
        table.unlink()
        disk = min(read_once(packed) for _ in range(2))
        print(f"the disk alone: {disk:.1f} s, {size / 1e6 / disk:.0f} MB/s\n")
        limits = ["--memory", arguments.memory, "--threads", arguments.threads]
        commands = {
            "fit, least squares": ["fit", packed, "--l2", "0.1", "-q", "-o", model],
            "fit, 10 steps of gd": ["fit", packed, "--l2", "0.1", "--solver", "gd", "--rate", "0.01", "--epochs", "10",
                                    "--tolerance", "0", "-q", "-o", folder / "gd.json"],
            "fit, --l2 auto": ["fit", packed, "-q", "-o", folder / "auto.json"],
            "predict": ["predict", model, packed, "-o", folder / "predictions.csv"],
            "evaluate": ["evaluate", model, packed],
        }
        print(f"{'with --memory ' + arguments.memory:24} {'seconds':>8} {'passes':>7} {'s a pass':>9} {'of the disk':>12} "
              f"{'peak, MB':>9}")
        for title, words in commands.items():
            with Evictor(packed):
                seconds, read, peak = run([program, *words, *limits], subprocess.DEVNULL)
            passes = read / size
            each = seconds / passes
            print(f"{title:24} {seconds:8.1f} {passes:7.2f} {each:9.2f} {each / disk:12.2f} {peak / 1e6:9.0f}", flush=True)


if __name__ == "__main__":
    main()
