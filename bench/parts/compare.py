#!/usr/bin/env python3
"""One process that reads all of a CSV, against several of which each reads its part.

usage: compare.py PARTS_BENCH [--gigabytes 4] [--columns 50] [--processes 2,4] [--threads 1] [--folder FOLDER]

PARTS_BENCH says where the program is: two folders above, in bin/. Makes a table of numbers of so many gigabytes of text,
and fits least squares to it. Prints for each number of processes the seconds from the start to the end, the bytes that
the process with the most has read, and the largest resident set of any of them.
"""
import argparse
import json
import os
import pathlib
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time

ROWS_OF_BLOCK = 20000


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return str(door.getsockname()[1])


def write_table(path, size, columns):
    """The same block of rows again and again: what is in them does not matter here."""
    mix = random.Random(1)
    rows = [[mix.gauss(0, 1) for _ in range(columns)] for _ in range(ROWS_OF_BLOCK)]
    block = "".join(",".join(f"{x:.8f}" for x in [*row, sum(row) + mix.gauss(0, 1)]) + "\n" for row in rows).encode()
    with open(path, "wb") as file:
        file.write((",".join(f"x{j}" for j in range(columns)) + ",y\n").encode())
        while file.tell() < size:
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def run(program, processes, words):
    """Seconds, what rank 0 printed, and the largest resident set in bytes."""
    start = time.perf_counter()
    running = []
    shared = {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(),
              "LIPSCHITZLR_TOKEN": secrets.token_hex(8)}
    for rank in range(processes):
        own = {**shared, "RANK": str(rank)} if processes > 1 else {}
        running.append(subprocess.Popen([program, "fit", *words], env={**os.environ, **own}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL, text=True))
    said = running[0].stdout.read()
    peak = 0
    for process in running:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"failed with {process.returncode}: fit {' '.join(words)}")
        peak = max(peak, usage.ru_maxrss * 1024)
    return time.perf_counter() - start, json.loads(said), peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts_bench", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--processes", default="2,4")
    parser.add_argument("--threads", default="1", help="of each process")
    parser.add_argument("--folder", help="where there is room for the table; default: that of temporary files")
    arguments = parser.parse_args()
    program = arguments.parts_bench.resolve().parents[2] / "bin" / "lipschitzlr"
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        table = os.path.join(folder, "big.csv")
        write_table(table, arguments.gigabytes * 1e9, arguments.columns)
        size = os.path.getsize(table)
        print(f"{size / 1e9:.2f} GB of CSV, {arguments.columns} columns, {arguments.threads} thread(s) a process")
        print(f"{'processes':>9} {'seconds':>8} {'most read, MB':>14} {'peak, MB':>9}")
        for processes in [1, *map(int, arguments.processes.split(","))]:
            seconds, answer, peak = run(program, processes, [table, "--l2", "0.1", "--threads", arguments.threads, "-q",
                                                             "--json"])
            read = max(answer.get("bytes_read", [size]))
            print(f"{processes:9} {seconds:8.1f} {read / 1e6:14.1f} {peak / 1e6:9.0f}", flush=True)


if __name__ == "__main__":
    main()
