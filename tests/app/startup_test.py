#!/usr/bin/env python3
"""The light path stays light: startup_test.py PROGRAM

The front command must not be linked against libtorch, and must start with less than 30 ms of processor time; where the
machine is slow or busy, with less than twice what Python takes to start there (the least of up to a hundred starts).
"""
import os
import subprocess
import sys

LIMIT = 0.030
PEER = ["/usr/bin/python3", "-c", "pass"]  # about 10 ms on the machine for which the limit was chosen
program = sys.argv[1]

libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
heavy = [line.strip() for line in libraries.splitlines() if "torch" in line or "libc10" in line]
if heavy:
    sys.exit(f"{program} loads libtorch: {heavy}")


def seconds_of(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


least = peer = float("inf")
for _ in range(100):
    least, peer = min(least, seconds_of([program, "env"])), min(peer, seconds_of(PEER))
    if least <= max(LIMIT, 2 * peer):
        break
print(f"start: {1000 * least:.1f} ms, limit {1000 * max(LIMIT, 2 * peer):.0f} ms (Python: {1000 * peer:.1f} ms)")
sys.exit(least > max(LIMIT, 2 * peer))
