#!/usr/bin/env python3
"""What `train` promises of several processes, started as a user's own script would: train_processes_test.py PROGRAM [TEST ...]

Any number of processes continues what any other number began; one that is interrupted stops all, with a checkpoint to
go on from; processes that don't fit together say so before anything is written; only rank 0 speaks.
"""
import os
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from processes import free_port, said_by, start_process, wait_for_file  # noqa: E402
from train_support import epochs_of, lines_of, read_json, sum_of, write_images  # noqa: E402

PROGRAM = ""
BARE = ["--threads", "1", "--batch", "16", "--model", "mlp-8", "--optimizer", "adamo", "--decay", "1", "--precision",
        "double"]
MLP = BARE + ["--data", "../grey"]


class TrainProcessesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="lipschitzlr-processes-")
        write_images(cls.root + "/grey", {"train": 30, "test": 10})
        write_images(cls.root + "/other", {"train": 30, "test": 10})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.root)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, size, *words, of_rank=lambda rank: []):
        port, processes = free_port(), []
        for rank in range(size):
            # Only rank 0 has the folder of the run, as on other machines.
            place = self.folder if rank == 0 else tempfile.mkdtemp(dir=self.root)
            variables = {"OMP_WAIT_POLICY": "passive", "LC_ALL": "C.UTF-8", "LIPSCHITZLR_DATA": self.root + "/cache"}
            if size > 1:
                variables.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
            processes.append(start_process(self, [PROGRAM, "train", *words, *of_rank(rank)], place, **variables))
        return processes

    def finish(self, processes, code=0):
        """What each process said: (out, err) by rank."""
        said = said_by(processes)
        self.assertEqual([process.returncode for process in processes], [code] * len(processes), said)
        return said

    def run_team(self, size, *words, code=0, of_rank=lambda rank: []):
        return self.finish(self.start(size, *words, of_rank=of_rank), code)

    def assert_only_the_first_speaks(self, said):
        self.assertEqual(said[1:], [("", "")] * (len(said) - 1))

    def test_two_processes_then_one_then_three(self):
        self.run_team(1, *MLP, "--epochs", "6", "--log-steps", "1", "-o", "whole")
        said = self.run_team(2, *MLP, "--epochs", "2", "--log-steps", "1", "-o", "run")
        self.assert_only_the_first_speaks(said)
        self.assertIn("2 epochs", said[0][0])
        self.assertEqual(read_json(self.path("run/config.json"))["processes"], 2)
        for size, epochs, before in ((1, "4", 2), (3, "6", 1)):
            said = self.run_team(size, "--resume", "run", "--epochs", epochs)
            self.assert_only_the_first_speaks(said)
            self.assertIn(f"made by {before} processes, now there are {size}", said[0][1])
        self.assertEqual([line["epoch"] for line in epochs_of(self.path("run"))], [1, 2, 3, 4, 5, 6])
        for kind in ("step", "epoch"):
            ours, expected = (lines_of(self.path(name), kind) for name in ("run", "whole"))
            self.assertEqual(len(ours), len(expected))
            for line, other in zip(ours, expected):
                for name in ("loss", "rate", "K_z", "val_loss", "max_w", "G"):
                    if name in other:
                        self.assertAlmostEqual(line[name], other[name], delta=1e-10 * abs(other[name]), msg=name)
                self.assertEqual((line["step"], line["accuracy"]), (other["step"], other["accuracy"]))
        self.assertEqual(read_json(self.path("run/summary.json"))["processes"], 3)

    def start_long(self):
        """Two processes that would go on for ever, once they have a checkpoint."""
        processes = self.start(2, *MLP, "--epochs", "1000000", "--checkpoint-minutes", "1e-9", "-o", "run")
        wait_for_file(self, self.path("run/checkpoint.safetensors"), processes[0])
        return processes

    def assert_resumable(self):
        epochs = len(epochs_of(self.path("run")))
        self.run_team(1, "--resume", "run", "--epochs", str(epochs + 1))
        self.assertEqual([line["epoch"] for line in epochs_of(self.path("run"))], list(range(1, epochs + 2)))

    def test_one_killed_process_ends_all_and_the_checkpoint_stays(self):
        processes = self.start_long()
        processes[1].kill()
        err = said_by(processes)[0][1]
        self.assertEqual(processes[0].returncode, 4, err)
        self.assertRegex(err, r"lipschitzlr: rank 1 was lost[^\n]*The last good checkpoint is "
                              r"run/checkpoint.safetensors\n\Z")
        self.assert_resumable()

    def test_one_interrupted_process_stops_all(self):
        processes = self.start_long()
        processes[1].send_signal(signal.SIGINT)
        said = self.finish(processes, 130)
        self.assert_only_the_first_speaks(said)
        self.assertTrue(said[0][1].endswith("interrupted; continue with: lipschitzlr train --resume run\n"), said)
        self.assertFalse(os.path.exists(self.path("run/summary.json")))
        self.assert_resumable()

    def test_processes_that_do_not_fit_together(self):
        started = [*MLP, "-o", "run"]
        for what, code, alike, words in [
                ("options", 2, started, [["--seed", "1"], ["--seed", "2"]]),
                ("options", 2, started, [["--weights", "nowhere.safetensors"], []]),
                ("options", 2, [*started, "--first-rate", "search"], [[], ["--weights", "nowhere.safetensors"]]),
                ("options", 2, ["--resume", "run"], [["--epochs", "3"], ["--epochs", "4"]]),
                ("images", 3, [*BARE, "-o", "run"], [["--data", "../grey"], ["--data", "../other"]])]:
            said = self.run_team(2, *alike, code=code, of_rank=lambda rank, words=words: words[rank])
            for out, err in said:
                self.assertEqual(out, "")
                self.assertRegex(err, rf"\Alipschitzlr: other {what} in rank 1 than in rank 0; [^\n]+\n\Z")
        self.assertFalse(os.path.exists(self.path("run")))

    def test_what_rank_0_can_not_read_ends_all(self):
        for out, err in self.run_team(2, "--resume", "nowhere", code=3):
            self.assertRegex(err, r"\Alipschitzlr: nowhere/config.json: [^\n]+\n\Z")

    def test_a_loss_that_is_not_finite_is_seen_by_all(self):
        said = self.run_team(2, *MLP, "--policy", "baseline", "--rate", "1e300", "--quiet", "-o", "run", code=4)
        steps = {err.split(" at step ")[1].split(" ")[0] for out, err in said}
        self.assertEqual(len(steps), 1, said)

    def test_weights_of_rank_0_are_those_of_all(self):
        self.run_team(1, *MLP, "--epochs", "1", "-o", "first", "--quiet")
        for size in (1, 2):
            self.run_team(size, *MLP, "--seed", "7", "--weights", "first/weights.safetensors", "--epochs", "1",
                          "--quiet", "-o", f"run-{size}")
        ours, expected = (lines_of(self.path(f"run-{size}"), "epoch")[0] for size in (2, 1))
        for name in ("loss", "val_loss", "rate", "K_z"):
            self.assertAlmostEqual(ours[name], expected[name], delta=1e-11 * abs(expected[name]), msg=name)
        self.assertNotEqual(sum_of(self.path("run-1/weights.safetensors")),
                            sum_of(self.path("first/weights.safetensors")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
