#!/usr/bin/env python3
"""How processes that train together are started, and what becomes of them when one is lost: start_test.py PROGRAM [TEST ...]

By launch, by plain variables and by mpirun they train the same weights. A killed process is named by the others, the
checkpoint is whole and goes on. What can't work together (a busy port, another world size, a missing process) is told.
Two machines are made of network namespaces where the system lets us; where not, that test is skipped and says so.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from processes import LIMIT, free_port, start_process  # noqa: E402
from train_support import epochs_of, sum_of, write_images  # noqa: E402

PROGRAM = ""
TRAIN = ["train", "--threads", "1", "--batch", "16", "--data", "../grey", "--model", "mlp-8", "--quiet"]
ENDLESS = [*TRAIN, "--epochs", "1000000", "--checkpoint-minutes", "1e-9", "-o", "run"]


def variables_of(process):
    with open(f"/proc/{process}/environ", encoding="utf-8") as file:
        return dict(word.split("=", 1) for word in file.read().split("\0") if "=" in word)


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


class Namespaces:
    """Two machines, joined by a cable."""

    NAMES = [f"lipschitzlr-{os.getpid()}-{number}" for number in range(2)]

    def __enter__(self):
        try:
            for name in self.NAMES:
                self.ip("netns", "add", name, forbidden=unittest.SkipTest)
            self.ip("link", "add", "cable", "netns", self.NAMES[0], "type", "veth", "peer", "name", "cable", "netns",
                    self.NAMES[1], forbidden=unittest.SkipTest)
            for number, name in enumerate(self.NAMES):
                self.ip("-n", name, "addr", "add", f"10.78.0.{number + 1}/24", "dev", "cable")
                for device in ("cable", "lo"):
                    self.ip("-n", name, "link", "set", device, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.NAMES:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)  # perhaps it was never made

    @staticmethod
    def ip(*words, forbidden=AssertionError):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            known = re.search("not permitted|not supported|[Pp]ermission denied", done.stderr)
            raise (forbidden if known else AssertionError)(f"ip {' '.join(words)}: {done.stderr.strip()}")


class StartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="lipschitzlr-start-")
        write_images(cls.root + "/grey", {"train": 30, "test": 10})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.root)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, words, before=(), program=None, **variables):
        variables.update(OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8", LIPSCHITZLR_DATA=self.root + "/cache")
        return start_process(self, [*before, program or PROGRAM, *words], self.folder, **variables)

    def start_rank(self, rank, size, port, words, before=(), **variables):
        return self.start(words, before, RANK=str(rank), WORLD_SIZE=str(size), MASTER_PORT=str(port),
                          LIPSCHITZLR_TOKEN="of this test", **variables)

    def finish(self, process, code=0):
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def wait_for(self, happened, process):
        deadline = time.monotonic() + LIMIT
        while not happened():
            self.assertLess(time.monotonic(), deadline, "it does not happen")
            self.assertIsNone(process.poll(), "it ended before")
            time.sleep(0.01)

    def wait_for_checkpoint(self, process):
        self.wait_for(lambda: os.path.exists(self.path("run/checkpoint.safetensors")), process)

    def resume(self):
        """One process more epoch than the record has: the checkpoint is whole."""
        epochs = len(epochs_of(self.path("run")))
        self.finish(self.start([*TRAIN[:3], "--resume", "run", "--epochs", str(epochs + 2), "--quiet"]))
        self.assertEqual([line["epoch"] for line in epochs_of(self.path("run"))], list(range(1, epochs + 3)))

    # ---- ways to start

    def weights_by_launch(self):
        if not hasattr(StartTest, "launched"):
            out, err = self.finish(self.start(["launch", "-n", "2", "--", *TRAIN, "--epochs", "2", "--json", "-o",
                                               "launched"]))
            self.assertEqual(json.loads(out)["epochs"], 2)  # nothing but rank 0's JSON
            self.assertNotIn("[1]", err)
            StartTest.launched = sum_of(self.path("launched/weights.safetensors"))
        return StartTest.launched

    def test_plain_variables_train_what_launch_trains_even_if_one_comes_late(self):
        port = free_port()
        words = [*TRAIN, "--epochs", "2", "-o", "run"]
        first = self.start_rank(0, 2, port, words)

        def listens():
            with socket.socket() as caller:
                return caller.connect_ex(("127.0.0.1", int(port))) == 0

        self.wait_for(listens, first)
        late = self.start_rank(1, 2, port, words)
        self.finish(first)
        self.assertEqual(self.finish(late), ("", ""))
        self.assertEqual(sum_of(self.path("run/weights.safetensors")), self.weights_by_launch())

    def test_mpirun_trains_what_launch_trains(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not there; on Debian: apt-get install openmpi-bin")
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
        self.finish(self.start([*TRAIN, "--epochs", "2", "-o", "run"], mpirun, MASTER_PORT=free_port()))
        self.assertEqual(sum_of(self.path("run/weights.safetensors")), self.weights_by_launch())

    def test_two_machines_train_what_launch_trains(self):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            self.skipTest("only root can make network namespaces, with ip (Debian: iproute2)")
        with Namespaces():
            words = [*TRAIN, "--epochs", "2", "-o", "run"]
            machines = [self.start_rank(rank, 2, 29500, words, ["ip", "netns", "exec", name],
                                        MASTER_ADDR="10.78.0.1") for rank, name in enumerate(Namespaces.NAMES)]
            for machine in machines:
                self.finish(machine)
        self.assertEqual(sum_of(self.path("run/weights.safetensors")), self.weights_by_launch())

    # ---- one is lost

    def test_a_killed_process_of_a_launch_ends_all_and_leaves_a_checkpoint(self):
        launch = self.start(["launch", "-n", "2", "--", *ENDLESS])
        self.wait_for_checkpoint(launch)
        lost = next(child for child in children_of(launch.pid) if variables_of(child)["RANK"] == "1")
        os.kill(lost, signal.SIGKILL)
        err = self.finish(launch, 128 + signal.SIGKILL)[1]
        self.assertIn("lipschitzlr: rank 1 was killed by signal 9 (Killed)\n", err)
        self.resume()

    def test_a_killed_process_is_named_by_the_others(self):
        port = free_port()
        ranks = [self.start_rank(rank, 3, port, ENDLESS) for rank in range(3)]
        self.wait_for_checkpoint(ranks[0])
        ranks[2].kill()
        for rank in (0, 1):
            self.assertIn("lipschitzlr: rank 2 was lost", self.finish(ranks[rank], 4)[1])
        self.resume()

    def test_ctrl_c_of_a_launch_leaves_a_checkpoint(self):
        launch = self.start(["launch", "-n", "2", "--", *ENDLESS])
        self.wait_for_checkpoint(launch)
        launch.send_signal(signal.SIGINT)
        self.assertIn("train --resume run", self.finish(launch, 130)[1])
        self.resume()

    # ---- what can't work together

    def test_a_failing_process_ends_a_launch_with_its_message(self):
        out, err = self.finish(self.start(["launch", "-n", "2", "--", "train", "--data", "nowhere", "-o", "run"]), 3)
        self.assertEqual(out, "")
        self.assertRegex(err, r"(?m)^(\[1\] )?lipschitzlr: .*nowhere")
        self.assertRegex(err, r"lipschitzlr: rank [01] failed first, with exit code 3; its message is above\n\Z")
        self.assertFalse(os.path.exists(self.path("run")))

    def test_what_is_no_team_is_told(self):
        words = [*TRAIN, "--epochs", "1", "-o", "run"]
        with socket.socket() as door:
            door.bind(("127.0.0.1", 0))
            door.listen()
            busy = door.getsockname()[1]
            self.assertIn(f"port {busy} of 127.0.0.1 is busy", self.finish(self.start_rank(0, 2, busy, words), 2)[1])
        alone = self.start_rank(0, 2, free_port(), words, LIPSCHITZLR_TIMEOUT="3")
        self.assertIn("rank 1 did not connect within 3 s", self.finish(alone, 4)[1])
        port = free_port()
        others = [self.start_rank(rank, 2 + rank, port, words) for rank in range(2)]
        for other in others:
            self.assertIn("rank 1 was started for 3 processes, rank 0 for 2", self.finish(other, 2)[1])
        self.assertIn("the variable RANK is 5", self.finish(self.start_rank(5, 2, port, words), 2)[1])
        self.assertFalse(os.path.exists(self.path("run")))

    def test_a_rank_of_another_build_is_refused_before_anything_is_trained(self):
        other = self.path("bin/lipschitzlr")
        for place in ("bin/lipschitzlr", "libexec/lipschitzlr/lipschitzlr-torch"):
            os.makedirs(os.path.dirname(self.path(place)))
            shutil.copy(os.path.join(os.path.dirname(PROGRAM), "..", place), self.path(place))
        with open(self.path("libexec/lipschitzlr/lipschitzlr-torch"), "ab") as file:
            file.write(b"\0")
        port = free_port()
        words = [*TRAIN, "--epochs", "1", "-o", "run"]
        for process in [self.start_rank(rank, 3, port, words, program=other if rank == 1 else PROGRAM)
                        for rank in range(3)]:
            self.assertIn("other program in rank 1 than in rank 0", self.finish(process, 2)[1])
        self.assertFalse(os.path.exists(self.path("run")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
