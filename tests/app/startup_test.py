#!/usr/bin/env python3
"""The light path stays light: startup_test.py PROGRAM

The front command must not be linked against libtorch, and must start in under 30 ms; where the machine is slow or busy, in
less than twice what Python takes to start there (the quickest of twenty starts each, taking turns).
"""
import subprocess
import sys
import time

LIMIT = 0.030
PEER = ["/usr/bin/python3", "-c", "pass"]  # about 10 ms on the machine for which the limit was chosen
program = sys.argv[1]

libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
heavy = [line.strip() for line in libraries.splitlines() if "torch" in line or "libc10" in line]
if heavy:
    sys.exit(f"{program} loads libtorch: {heavy}")


def seconds_of(command):
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


turns = [(seconds_of([program, "env"]), seconds_of(PEER)) for _ in range(20)]
quickest, peer = map(min, zip(*turns))
limit = max(LIMIT, 2 * peer)
print(f"quickest start: {1000 * quickest:.1f} ms, limit {1000 * limit:.0f} ms (Python: {1000 * peer:.1f} ms)")
sys.exit(quickest > limit)
