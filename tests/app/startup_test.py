#!/usr/bin/env python3
"""The light path stays light: startup_test.py PROGRAM

The front command must not be linked against libtorch, and must start in under 30 ms (the quickest of twenty starts: the
machine may be busy with something else in the others).
"""
import subprocess
import sys
import time

LIMIT = 0.030
program = sys.argv[1]

libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
heavy = [line.strip() for line in libraries.splitlines() if "torch" in line or "libc10" in line]
if heavy:
    sys.exit(f"{program} loads libtorch: {heavy}")

quickest = float("inf")
for _ in range(20):
    started = time.perf_counter()
    subprocess.run([program, "env"], check=True, stdout=subprocess.DEVNULL)
    quickest = min(quickest, time.perf_counter() - started)
print(f"quickest start: {1000 * quickest:.1f} ms, limit {1000 * LIMIT:.0f} ms")
sys.exit(quickest > LIMIT)
