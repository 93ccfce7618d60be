#!/usr/bin/env python3
"""What `fit` promises of several processes, run as a user runs them: fit_test.py PROGRAM [TEST ...]

Model, record, metrics and what is printed are those of one process; one process alone speaks; a training goes on with
another number of processes; whatever differs between processes is told before anything is trained.
"""
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from processes import LIMIT, alone, free_port, said_by, start_process, wait_for_file

PROGRAM = ""


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_sparse(path, rows, seed=1):
    """Rows as a9a has them: yes-no features, a few in a row, and two classes."""
    mix = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(rows):
            columns = sorted(mix.sample(range(1, 41), 7))
            label = "+1" if sum(columns) + mix.gauss(0, 20) > 150 else "-1"
            file.write(label + " " + " ".join(f"{column}:1" for column in columns) + "\n")


def results(processes):
    """(exit code, stdout, stderr) of each."""
    return [(process.returncode, *said) for said, process in zip(said_by(processes), processes)]


class FitTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="lipschitzlr-fit-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start_all(self, *words_of_ranks):
        """Processes that the environment joins, each with words of its own."""
        shared = {"WORLD_SIZE": str(len(words_of_ranks)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(),
                  "LIPSCHITZLR_TOKEN": secrets.token_hex(8)}
        return [start_process(self, [PROGRAM, "fit", *words], self.folder, **shared, RANK=str(rank))
                for rank, words in enumerate(words_of_ranks)]

    def run_program(self, *words):
        """What it printed."""
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=alone(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("[1]", done.stderr, "a process spoke that should not")
        return done.stdout

    def fit(self, processes, *words):
        """What the speaking process printed; the others must be silent."""
        if processes == 1:
            return self.run_program("fit", *words)
        ends = results(self.start_all(*[words] * processes))
        for number, (ended, out, err) in enumerate(ends):
            self.assertEqual(ended, 0, f"rank {number}: {out}{err}")
            if number > 0:
                self.assertEqual((out, err), ("", ""), f"rank {number} spoke")
        return ends[0][1]

    def assert_close(self, one, other, name, tolerance=1e-10):
        """Numbers, lists, objects and texts of them, equal but for rounding; times are not compared."""
        if isinstance(one, str) and one.startswith("{"):
            one, other = json.loads(one), json.loads(other)
        if isinstance(one, dict):
            self.assertEqual(one.keys(), other.keys(), name)
            for key in one.keys() - {"seconds"}:
                self.assert_close(one[key], other[key], f"{name}.{key}", tolerance)
        elif isinstance(one, list):
            self.assertEqual(len(one), len(other), name)
            for number, (a, b) in enumerate(zip(one, other)):
                self.assert_close(a, b, f"{name}[{number}]", tolerance)
        elif isinstance(one, float):
            self.assertLessEqual(abs(one - other), tolerance * max(abs(one), 1e-3), f"{name}: {one} and {other}")
        else:
            self.assertEqual(one, other, name)

    def test_two_processes_leave_what_one_leaves(self):
        words = ["fit", "breast-cancer", "--holdout", "0.3", "--solver", "gd", "--epochs", "20"]
        printed = []
        for processes, start in ((1, []), (2, ["launch", "-n", "2", "--"])):
            out = self.run_program(*start, *words, "-o", f"{processes}.json", "--record", f"record-{processes}")
            printed.append(out.replace(f"{processes}.json", "model.json").splitlines())
        self.assertEqual(len(printed[0]), len(printed[1]))
        self.assertEqual(printed[0][0], printed[1][0])
        self.assertIn("model written to model.json", printed[1])
        self.assert_close(read_json(self.path("1.json")), read_json(self.path("2.json")), "model")
        self.assertEqual(sorted(os.listdir(self.path("record-1"))), sorted(os.listdir(self.path("record-2"))))
        for name in ("config.json", "summary.json"):
            one, two = (read_json(self.path(f"record-{processes}/{name}")) for processes in (1, 2))
            self.assertNotEqual(one.pop("command", 1), two.pop("command", 2))
            self.assert_close(one, two, name)
        lines = []
        for processes in (1, 2):
            with open(self.path(f"record-{processes}/metrics.jsonl"), encoding="utf-8") as file:
                lines.append([json.loads(line) for line in file])
        self.assert_close(lines[0], lines[1], "metrics")

    def test_four_processes_share_sparse_rows(self):
        write_sparse(self.path("small.libsvm"), 203)
        words = ["small.libsvm", "--l2", "0.01", "--solver", "auto-adam", "--rate", "certified", "--epochs", "30",
                 "--json"]
        outputs = [json.loads(self.fit(processes, *words)) for processes in (1, 4)]
        self.assert_close(outputs[0], outputs[1], "account")

    def test_a_training_goes_on_with_another_number_of_processes(self):
        words = ["iris", "--l2", "0.01", "--solver", "sgd", "--batch", "16", "--rate", "certified", "-q"]
        self.fit(1, *words, "--epochs", "9", "-o", "whole.json")
        self.fit(2, *words, "--epochs", "3", "-o", "part.json")
        self.fit(1, *words, "--epochs", "6", "-o", "part.json", "--resume", "part.json")
        self.fit(3, *words, "--epochs", "9", "-o", "part.json", "--resume", "part.json")
        whole, part = (read_json(self.path(name)) for name in ("whole.json", "part.json"))
        self.assert_close(whole["weights"], part["weights"], "weights")

    def test_an_interruption_of_any_ends_all_and_leaves_a_model_to_go_on_with(self):
        words = ["digits", "--l2", "0", "--solver", "gd", "--rate", "gradient", "--tolerance", "0"]
        endless = [*words, "--epochs", "100000000", "-q", "-o", "model.json"]
        processes = self.start_all([*endless, "--record", "record"], endless)
        wait_for_file(self, self.path("record/metrics.jsonl"), processes[0])
        processes[1].send_signal(signal.SIGINT)
        ends = results(processes)
        self.assertEqual([end[0] for end in ends], [130, 130], ends)
        self.assertIn("--resume model.json", ends[0][2])
        epochs = read_json(self.path("model.json"))["training"]["epochs"]
        self.fit(1, *words, "--epochs", str(epochs + 2), "--resume", "model.json", "-q")

    def test_what_differs_is_told_before_training(self):
        write_sparse(self.path("a.libsvm"), 50, seed=1)
        write_sparse(self.path("b.libsvm"), 50, seed=2)
        base = ["a.libsvm", "--epochs", "3", "-o", "model.json"]
        table = [
            (3, ["b.libsvm", *base[1:]], "other data in rank 1 than in rank 0"),
            (2, ["a.libsvm", "--epochs", "4", "-o", "model.json"], "other options in rank 1"),
            (2, [*base, "--l2", "0.5"], "other options in rank 1"),
        ]
        for code, words, message in table:
            for ended, _, err in results(self.start_all(base, words)):
                self.assertEqual(ended, code, err)
                self.assertIn(message, err)
            self.assertFalse(os.path.exists(self.path("model.json")))

    def test_each_process_may_have_its_own_number_of_threads(self):
        words = ["iris", "--l2", "0.01", "--solver", "gd", "--epochs", "5", "--json"]
        for own in (["--threads", "1"], []), ([], ["--threads", "1"]):
            ends = results(self.start_all(*[[*words, *more] for more in own]))
            self.assertEqual([end[0] for end in ends], [0, 0], ends)
            self.assert_close(json.loads(ends[0][1]), json.loads(self.fit(1, *words)), "account")

    def test_what_rank_0_can_not_do_ends_all_with_its_message(self):
        words = ["iris", "--epochs", "3", "-q"]
        os.mkdir(self.path("taken"))
        with open(self.path("taken/config.json"), "w", encoding="utf-8") as file:
            file.write("{}")
        table = [(["--resume", "missing.json"], ["--resume", "missing.json"], "missing.json: "),
                 (["--record", "taken"], [], "taken: there is a record in this folder already"),
                 (["-o", "nowhere/model.json"], [], "nowhere/model.json: ")]
        for first, second, message in table:
            alone_said = results([start_process(self, [PROGRAM, "fit", *words, *first], self.folder)])[0]
            self.assertIn(message, alone_said[2])
            for ended, _, err in results(self.start_all([*words, *first], [*words, *second])):
                self.assertEqual((ended, err), (alone_said[0], alone_said[2]))

    def test_standard_input_is_refused(self):
        for ended, _, err in results(self.start_all(["-"], ["-"])):
            self.assertEqual(ended, 2, err)
            self.assertIn("standard input reaches one process alone", err)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
