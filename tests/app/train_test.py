#!/usr/bin/env python3
"""What `train` and `evaluate` promise of networks, run as a user runs them: train_test.py PROGRAM [TEST ...]

Killed and interrupted trainings end with the very bytes of one that was left alone; damaged or foreign checkpoints and
full disks are told and touch nothing; wrong options are refused in one line and leave no folder behind. The images are
made here: three classes of small PNG files, a bright band at another place in each.
"""
import concurrent.futures
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = ""
SIDE = 12
LIMIT = 120  # seconds for any one command
TINY = ["--threads", "1", "--batch", "16"]
CNN = TINY + ["--data", "../grey", "--model", "mnist-cnn", "--optimizer", "adamo", "--first-rate", "0.1"]
BARE = TINY + ["--data", "../grey", "--model", "mlp-8"]
MLP = BARE + ["--optimizer", "adamo", "--first-rate", "0.1"]
RESNET = TINY + ["--data", "../colour", "--model", "resnet8-v1"]
OPTIMIZERS = ["sgd", "adamo", "rmsprop", "auto-adam", "momentum", "adam", "adamw"]
PEERS = ["amsgrad", "adadelta", "adashift", "wngrad", "wn-adam", "adabound", "amsbound"]  # steps of their own
POLICIES = ["baseline", "fixed", "adaptive"]
SECOND_MOMENTS = ["elementwise", "full-square", "without-weight-square", "coded"]


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


class TrainTest(unittest.TestCase):
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

    # ---- running the program

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

    # ---- stopped and resumed

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

    def killed(self, chance, words, seconds, story):
        """Starts or resumes a training and kills it; its exit code is 0 when it was quicker."""
        folder, checkpoints = words[-1], chance.choice([0, 0, 1, 1, 1, 2, 3])
        if os.path.exists(self.path(folder + "/checkpoint.safetensors")):
            words = ["--resume", folder]
        elif os.path.exists(self.path(folder)):
            shutil.rmtree(self.path(folder))  # killed before its first checkpoint: start again
        often = chance.choice(["1e-9", "0.0005", "5"])  # minutes
        with self.start("train", *words, "--checkpoint-minutes", often) as process:
            self.wait_for_checkpoints(process, folder, checkpoints)
            pause = chance.uniform(0, seconds if checkpoints else 0.5)
            time.sleep(pause)
            process.kill()
            err = output_of(process)[1]
        story.append(f"after {checkpoints} checkpoints of {often} minutes and {pause:.3f} s: {process.returncode}")
        self.assertIn(process.returncode, (-signal.SIGKILL, 0), f"{story}\n{err}")
        return process.returncode

    def test_kill_at_ten_random_moments(self):
        words, epochs = CNN + ["--log-steps", "1", "--epochs", "24"], 24
        self.train("whole", *words)
        seconds = sum(line["train_seconds"] for line in lines_of(self.path("whole"), "epoch")) / epochs
        seed = random.SystemRandom().randrange(10**6)
        chance, story, kills, runs = random.Random(seed), [f"seed {seed}"], 0, ["killed-1"]
        while kills < 10:
            if self.killed(chance, [*words, "-o", runs[-1]], seconds, story) == 0:
                runs.append(f"killed-{len(runs) + 1}")  # it was through before its time
            else:
                kills += 1
            self.assertLess(len(runs), 5, story)
        if os.path.exists(self.path(runs[-1] + "/checkpoint.safetensors")):
            self.resume(runs[-1])
        else:
            runs.pop()
        self.assertTrue(runs, story)
        for folder in runs:
            self.assert_same_run("whole", folder, story)
            self.assertEqual(lines_of(self.path("whole"), "step"), lines_of(self.path(folder), "step"), story)

    def test_interrupt_and_terminate(self):
        words = CNN + ["--epochs", "12"]
        self.train("whole", *words)
        for number in (signal.SIGINT, signal.SIGTERM):
            folder = number.name
            with self.start("train", *words, "-o", folder) as process:
                self.assertTrue(self.wait_for_checkpoints(process, folder, 2))
                process.send_signal(number)
                out, err = output_of(process)
            self.assertEqual(process.returncode, 130, err)
            self.assertEqual(out, "")
            last = f"lipschitzlr: interrupted; continue with: lipschitzlr train --resume {folder}\n"
            self.assertTrue(err.endswith(last), err)
            self.assertFalse(os.path.exists(self.path(folder + "/summary.json")))
            self.resume(folder)
            self.assert_same_run("whole", folder, number.name)

    def test_a_stop_between_the_last_step_and_the_end_of_an_epoch(self):
        words = CNN + ["--epochs", "2", "--checkpoint-minutes", "1e-9"]
        self.train("whole", *words)
        os.makedirs(self.path("stopped/best.safetensors"))  # can't be replaced by a file
        err = self.train("stopped", *words, code=3)[1]
        self.assertIn("stopped/best.safetensors: can't write", err)
        os.rmdir(self.path("stopped/best.safetensors"))
        self.resume("stopped")
        self.assert_same_run("whole", "stopped")

    def test_a_stop_between_the_last_epoch_and_the_summary(self):
        self.train("whole", *CNN, "--epochs", "2")
        os.makedirs(self.path("stopped/weights.safetensors"))
        err = self.train("stopped", *CNN, "--epochs", "2", code=3)[1]
        self.assertIn("stopped/weights.safetensors: can't write", err)
        os.rmdir(self.path("stopped/weights.safetensors"))
        self.resume("stopped")
        self.assert_same_run("whole", "stopped")

    def test_every_optimizer_and_policy_and_its_resumption(self):
        def one(optimizer, policy):
            name = f"{optimizer}-{policy}"
            words = RESNET + ["--optimizer", optimizer, "--policy", policy]
            if policy != "adaptive":
                self.train(name, *words, "--epochs", "1", "--quiet")
                return
            # Per iteration, so that the rate's own averages are in play; the decay counts steps, and keeps momentum
            # from running away.
            words += ["--decay", "10", "--update", "iteration"]
            self.train(name, *words, "--epochs", "3")
            self.train(name + "-parts", *words, "--epochs", "2")
            self.resume(name + "-parts", "--epochs", "3")
            self.assert_same_run(name, name + "-parts", name)

        def peer(optimizer):
            words = BARE + ["--optimizer", optimizer]
            if optimizer != "adashift":
                self.train(optimizer, *words, "--epochs", "1", "--quiet")
                return
            # Its queue of gradients, and the plan of a schedule, which is longer than the first run.
            words += ["--set", "delay=5", "--schedule", "cosine", "--schedule-epochs", "3"]
            self.train(optimizer, *words, "--epochs", "3")
            self.train(optimizer + "-parts", *words, "--epochs", "1")
            self.resume(optimizer + "-parts", "--epochs", "3")
            self.assert_same_run(optimizer, optimizer + "-parts")
            self.assertIn("--schedule-epochs", self.refusal(2, "train", "--resume", optimizer, "--epochs", "4"))

        self.in_parallel([lambda o=o, p=p: one(o, p) for o in OPTIMIZERS for p in POLICIES] +
                         [lambda o=o: peer(o) for o in PEERS])
        self.assertEqual({read_json(self.path(name + "/config.json"))["options"]["policy"] for name in PEERS},
                         {"baseline"})

    def test_resume_by_the_protocol_of_the_authors(self):
        words = CNN + ["--protocol", "coded", "--decay", "1e-3"]
        self.train("whole", *words, "--epochs", "3")
        self.train("parts", *words, "--epochs", "1")
        self.resume("parts", "--epochs", "3")
        self.assert_same_run("whole", "parts")

    def test_more_epochs_stay_asked_for(self):
        self.train("whole", *CNN, "--epochs", "12")
        self.train("more", *CNN, "--epochs", "1")
        with self.start("train", "--resume", "more", "--epochs", "12") as process:
            self.assertTrue(self.wait_for_checkpoints(process, "more", 2))
            process.send_signal(signal.SIGINT)
            output_of(process)
        self.assertEqual(process.returncode, 130)
        self.resume("more")  # as the message of the interrupted run says, without --epochs
        self.assert_same_run("whole", "more")
        config = read_json(self.path("more/config.json"))  # made by one command, as the record says
        self.assertEqual(config["options"]["epochs"], 12)
        self.assertEqual(config["command"][config["command"].index("--epochs") + 1], "12")

    def test_resuming_a_finished_run_says_its_result_again(self):
        before = self.train("done", *MLP, "--epochs", "3")[0]
        sums = {name: sum_of(self.path("done/" + name)) for name in os.listdir(self.path("done"))}
        after, err = self.resume("done")
        self.assertEqual(re.sub(r"\d+ images/s", "", before), re.sub(r"\d+ images/s", "", after))
        self.assertIn("nothing is left to do", err)
        for name in ["checkpoint.safetensors", "weights.safetensors", "best.safetensors", "metrics.jsonl"]:
            self.assertEqual(sum_of(self.path("done/" + name)), sums[name], name)
        self.assertIn("3 epochs", self.resume("done", "--epochs", "2")[0])  # fewer than there are

    def test_resume_of_what_is_no_run_or_damaged(self):
        self.train("run", *MLP, "--epochs", "2", "--quiet")
        self.train("other", *MLP, "--seed", "2", "--epochs", "1", "--quiet")
        with open(self.path("run/checkpoint.safetensors"), "rb") as file:
            good = file.read()
        flipped = bytearray(good)
        flipped[-len(good) // 3] ^= 0x40
        header = struct.unpack("<Q", good[:8])[0]
        with open(self.path("other/checkpoint.safetensors"), "rb") as file:
            other = file.read()
        strangers = {"network": ["--model", "mlp-9", "--optimizer", "adamo"],
                     "optimizer": ["--model", "mlp-8", "--optimizer", "adam", "--first-rate", "0.01"]}
        for name, words in strangers.items():
            self.train(name, *TINY, "--data", "../grey", *words, "--epochs", "1", "--quiet")
            with open(self.path(name + "/checkpoint.safetensors"), "rb") as file:
                strangers[name] = file.read()
        with open(self.path("run/weights.safetensors"), "rb") as file:
            weights = file.read()
        cases = {"truncated": good[:-100], "cut to its header": good[:header], "empty": b"", "flipped": flipped,
                 "other seed": other, "other network": strangers["network"], "other optimizer": strangers["optimizer"],
                 "weights only": weights, "text": b"not a checkpoint\n" * 9,
                 "note": good.replace(b'\\"epochs\\"', b'\\"epoxhs\\"', 1)}
        self.assertNotEqual(cases["note"], good)

        def one(name, content):
            folder = name.replace(" ", "-")
            shutil.copytree(self.path("run"), self.path(folder))
            with open(self.path(folder + "/checkpoint.safetensors"), "wb") as file:
                file.write(content)
            before = {file: sum_of(self.path(folder + "/" + file)) for file in os.listdir(self.path(folder))}
            self.assertIn(f"{folder}/checkpoint.safetensors: ",
                          self.refusal(3, "train", "--resume", folder, "--epochs", "4"), name)
            after = {file: sum_of(self.path(folder + "/" + file)) for file in os.listdir(self.path(folder))}
            self.assertEqual(before, after, name)

        self.in_parallel([lambda n=n, c=c: one(n, c) for n, c in cases.items()])

        self.assertIn("nowhere/config.json: ", self.refusal(3, "train", "--resume", "nowhere"))
        self.assertFalse(os.path.exists(self.path("nowhere")))
        os.remove(self.path("other/checkpoint.safetensors"))
        self.assertIn("other/checkpoint.safetensors: ", self.refusal(3, "train", "--resume", "other"))
        for text in ["{}", "[1]", "{", '{"kind": 3, "options": {}}',
                     '{"kind": "network training", "options": {}}']:
            with open(self.path("other/config.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self.assertIn("other/config.json: ", self.refusal(3, "train", "--resume", "other"), text)

    # ---- where writing fails

    def test_full_disk_keeps_the_older_checkpoint(self):
        self.train("run", *MLP, "--epochs", "1", "--quiet")
        before = sum_of(self.path("run/checkpoint.safetensors"))
        size = os.path.getsize(self.path("run/checkpoint.safetensors"))

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

        err = self.refusal(3, "train", "--resume", "run", "--epochs", "3", "--quiet", preexec_fn=small_files)
        self.assertRegex(err, r"\Alipschitzlr: run/checkpoint.safetensors: can't write: File too large\n\Z")
        self.assertEqual(sum_of(self.path("run/checkpoint.safetensors")), before)
        self.assertEqual([name for name in os.listdir(self.path("run")) if name.endswith(".part")], [])
        self.resume("run", "--epochs", "3")
        self.train("whole", *MLP, "--epochs", "3")
        self.assert_same_run("whole", "run")

    def test_folder_that_can_not_be_made(self):
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        for more in ([], ["--first-rate", "search"]):
            err = self.refusal(3, "train", *BARE, "--epochs", "1", "-o", "file/run", *more)
            self.assertIn("file/run: can't make the folder: Not a directory", err)

    def test_a_record_is_not_overwritten(self):
        self.train("run", *MLP, "--epochs", "1", "--quiet")
        before = sum_of(self.path("run/metrics.jsonl"))
        self.assertIn("run: there is a record", self.refusal(3, "train", *MLP, "--epochs", "1", "-o", "run"))
        self.assertEqual(sum_of(self.path("run/metrics.jsonl")), before)

    # ---- numbers that go wrong

    def test_loss_that_is_not_finite(self):
        words = BARE + ["--policy", "baseline", "--rate", "1e30", "--epochs", "3", "--quiet"]
        err = self.train("none", *words, code=4)[1]
        self.assertRegex(err, r"\Alipschitzlr: the loss is -?(nan|inf) at step \d+ \(epoch 1\), [^\n]*rate 1e\+30[^\n]*"
                              r"There is no checkpoint yet\n\Z")
        # One step from zero leaves weights that are huge but finite; the next scores are not.
        words = TINY + ["--data", "../grey", "--model", "softmax", "--optimizer", "sgd", "--policy", "baseline"]
        err = self.train("some", *words, "--rate", "1e38", "--quiet", "--checkpoint-minutes", "1e-9", code=4)[1]
        self.assertRegex(err, r"\Alipschitzlr: the loss is -?(nan|inf) at step 2 [^\n]*rate 1e\+38[^\n]*"
                              r"The last good checkpoint is some/checkpoint.safetensors\n\Z")

    def test_a_last_step_that_spoils_the_weights_is_no_success(self):
        # As many images as a batch has: no second step meets the huge weights, only validation does.
        words = TINY + ["--data", "../grey", "--model", "softmax", "--optimizer", "sgd", "--policy", "baseline"]
        err = self.train("last", *words, "--rate", "1e38", "--limit", "16", "--epochs", "2", "--quiet", code=4)[1]
        self.assertRegex(err, r"\Alipschitzlr: the validation loss is -?(nan|inf) after epoch 1, step 1, with the rate "
                              r"1e\+38 [^\n]*There is no checkpoint yet\n\Z")
        self.assertFalse(os.path.exists(self.path("last/best.safetensors")))

    def test_a_single_image_left_over_waits(self):
        self.train("run", *CNN, "--limit", "33", "--validation", "0.1", "--epochs", "2", "--quiet")
        self.assertEqual(read_json(self.path("run/summary.json"))["steps"], 2 * 2)

    def test_a_limit_takes_images_of_every_class(self):
        # Folders are read class by class; a network that saw one class only could not tell three apart.
        words = BARE + ["--optimizer", "adamo", "--limit", "60", "--epochs", "30", "--quiet"]
        self.train("run", *words)
        self.assertGreater(read_json(self.path("run/summary.json"))["best"]["accuracy"], 0.7)

    # ---- options

    def test_wrong_options(self):
        data = ["--data", "../grey", "--epochs", "1"]
        table = [
            (2, [*data, "--model", "vgg16"], "vgg16"),
            (2, [*data, "--model", "resnet21-v1"], "depth 21"),
            (2, [*data, "--model", "resnet20-v3"], "resnet20-v3"),
            (2, [*data, "--model", "densenet-41-12"], "depth 41"),
            (2, [*data, "--model", "mlp-0"], "mlp-0"),
            (2, [*data, "--optimizer", "sgdd"], "sgdd"),
            (2, [*data, "--policy", "wild"], "--policy wild"),
            (2, [*data, "--protocol", "none"], "--protocol none"),
            (2, [*data, "--update", "never"], "--update never"),
            (2, [*data, "--measure", "twice"], "--measure twice"),
            (2, [*data, "--measure", "pass", "--update", "iteration"], "--measure pass"),
            (2, [*data, "--second-moment", "third"], "third"),
            (2, [*data, "--bias-correction", "maybe"], "--bias-correction maybe"),
            (2, [*data, "--padding", "cushion"], "cushion"),
            (2, [*data, "--precision", "triple"], "--precision triple"),
            (2, [*data, "--augment", "more"], "--augment more"),
            (2, [*data, "--validation", "2"], "--validation"),
            (2, [*data, "--validation", "-0.1"], "--validation"),
            (2, [*data, "--validation", "nan"], "--validation"),
            (2, [*data, "--validation", "0.999"], "--validation"),
            (2, [*data, "--validation", "1e-6"], "--validation"),
            (2, [*data, "--batch", "1"], "--batch 1"),
            (2, [*data, "--batch", "many"], "--batch many"),
            (2, [*data, "--epochs", "0"], "--epochs 0"),
            (2, [*data, "--limit", "0"], "--limit 0"),
            (2, [*data, "--rate", "0"], "--rate 0"),
            (2, [*data, "--rate", "0.1"], "--rate"),  # of the policy baseline only
            (2, [*data, "--optimizer", "adabound", "--policy", "adaptive"], "adabound has step sizes of its own"),
            (2, [*data, "--optimizer", "wn-adam", "--policy", "fixed"], "wn-adam has step sizes of its own"),
            (2, [*data, "--optimizer", "amsgrad", "--set", "beta1=2"], "beta1 of amsgrad is 2"),
            (2, [*data, "--optimizer", "amsgrad", "--set", "beta3=0.5"], 'no setting "beta3"'),
            (2, [*data, "--optimizer", "amsgrad", "--set", "beta1"], "--set beta1"),
            (2, [*data, "--optimizer", "amsgrad", "--set", "beta1=0.5,beta1=0.6"], "--set beta1=0.5,beta1=0.6"),
            (2, [*data, "--optimizer", "adamo", "--set", "beta1=0.5"], 'no setting "beta1"'),
            (2, [*data, "--policy", "baseline", "--schedule", "stairs"], "--schedule stairs"),
            (2, [*data, "--schedule", "cosine"], "--schedule goes with --policy baseline"),
            (2, [*data, "--policy", "baseline", "--schedule-epochs", "5"], "--schedule-epochs goes with"),
            (2, ["--data", "../grey", "--policy", "baseline", "--schedule", "cosine", "--schedule-epochs", "2"],
             "--epochs 20"),
            (2, [*data, "--policy", "baseline", "--grid", "0.1"], "--policy grid"),
            (2, [*data, "--policy", "grid", "--grid", "0.1,x"], "--grid 0.1,x"),
            (2, [*data, "--policy", "grid", "--grid", "0.1,"], "--grid 0.1,"),
            (2, [*data, "--policy", "grid", "--grid", "0.1,0.10"], "twice"),
            (2, [*data, "--policy", "grid", "--grid-epochs", "0"], "--grid-epochs 0"),
            (2, [*data, "--policy", "grid", "--rate", "0.1"], "--policy grid finds the rate"),
            (2, [*data, "--policy", "grid", "--first-rate", "0.1"], "--first-rate"),
            (2, [*data, "--decay", "-1"], "--decay -1"),
            (2, [*data, "--l2", "inf"], "--l2 inf"),
            (2, [*data, "--first-rate", "soon"], "--first-rate soon"),
            (2, [*data, "--first-rate", "0"], "--first-rate 0"),
            (2, [*data, "--first-rate", "0.1x"], "--first-rate 0.1x"),
            (2, [*data, "--first-rate", "nan"], "--first-rate nan"),
            (2, [*data, "--first-rate", "0.1", "--policy", "baseline"], "--first-rate"),
            (2, [*data, "--first-rate", "search", "--policy", "baseline"], "--first-rate"),
            (2, [*data, "--beta", "1"], "--beta 1"),
            (2, [*data, "--beta1", "-1", "--optimizer", "auto-adam"], "--beta1 -1"),
            (2, [*data, "--beta2", "2", "--optimizer", "auto-adam"], "--beta2 2"),
            (2, [*data, "--epsilon", "-1", "--optimizer", "rmsprop"], "--epsilon -1"),
            (2, [*data, "--k1", "-1", "--optimizer", "auto-adam"], "--k1 -1"),
            (2, [*data, "--k2", "0", "--optimizer", "auto-adam"], "--k2 0"),
            (2, [*data, "--k2", "1e-6", "--optimizer", "adamo"], "of auto-adam, not of adamo"),
            (2, [*data, "--bn-eps", "-1"], "--bn-eps -1"),
            (2, [*data, "--bn-momentum", "2"], "--bn-momentum 2"),
            (2, [*data, "--seed", "-1"], "--seed -1"),
            (2, [*data, "--seed", "one"], "--seed one"),
            (2, [*data, "--checkpoint-minutes", "0"], "--checkpoint-minutes 0"),
            (2, [*data, "--log-steps", "-1"], "--log-steps -1"),
            (2, [*data, "--threads", "-1"], "--threads -1"),
            (2, [*data, "--fast"], "--fast"),
            (2, [*data, "surplus"], "surplus"),
            (2, ["--data"], "--data"),
            (2, ["--resume", "run", "--model", "mlp-8"], "--model"),
            (2, ["--resume", "run", "--augment", "none"], "--augment"),
            (2, ["--resume", "run", "--beta", "0.5"], "--beta"),
            (2, ["--data", "../flat", "--validation", "0"], "no test images"),
            (2, ["--data", "../small", "--model", "mnist-cnn"], "12"),
            (3, ["--data", "../nowhere"], "nowhere"),
            (3, ["--data", "minst"], "minst"),
            (3, ["--data", ".."], ".."),
            (3, ["--data", "../grey/train/left/0.png"], "0.png"),
            (3, [*data, "--weights", "nowhere.safetensors"], "nowhere.safetensors"),
            (3, [*data, "--weights", "nowhere.h5"], "nowhere.h5"),
        ]

        wrong = []

        def one(code, words, text):
            try:
                err = self.refusal(code, "train", *(() if "--threads" in words else ("--threads", "1")), *words)
                self.assertIn(text, err)
                self.assertNotIn("libtorch", err)
            except AssertionError as fault:
                wrong.append(f"{' '.join(words)}\n  {fault}")

        self.in_parallel([lambda row=row: one(*row) for row in table])
        self.assertFalse(wrong, "\n".join(wrong))
        self.assertEqual(os.listdir(self.folder), [], "something was left behind")

    # ---- what is written and printed

    def test_records_and_output(self):
        out, err = self.train("run", *MLP, "--epochs", "3", "--log-steps", "2", "--json")
        result = json.loads(out)
        self.assertNotIn("\033", err)
        self.assertNotIn("\r", err)
        self.assertEqual(len([line for line in err.splitlines() if re.match(r" +\d/3 ", line)]), 3, err)
        self.assertEqual(result, read_json(self.path("run/summary.json")))
        self.assertEqual((result["folder"], result["stopped"], result["epochs"], result["steps"]),
                         ("run", "epochs done", 3, 21))
        for part in ["best", "final", "test"]:
            self.assertTrue({"accuracy", "loss", "images"} <= result[part].keys(), result)
        self.assertTrue({"parameters", "validated_on", "train_loss", "train_accuracy", "majority_accuracy", "seconds",
                         "images_per_second", "remarks"} <= result.keys())
        self.assertEqual(result["parameters"], (SIDE * SIDE + 1) * 8 + (8 + 1) * 3)

        config = read_json(self.path("run/config.json"))
        self.assertEqual(config["kind"], "network training")
        self.assertEqual(config["training_images"], 108)
        self.assertEqual(config["command"][0], "train")
        self.assertEqual(config["options"]["network"], "mlp-8")
        self.assertEqual(config["options"]["batch"], 16)

        steps, epochs = lines_of(self.path("run"), "step"), lines_of(self.path("run"), "epoch")
        self.assertEqual([line["step"] for line in steps], list(range(2, 21, 2)))
        self.assertEqual([line["epoch"] for line in epochs], [1, 2, 3])
        for line in steps:
            self.assertEqual(line.keys(), {"kind", "epoch", "step", "loss", "accuracy", "rate", "K_z"})
        for line in epochs:
            self.assertTrue({"loss", "penalty", "accuracy", "val_loss", "val_accuracy", "rate", "last_rate", "K_z",
                             "max_w", "G", "S", "train_seconds", "data_seconds", "measure_seconds",
                             "validate_seconds"} <= line.keys())
            self.assertGreater(line["rate"], 0)
        best = max(epochs, key=lambda line: line["val_accuracy"])
        self.assertEqual((result["best"]["accuracy"], result["best"]["epoch"]), (best["val_accuracy"], best["epoch"]))
        self.assertEqual(result["final"]["accuracy"], epochs[-1]["val_accuracy"])

        out, err = self.train("quiet", *MLP, "--epochs", "1", "--quiet")
        self.assertEqual(err, "")
        self.assertEqual([line.split("  ")[0] for line in out.splitlines()[1:]],
                         ["best accuracy", "final accuracy", "test accuracy", "majority class", "folder"])

        out, err = self.run_program("train", *MLP, "--epochs", "1", "--quiet", "--json")  # a folder of its own making
        self.assertEqual(json.loads(out)["folder"], "runs/grey-mlp-8-adamo-adaptive")
        words = ["../grey/" if word == "../grey" else word for word in MLP]
        out, err = self.run_program("train", *words, "--epochs", "1", "--quiet", "--json")
        self.assertEqual(json.loads(out)["folder"], "runs/grey-mlp-8-adamo-adaptive-2")

    def test_seeds(self):
        self.in_parallel([lambda n=n, s=s: self.train(n, *CNN, "--epochs", "2", "--seed", s, "--quiet")
                          for n, s in (("one", "7"), ("again", "7"), ("other", "8"))])
        self.assert_same_run("one", "again")
        self.assertNotEqual(*[sum_of(self.path(name + "/weights.safetensors")) for name in ("one", "other")])

    def test_search_of_the_first_rate_and_second_moments(self):
        def search():
            err = self.train("search", *BARE, "--optimizer", "adamo", "--first-rate", "search", "--epochs", "2")[1]
            trials = dict(re.findall(r"^first rate ([0-9.]+): +([0-9.]+) % after", err, re.MULTILINE))
            self.assertEqual(list(trials), ["0.1", "0.5", "1"], err)
            chosen = read_json(self.path("search/config.json"))["options"]["first_rate"]
            self.assertEqual(float(trials[chosen]), max(map(float, trials.values())))
            self.assertEqual(epochs_of(self.path("search"))[0]["rate"], float(chosen))
            self.train("given", *BARE, "--optimizer", "adamo", "--first-rate", chosen, "--epochs", "2", "--quiet")
            self.assert_same_run("search", "given")

        def grid():
            words = BARE + ["--optimizer", "momentum", "--epochs", "2", "--schedule", "step"]
            err = self.train("grid", *words, "--policy", "grid", "--grid", "1e-6,0.1,1e30", "--grid-epochs", "2")[1]
            self.assertRegex(err, r"(?m)^rate 1e-06: +[0-9.]+ % after 2 epochs of 87 images, loss [0-9.]+$")
            self.assertRegex(err, r"(?m)^rate 1e\+30: the loss became NaN or infinite$")
            config, summary = (read_json(self.path("grid/" + name)) for name in ("config.json", "summary.json"))
            self.assertEqual(config["trials"], summary["trials"])
            self.assertEqual([trial["rate"] for trial in config["trials"]["tried"]], [1e-6, 0.1, 1e30])
            self.assertEqual([trial.get("diverged", False) for trial in config["trials"]["tried"]],
                             [False, False, True])
            self.assertEqual((config["trials"]["chosen"], config["options"]["rate"]), (0.1, 0.1))
            self.train("hand", *words, "--policy", "baseline", "--rate", "0.1", "--quiet")
            self.assert_same_run("grid", "hand")
            self.resume("grid", "--epochs", "3")  # tries nothing again, and remembers what it tried
            self.assertEqual(read_json(self.path("grid/summary.json"))["trials"], config["trials"])
            err = self.train("all", *words, "--policy", "grid", "--grid", "1e29,1e30", "--grid-epochs", "1", code=4)[1]
            self.assertIn("with every rate tried", err)
            self.assertFalse(os.path.exists(self.path("all")))

        def moment(name):
            words = BARE + ["--optimizer", "auto-adam", "--first-rate", "0.01", "--epochs", "2", "--quiet"]
            self.train(name, *words, "--second-moment", name)

        self.in_parallel([search, grid, *[lambda name=name: moment(name) for name in SECOND_MOMENTS]])
        found = {epochs_of(self.path(name))[0]["S"] for name in SECOND_MOMENTS}
        self.assertGreater(len(found), 1, "the estimates of S are all the same")

    # ---- evaluate

    def test_evaluate_agrees_with_the_record(self):
        words = RESNET + ["--validation", "0", "--epochs", "6"]
        result = json.loads(self.train("run", *words, "--json", "--quiet")[0])
        common = ["--data", "../colour", "--model", "resnet8-v1", "--threads", "1"]
        for name, key in (("best", "best"), ("weights", "final"), ("checkpoint", "final")):
            out, err = self.run_program("evaluate", *common, "--json", "--weights", f"run/{name}.safetensors")
            seen = json.loads(out)
            self.assertEqual(err, "")
            for number in ["accuracy", "loss", "images"]:
                self.assertEqual(seen[number], result[key][number], f"{name}: {number}")
        out, err = self.run_program("evaluate", *common, "--weights", "run/best.safetensors")
        self.assertIn(f"{100 * result['best']['accuracy']:.2f} % of 12 test images", out)

        # A deeper network has all that a shallower one asks for, and more.
        self.train("deep", *TINY, "--data", "../colour", "--model", "resnet14-v1", "--epochs", "1", "--quiet")
        weights = ["--weights", "run/weights.safetensors"]
        with open(self.path("run/weights.safetensors"), "rb") as file:
            content = file.read()
        with open(self.path("cut.safetensors"), "wb") as file:
            file.write(content[:-1])
        table = [
            (3, ["--data", "../colour", "--model", "resnet14-v1", *weights], "run/weights.safetensors"),
            (3, [*common, "--weights", "deep/weights.safetensors"], "which this network lacks"),
            (3, ["--data", "../colour", "--model", "mlp-8", *weights], "run/weights.safetensors"),
            (3, ["--data", "../grey", "--model", "resnet8-v1", *weights], "run/weights.safetensors"),
            (3, [*common, "--weights", "cut.safetensors"], "cut.safetensors"),
            (3, [*common, "--weights", "none.safetensors"], "none.safetensors"),
            (3, [*common, "--weights", "run/config.json"], "run/config.json"),
            (3, [*common, "--weights", "run"], "run"),
            (2, common, "--weights"),
            (2, [*common, *weights, "--padding", "cushion"], "cushion"),
            (2, [*common, *weights, "--bn-eps", "-1"], "--bn-eps -1"),
        ]
        self.in_parallel([lambda row=row: self.assertIn(row[2], self.refusal(row[0], "evaluate", *row[1]))
                          for row in table])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
