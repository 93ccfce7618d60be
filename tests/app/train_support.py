#!/usr/bin/env python3
"""What the tests of `train` share: small images made here, and the program run as a user runs it.

The images have three classes, a bright band at another place in each, as PNG files. A test file calls main(), which
takes the program and perhaps names of tests: train_resume_test.py PROGRAM [TEST ...]
"""
import concurrent.futures
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = ""
SIDE = 12
LIMIT = 300  # seconds for any one command
TINY = ["--threads", "1", "--batch", "16"]
CNN = TINY + ["--data", "../grey", "--model", "mnist-cnn", "--optimizer", "adamo", "--first-rate", "0.1"]
BARE = TINY + ["--data", "../grey", "--model", "mlp-8"]
MLP = BARE + ["--optimizer", "adamo", "--first-rate", "0.1"]
RESNET = TINY + ["--data", "../colour", "--model", "resnet8-v1"]
AUTO = BARE + ["--optimizer", "auto"]
OPTIMIZERS = ["sgd", "adamo", "rmsprop", "auto-adam", "momentum", "adam", "adamw"]
PEERS = ["amsgrad", "adadelta", "adashift", "wngrad", "wn-adam", "adabound", "amsbound", "nadamw", "prodigy", "dadapt-adam",
         "dog", "schedule-free", "momo-adam"]  # steps of their own
POLICIES = ["baseline", "fixed", "adaptive"]
SECOND_MOMENTS = ["elementwise", "full-square", "without-weight-square", "coded", "coded-full-square"]


def output_of(process, limit=LIMIT):
    """(out, err) of a process when it has ended; one that does not end in time is killed, or "with" would wait for it."""
    try:
        return process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def write_png(path, side, channels, pixels):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    row = side * channels
    lines = b"".join(b"\0" + pixels[y * row:(y + 1) * row] for y in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 0 if channels == 1 else 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) +
                   chunk(b"IEND", b""))


def write_images(folder, counts, side=SIDE, channels=1):
    mix = random.Random(os.path.basename(folder))
    for part, count in counts.items():
        for label, name in enumerate(["left", "middle", "right"]):
            where = os.path.join(folder, part, name)
            os.makedirs(where)
            for number in range(count):
                pixels = bytes(
                    min(255, max(0, round(100 + 70 * (3 * x // side == label) + mix.gauss(0, 50))))
                    for _ in range(side) for x in range(side) for _ in range(channels))
                write_png(os.path.join(where, f"{number}.png"), side, channels, pixels)


def sum_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def lines_of(folder, kind):
    with open(folder + "/metrics.jsonl", encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if line["kind"] == kind]


def epochs_of(folder):
    """The epoch lines of the record, without how long things took."""
    return [{key: value for key, value in line.items() if not key.endswith("_seconds")}
            for line in lines_of(folder, "epoch")]


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class TrainCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="lipschitzlr-train-")
        write_images(cls.root + "/grey", {"train": 40, "test": 10})
        write_images(cls.root + "/colour", {"train": 16, "test": 4}, channels=3)
        write_images(cls.root + "/small", {"train": 4, "test": 4}, side=6)
        write_images(cls.root + "/flat", {".": 10})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.root)

    def start(self, *words, **more):
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8",
                           LIPSCHITZLR_DATA=self.root + "/cache")
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def run_program(self, *words, code=0, **more):
        with self.start(*words, **more) as process:
            out, err = output_of(process)
        self.assertEqual(process.returncode, code, f"{' '.join(words)}\n{out}\n{err}")
        return out, err

    def train(self, folder, *words, code=0, **more):
        return self.run_program("train", *words, "-o", folder, code=code, **more)

    def resume(self, folder, *words, code=0):
        return self.run_program("train", "--resume", folder, *words, code=code)

    def refusal(self, code, *words, **more):
        """The one line with which the program refuses."""
        out, err = self.run_program(*words, code=code, **more)
        self.assertEqual(out, "", words)
        self.assertRegex(err, r"\Alipschitzlr: [^\n]+\n\Z", words)
        return err

    def in_parallel(self, calls):
        with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
            for future in [pool.submit(call) for call in calls]:
                future.result()

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_same_run(self, folder, other, what=""):
        self.assertEqual(epochs_of(self.path(folder)), epochs_of(self.path(other)), what)
        for name in ["weights.safetensors", "best.safetensors"]:
            self.assertEqual(sum_of(self.path(folder + "/" + name)), sum_of(self.path(other + "/" + name)),
                             f"{name} differs; {what}")
        first, second = (read_json(self.path(name + "/summary.json")) for name in (folder, other))
        for key in ["stopped", "epochs", "steps", "best", "final", "test", "train_loss", "train_accuracy"]:
            self.assertEqual(first[key], second[key], f"{key} in summary.json; {what}")
        for name in (folder, other):
            left = [file for file in os.listdir(self.path(name)) if file.endswith(".part")]
            self.assertEqual(left, [], what)

    def wait_for_checkpoints(self, process, folder, count):
        """Until so many new checkpoints are there; False when the training ended before."""
        path, seen = self.path(folder + "/checkpoint.safetensors"), set()
        deadline = time.monotonic() + LIMIT

        def inode():
            try:
                state = os.stat(path)
                return state.st_ino, state.st_mtime_ns
            except FileNotFoundError:
                return None

        first = inode()
        while len(seen) < count:
            if process.poll() is not None:
                return False
            if inode() != first:
                seen.add(inode())
            self.assertLess(time.monotonic(), deadline, "no checkpoint appears")
            time.sleep(0.001)
        return True


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
