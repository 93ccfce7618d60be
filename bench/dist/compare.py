#!/usr/bin/env python3
"""What several processes cost: the parts of a training step for 1, 2 and 4 processes on this machine, sums over slower
networks, a model of both, and what it says of 8 to 256 machines.
    compare.py DIST_BENCH [--quick]

The slower networks are made of network namespaces (link.py), which only root may do; without, that part is left out.
Times of steps are medians; of sums the least too, which other work on the machine disturbs less, and which the model is
fitted to. The model of a sum of b bytes over n processes is that of a ring: 2 (n-1) (alpha + b / (n B)), with
alpha the time of a message and B bytes a second."""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORES = len(os.sched_getaffinity(0))
NETWORKS = [("resnet20-v1", 128), ("mnist-cnn", 256)]  # batch of all processes
RESNET20 = 273148  # floats in the gradients of resnet20-v1
SIZES = [1, 10, 1000, 30000, RESNET20, 2000000]
LINKS = [(0.0, 1000.0), (1.0, 1000.0), (1.0, 100.0), (10.0, 100.0)]  # ms each way, megabits a second
# Networks as they are sold; not measured here. Delay each way in seconds, bytes a second. A step of Gloo's ring takes two
# delays (links of 10 ms show it): the receiver says that it is ready before anything but a few bytes is sent.
SOLD = [("1 Gbit/s, 0.1 ms", 1e-4, 1.25e8), ("10 Gbit/s, 0.05 ms", 5e-5, 1.25e9), ("100 Gbit/s, 0.02 ms", 2e-5, 1.25e10)]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", help="the built dist_bench")
parser.add_argument("--quick", action="store_true", help="one step, one sum: to see that it runs")
options = parser.parse_args()
PROGRAM = str(pathlib.Path(options.program).resolve())
STEPS = 3 if options.quick else 12


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def together(size, words, address="127.0.0.1", inside=lambda rank: []):
    """Runs the program as so many processes; the answer is what rank 0 printed."""
    port = free_port()
    processes = []
    for rank in range(size):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR=address, MASTER_PORT=str(port),
                           GOMP_SPINCOUNT="1000")
        processes.append(subprocess.Popen([*inside(rank), PROGRAM, *map(str, words)], env=environment, text=True,
                                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
    answer = processes[0].communicate(timeout=600)[0]
    for process in processes[1:]:
        process.communicate(timeout=600)
    if any(process.returncode != 0 for process in processes):
        sys.exit("dist_bench failed; what it said is above")
    return json.loads(answer)


def rounds(count, slow=False):
    return 2 if options.quick else max(3, min(200 if not slow else 20, 2000000 // count))


def fit(sums):
    """alpha and B by least squares on relative errors, over sums {(processes, floats): what was measured}."""
    rows = [(2 * (n - 1), 8 * (n - 1) / n * count, seen["least"]) for (n, count), seen in sums.items()]
    aa = sum((a / t) ** 2 for a, b, t in rows)
    ab = sum(a * b / t / t for a, b, t in rows)
    bb = sum((b / t) ** 2 for a, b, t in rows)
    at, bt = sum(a / t for a, b, t in rows), sum(b / t for a, b, t in rows)
    determinant = aa * bb - ab * ab
    alpha, per_byte = (at * bb - bt * ab) / determinant, (aa * bt - ab * at) / determinant
    return max(alpha, 0.0), 1 / per_byte if per_byte > 0 else float("inf")


def predicted(n, count, alpha, speed):
    return 2 * (n - 1) * (alpha + 4 * count / n / speed)


def show_sums(title, sums):
    alpha, speed = fit(sums)
    print(f"\n{title}: alpha = {alpha * 1e3:.3f} ms, B = {speed / 1e6:.0f} MB/s")
    print("  processes     floats   least ms  median ms   model ms")
    for (n, count), seen in sums.items():
        print(f"  {n:9} {count:10} {seen['least'] * 1e3:10.3f} {seen['median'] * 1e3:10.3f} "
              f"{predicted(n, count, alpha, speed) * 1e3:10.3f}", flush=True)


def show_step(label, seen):
    rest = seen["step"] - seen["gradients"] - seen["statistics"]
    print(f"  {label:34} {seen['step'] * 1e3:9.1f} {rest * 1e3:9.1f} {seen['gradients'] * 1e3:10.2f} "
          f"{seen['statistics'] * 1e3:11.3f} {seen['work'] * 1e3:9.1f}", flush=True)


def show_steps():
    print("a step in ms, of which: computing, waiting for gradients, for statistics; and the work of one process's cores")
    print("  what                                    step computing  gradients  statistics      work")
    alone = {}
    for network, batch in NETWORKS:
        for size in (1, 2, 4):
            threads = max(1, CORES // size)
            seen = together(size, ["train", network, batch, STEPS, threads])
            show_step(f"{network}, {size} x {batch // size}, {threads} thr.", seen)
            if size == 1:
                alone[network] = seen
        share = seen["statistics_bytes"] / seen["gradient_bytes"]
        print(f"    bytes a step: gradients {seen['gradient_bytes']} in {seen['gradient_calls']} sums, statistics "
              f"{seen['statistics_bytes']} in {seen['statistics_calls']}: {share:.4%}")
        alone[network]["gradient_bytes"] = seen["gradient_bytes"]
    return alone


def show_link(delay, megabits):
    """Sums and a step over made-up machines; False where they can't be made."""
    for size in (2, 4):
        link = subprocess.Popen([sys.executable, HERE / "link.py", str(size), str(delay), str(megabits)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if link.stdout.readline() != "ready\n":
                print("\nno network namespaces here: the part with slower networks is left out")
                return False
            inside = lambda rank: ["ip", "netns", "exec", f"lipschitzlr{rank}"]
            sums = {(size, count): together(size, ["sum", count, rounds(count, slow=True)], "10.77.0.1",
                                            inside) for count in (1, 30000, RESNET20)}
            show_sums(f"{size} machines, {delay:g} ms each way, {megabits:g} Mbit/s", sums)
            show_step(f"resnet20-v1, {size} x {128 // size}, 1 thr.",
                      together(size, ["train", "resnet20-v1", 128, max(3, STEPS // 3), 1], "10.77.0.1", inside))
        finally:
            link.stdin.close()
            link.wait()
    return True


def show_forecast(alone):
    seen = alone["resnet20-v1"]
    bytes_of_gradients, computing = seen["gradient_bytes"], seen["work"] / CORES
    print(f"\nforecast: ResNet20, 128 images on each machine, {computing * 1e3:.0f} ms of computing (measured work / cores)")
    print("share of the time that is spent computing if no sum is hidden behind it, and ms of the sum of gradients")
    sizes = (8, 16, 32, 64, 128, 256)
    print("  network               " + "".join(f"{n:>16}" for n in sizes))
    for name, delay, speed in SOLD:
        cells = []
        for n in sizes:
            seconds = predicted(n, bytes_of_gradients / 4, 2 * delay, speed)
            cells.append(f"{computing / (computing + seconds):7.1%} {seconds * 1e3:5.1f} ms")
        print(f"  {name:22}" + "".join(f"{cell:>16}" for cell in cells))


def main():
    print(f"{CORES} cores, load {os.getloadavg()[0]:.1f}: other work on the machine shows in the figures")
    alone = show_steps()
    sizes = SIZES[:2] if options.quick else SIZES
    show_sums("on this machine", {(n, count): together(n, ["sum", count, rounds(count)])
                                  for n in (2, 4) for count in sizes})
    for delay, megabits in LINKS[:1] if options.quick else LINKS:
        if not show_link(delay, megabits):
            break
    show_forecast(alone)


if __name__ == "__main__":
    main()
