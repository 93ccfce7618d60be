"""Several processes of one command that know of one another, as torchrun starts them."""
from __future__ import annotations

import os
import socket
import subprocess
from typing import Mapping, Sequence


def _free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def run_processes(command: Sequence[str], size: int, extra: Mapping[str, str] = {}) -> list[str]:
    """What each printed, by rank; with size 1 one process that knows of no other. All must end with 0."""
    base = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    shared = {"OMP_NUM_THREADS": "1", **extra}
    if size > 1:
        shared.update(WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=_free_port())
    processes = [
        subprocess.Popen(
            command,
            env={**base, **shared, **({"RANK": str(rank)} if size > 1 else {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    said = [process.communicate(timeout=120) for process in processes]
    for process, (_, errors) in zip(processes, said):
        assert process.returncode == 0, errors
    return [out for out, _ in said]
