#!/usr/bin/env python3
"""A network of made-up machines: link.py COUNT DELAY_MS MEGABITS, as root.

Makes COUNT network namespaces (lipschitzlr0, ...) with the addresses 10.77.0.1, ... and carries their packets between
them, each DELAY_MS after it was sent and no more than MEGABITS a second out of each machine (0: no limit). It does what
`tc netem delay ... rate ...` does, for kernels without netem, with TUN devices and this process as the switch. Prints
"ready" once it carries; ends, and takes the namespaces away, when its standard input closes.
"""
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000
MTU = 9000  # large frames: fewer packets for this process to carry
CLONE_NEWNET = 0x40000000


def run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


def make_machine(number):
    """A namespace with a TUN device; the device's file stays open here."""
    name = f"lipschitzlr{number}"
    run("ip", "netns", "add", name)
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{name}", os.O_RDONLY)
    os_setns(other)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"tun0", IFF_TUN | IFF_NO_PI))
    os_setns(own)
    os.close(own)
    os.close(other)
    for words in (["addr", "add", f"10.77.0.{number + 1}/24", "dev", "tun0"],
                  ["link", "set", "tun0", "mtu", str(MTU), "txqueuelen", "10000", "up"], ["link", "set", "lo", "up"]):
        run("ip", "-n", name, *words)
    return device


def os_setns(descriptor):
    import ctypes
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def carry(devices, delay, bytes_a_second):
    """Packets wait in a heap ordered by the time at which they arrive."""
    free_at = [0.0] * len(devices)  # when the machine's line has sent all it was given
    waiting, order = [], 0
    owner = {device: number for number, device in enumerate(devices)}
    while True:
        now = time.perf_counter()
        while waiting and waiting[0][0] <= now:
            _, _, target, packet = heapq.heappop(waiting)
            try:
                os.write(devices[target], packet)
            except OSError:
                pass  # a full queue drops, as a switch does
        patience = max(0.0, waiting[0][0] - now) if waiting else None
        ready = select.select([sys.stdin, *devices], [], [], patience)[0]
        if sys.stdin in ready:
            return
        for device in ready:
            source = owner[device]
            try:
                packet = os.read(device, MTU + 64)
            except OSError:
                continue
            target = packet[19] - 1 if packet[0] >> 4 == 4 and len(packet) >= 20 else -1
            if not 0 <= target < len(devices):
                continue
            begin = max(time.perf_counter(), free_at[source])
            free_at[source] = begin + (len(packet) / bytes_a_second if bytes_a_second else 0.0)
            heapq.heappush(waiting, (free_at[source] + delay, order, target, packet))
            order += 1


def main():
    count, delay, megabits = int(sys.argv[1]), float(sys.argv[2]) / 1e3, float(sys.argv[3])
    made = 0
    try:
        devices = []
        for number in range(count):
            made = number + 1
            devices.append(make_machine(number))
        print("ready", flush=True)
        carry(devices, delay, megabits * 1e6 / 8)
    finally:
        for number in range(made):
            subprocess.run(["ip", "netns", "del", f"lipschitzlr{number}"], check=False)


if __name__ == "__main__":
    main()
