#!/usr/bin/env python3
"""What `reproduce` promises of networks, run as a user runs it: reproduce_test.py FRONT TORCH [TEST ...]

Each row on networks starts and takes 20 steps; trainings leave records, go on after Ctrl-C, share a budget in
rounds, and are estimated without being run. The images are made here: tiny PNG files, noise with a bright band that
stands elsewhere in each class.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from train_support import lines_of, output_of, read_json, write_images  # noqa: E402

FRONT = TORCH = ""
LIMIT = 300  # seconds for any one command
STEPS, BATCH = 20, 4
ROW = "mnist-cnn-adamo-adaptive"
OTHER = "mnist-cnn-auto-adam-adaptive"


def epochs_of(folder):
    try:
        with open(folder + "/metrics.jsonl", encoding="utf-8") as file:
            return sum('"kind":"epoch"' in line for line in file)
    except FileNotFoundError:
        return 0


class ReproduceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="lipschitzlr-reproduce-")
        write_images(cls.root + "/grey", {"train": 28, "test": 2})
        write_images(cls.root + "/colour", {"train": 28, "test": 2}, side=12, channels=3)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.root)

    def start(self, program, *words):
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8",
                           LIPSCHITZLR_DATA=self.root + "/cache")
        return subprocess.Popen([program, *words], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_program(self, program, *words, code=0):
        with self.start(program, *words) as process:
            out, err = output_of(process, LIMIT)
        self.assertEqual(process.returncode, code, f"{' '.join(words)}\n{out}\n{err}")
        return out, err

    def reproduce(self, *words, code=0):
        return self.run_program(FRONT, "reproduce", *words, code=code)

    def tried(self, *words, code=0):
        """On the small images, which is what makes a try quick."""
        return self.reproduce(*words, "--data", "../grey", "--limit", "32", "--threads", "1", code=code)

    def record(self, row=ROW):
        return f"{self.folder}/reproduction/{row}-coded-1-try"

    # ---- rows

    def test_the_list_has_every_row_of_the_paper(self):
        rows = json.loads(self.reproduce("list", "--json")[0])
        count = {table: sum(row["table"] == table for row in rows) for table in
                 ("table1", "table2", "table3", "comparison", "text")}
        self.assertEqual(count, {"table1": 8, "table2": 5, "table3": 37, "comparison": 8, "text": 3})
        self.assertEqual(len({row["id"] for row in rows}), len(rows))

    def test_every_row_on_networks_starts_and_takes_twenty_steps(self):
        rows = [row for row in json.loads(self.reproduce("list", "--json")[0]) if "commands" in row]
        self.assertEqual(len(rows), 37 + 8 + 3)
        lines = []
        for row in rows:
            words = row["commands"]["coded"]
            for option, value in {"--batch": BATCH, "--epochs": 1,
                                  "--data": "../grey" if row["data_set"] == "mnist" else "../colour"}.items():
                words[words.index(option) + 1] = str(value)
            words += ["--limit", str(STEPS * BATCH), "--threads", "1", "--quiet", "--log-steps", "1", "-o", row["id"]]
            lines.append(json.dumps(words))
        with open(self.folder + "/commands", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.run_program(TORCH, "each", "commands")
        first_losses = {}
        for row in rows:
            folder = f"{self.folder}/{row['id']}"
            self.assertEqual(read_json(folder + "/summary.json")["steps"], STEPS, row["id"])
            first = lines_of(folder, "step")[0]
            self.assertEqual(first["step"], 1)
            first_losses.setdefault(row["network"], set()).add(first["loss"])
        # From one seed all start from the same weights with the same images, whatever trains them.
        for network, losses in first_losses.items():
            self.assertEqual(len(losses), 1, f"{network}: {losses}")

    # ---- trainings

    def test_a_training_leaves_a_record_and_goes_on_with_it(self):
        out, _ = self.tried(ROW, "--epochs", "1")
        self.assertIn(ROW, out)
        self.assertEqual(epochs_of(self.record()), 1)
        options = read_json(self.record() + "/config.json")["options"]
        self.assertEqual((options["optimizer"], options["constant"], options["seed"]), ("adamo", 6.10602865219116, 1))
        _, err = self.tried(ROW, "--epochs", "2")
        self.assertIn("epoch 2 to 2 of 2", err)
        self.assertEqual(epochs_of(self.record()), 2)
        _, err = self.tried(ROW, "--epochs", "2")
        self.assertNotIn("epoch", err)  # nothing is left to do
        err = self.reproduce(ROW, "--epochs", "3", "--data", "../grey", "--limit", "16", code=3)[1]
        self.assertIn("holds a training with limit \"32\", not \"16\"", err)

    def test_ctrl_c_saves_the_training_for_the_next_call(self):
        words = [ROW, "--epochs", "100000", "--data", "../grey", "--limit", "32", "--threads", "1"]
        with self.start(FRONT, "reproduce", *words) as process:
            end = time.monotonic() + LIMIT
            while epochs_of(self.record()) == 0 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = output_of(process, LIMIT)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("run the same command again to continue", err)
        self.assertIn("Still to do", out)
        done = epochs_of(self.record())
        self.assertGreater(done, 0)
        self.tried(ROW, "--epochs", str(done + 1))
        self.assertEqual(epochs_of(self.record()), done + 1)

    # ---- budget and estimate

    def test_a_budget_is_shared_in_rounds(self):
        _, err = self.tried(ROW, OTHER, "--epochs", "2", "--budget", "2h")
        begun = [line.split(": ", 1)[1] for line in err.splitlines() if ": epoch " in line]
        self.assertEqual(begun, [f"table3/{row}, coded, seed 1: epoch {epoch} to {epoch} of 2"
                                 for epoch in (1, 2) for row in (ROW, OTHER)])

    def test_an_exhausted_budget_lists_what_is_open_with_an_estimate(self):
        out, err = self.tried(ROW, "--epochs", "5", "--budget", "0.001s")
        self.assertNotIn(": epoch ", err)
        self.assertIn("Still to do", out)
        self.assertRegex(out, r"Together (less than 1 s|[0-9.]+ (s|min|h))")
        self.assertFalse(os.path.exists(self.record()))

    def test_a_dry_run_estimates_hours_and_writes_nothing(self):
        out, _ = self.reproduce("table3", ROW, OTHER, "--dry-run", "--json", "--protocol", "both")
        estimate = json.loads(out)
        self.assertEqual([(row["id"], row["protocol"]) for row in estimate["rows"]],
                         [(f"table3/{row}", protocol) for row in (ROW, OTHER) for protocol in ("coded", "published")])
        speed = estimate["speeds"][0]
        coded = 60000 * speed["step_seconds"] + 70000 * speed["forward_seconds"]  # with the pass that measures K_z
        published = 54000 * speed["step_seconds"] + 6000 * speed["forward_seconds"]
        self.assertAlmostEqual(estimate["rows"][0]["hours"], 20 * coded / 3600)
        self.assertAlmostEqual(estimate["rows"][1]["hours"], 20 * published / 3600)
        self.assertAlmostEqual(estimate["hours"], sum(row["hours"] for row in estimate["rows"]))
        self.assertEqual(os.listdir(self.folder), [])

    # ---- what is refused

    def test_rows_without_data_say_how_to_get_them(self):
        out, _ = self.reproduce(ROW)
        self.assertIn("lipschitzlr data get mnist", out)
        self.assertIn("no data", out)

    def test_wrong_rows_and_options_are_refused(self):
        for words, complaint in {("iris",): "\"iris\" may be table1/iris or table2/iris",
                                 ("table3", "iris"): "table3 has no row \"iris\"",
                                 ("--epochs", "2", "table3"): "--epochs goes after table3",
                                 (): "name a table or a row",
                                 (ROW, "--protocol", "secret"): "--protocol"}.items():
            self.assertIn(complaint, self.reproduce(*words, code=2)[1])


if __name__ == "__main__":
    FRONT, TORCH = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
