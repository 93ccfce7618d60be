"""Processes of tests: they know nothing of who started the tests, and none outlives its test."""
import concurrent.futures
import os
import socket
import subprocess
import time

LIMIT = 300  # seconds for anything that is waited for
STARTERS = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "OMPI_", "PMI_", "SLURM_", "LIPSCHITZLR_", "GLOO_")


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return str(door.getsockname()[1])


def alone():
    """The environment of a process that nobody started with others."""
    return {name: value for name, value in os.environ.items() if not name.startswith(STARTERS)}


def start_process(test, words, folder, **variables):
    process = subprocess.Popen(words, cwd=folder, env={**alone(), **variables}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    test.addCleanup(process.communicate)
    test.addCleanup(process.kill)  # what is added last is done first
    return process


def wait_for_file(test, path, process):
    """Until something is in the file that the process writes."""
    deadline = time.monotonic() + LIMIT
    while not os.path.exists(path) or os.path.getsize(path) == 0:
        test.assertLess(time.monotonic(), deadline, f"{path} does not appear")
        test.assertIsNone(process.poll(), "the process ended before")
        time.sleep(0.01)


def said_by(processes):
    """(out, err) of each when all have ended, read together so that none waits for its reader."""
    with concurrent.futures.ThreadPoolExecutor(len(processes)) as readers:
        return list(readers.map(lambda process: process.communicate(timeout=LIMIT), processes))
