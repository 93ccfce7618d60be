#!/usr/bin/env python3
"""Damaged or foreign checkpoints, full disks and numbers that are not finite are told in one line and touch nothing."""
import os
import resource
import shutil
import signal
import struct

from train_support import BARE, MLP, TINY, TrainCase, main, sum_of


class DamageTest(TrainCase):
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
            err = self.refusal(3, "train", *BARE, "--optimizer", "adamo", "--epochs", "1", "-o", "file/run", *more)
            self.assertIn("file/run: can't make the folder: Not a directory", err)

    def test_a_record_is_not_overwritten(self):
        self.train("run", *MLP, "--epochs", "1", "--quiet")
        before = sum_of(self.path("run/metrics.jsonl"))
        self.assertIn("run: there is a record", self.refusal(3, "train", *MLP, "--epochs", "1", "-o", "run"))
        self.assertEqual(sum_of(self.path("run/metrics.jsonl")), before)

    def test_loss_that_is_not_finite(self):
        words = BARE + ["--optimizer", "adamo", "--policy", "baseline", "--rate", "1e30", "--epochs", "3", "--quiet"]
        err = self.train("none", *words, code=4)[1]
        self.assertRegex(err, r"\Alipschitzlr: the loss is (not a number|infinite) at step \d+ \(epoch 1\), [^\n]*rate 1e\+30[^\n]*"
                              r"There is no checkpoint yet\n\Z")
        # One step from zero leaves weights that are huge but finite; the next scores are not.
        words = TINY + ["--data", "../grey", "--model", "softmax", "--optimizer", "sgd", "--policy", "baseline"]
        err = self.train("some", *words, "--rate", "1e38", "--quiet", "--checkpoint-minutes", "1e-9", code=4)[1]
        self.assertRegex(err, r"\Alipschitzlr: the loss is (not a number|infinite) at step 2 [^\n]*rate 1e\+38[^\n]*"
                              r"The last good checkpoint is some/checkpoint.safetensors\n\Z")

    def test_a_last_step_that_spoils_the_weights_is_no_success(self):
        # As many images as a batch has: no second step meets the huge weights, only validation does.
        words = TINY + ["--data", "../grey", "--model", "softmax", "--optimizer", "sgd", "--policy", "baseline"]
        err = self.train("last", *words, "--rate", "1e38", "--limit", "16", "--epochs", "2", "--quiet", code=4)[1]
        self.assertRegex(err, r"\Alipschitzlr: the validation loss is -?(nan|inf) after epoch 1, step 1, with the rate "
                              r"1e\+38 [^\n]*There is no checkpoint yet\n\Z")
        self.assertFalse(os.path.exists(self.path("last/best.safetensors")))


if __name__ == "__main__":
    main()
