#!/usr/bin/env python3
"""Killed, interrupted and resumed trainings end with the very bytes of one that was left alone."""
import os
import random
import re
import shutil
import signal
import time

from train_support import (AUTO, BARE, CNN, MLP, OPTIMIZERS, PEERS, POLICIES, RESNET, TrainCase, lines_of, main, output_of,
                           read_json, sum_of)


class ResumeTest(TrainCase):
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

    def kill_and_compare(self, times, words, epochs):
        words = [*words, "--log-steps", "1", "--epochs", str(epochs)]
        self.train("whole", *words)
        seconds = sum(line["train_seconds"] for line in lines_of(self.path("whole"), "epoch")) / epochs
        seed = random.SystemRandom().randrange(10**6)
        chance, story, kills, runs = random.Random(seed), [f"seed {seed}"], 0, ["killed-1"]
        while kills < times:
            if self.killed(chance, [*words, "-o", runs[-1]], seconds, story) == 0:
                runs.append(f"killed-{len(runs) + 1}")  # it was through before its time
            else:
                kills += 1
            self.assertLess(len(runs), 40, story)
        if os.path.exists(self.path(runs[-1] + "/checkpoint.safetensors")):
            self.resume(runs[-1])
        else:
            runs.pop()
        self.assertTrue(runs, story)
        for folder in runs:
            self.assert_same_run("whole", folder, story)
            self.assertEqual(lines_of(self.path("whole"), "step"), lines_of(self.path(folder), "step"), story)

    def test_kill_at_ten_random_moments(self):
        self.kill_and_compare(10, CNN, 24)

    def test_kill_auto_at_four_random_moments(self):
        self.kill_and_compare(4, AUTO, 30)

    def test_more_epochs_of_auto_go_on_along_a_new_line(self):
        self.train("run", *AUTO, "--epochs", "10", "--log-steps", "1")
        first = lines_of(self.path("run"), "step")
        self.resume("run", "--epochs", "20")
        steps = lines_of(self.path("run"), "step")
        self.assertEqual(steps[:len(first)], first)
        end, new_end = len(first), len(steps)
        self.assertEqual((new_end, steps[-1]["rate"]), (2 * end, 0))
        frozen = first[-2]["rate"] / (1 - (end - 1) / end)
        for step in steps[end:]:
            self.assertAlmostEqual(step["rate"], frozen * (1 - step["step"] / new_end), delta=1e-9 * frozen)

    def test_interrupt_and_terminate(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            folder = number.name
            with self.start("train", *CNN, "--epochs", "100000", "-o", folder) as process:
                self.assertTrue(self.wait_for_checkpoints(process, folder, 2))
                process.send_signal(number)
                out, err = output_of(process)
            self.assertEqual(process.returncode, 130, err)
            self.assertEqual(out, "")
            last = f"lipschitzlr: interrupted; continue with: lipschitzlr train --resume {folder}\n"
            self.assertTrue(err.endswith(last), err)
            self.assertFalse(os.path.exists(self.path(folder + "/summary.json")))
            epochs = str(len(lines_of(self.path(folder), "epoch")) + 2)
            self.resume(folder, "--epochs", epochs)
            self.train("whole-" + folder, *CNN, "--epochs", epochs)
            self.assert_same_run("whole-" + folder, folder, number.name)

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

        # A queue of gradients, numbers of all parameters together, weights to evaluate, and the plan of a schedule, which
        # is longer than the first run.
        parted = {"adashift": ["--set", "delay=5", "--schedule", "cosine", "--schedule-epochs", "3"],
                  "prodigy": ["--schedule", "linear", "--warmup", "0.1", "--schedule-epochs", "3"],
                  "schedule-free": [], "momo-adam": []}

        def peer(optimizer):
            words = BARE + ["--optimizer", optimizer]
            if optimizer not in parted:
                self.train(optimizer, *words, "--epochs", "1", "--quiet")
                return
            words += parted[optimizer]
            self.train(optimizer, *words, "--epochs", "3")
            self.train(optimizer + "-parts", *words, "--epochs", "1")
            self.resume(optimizer + "-parts", "--epochs", "3")
            self.assert_same_run(optimizer, optimizer + "-parts")
            if "--schedule" in words:
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
        self.train("whole", *CNN, "--epochs", "40")
        self.train("more", *CNN, "--epochs", "1")
        with self.start("train", "--resume", "more", "--epochs", "40") as process:
            self.assertTrue(self.wait_for_checkpoints(process, "more", 2))
            process.send_signal(signal.SIGINT)
            output_of(process)
        self.assertEqual(process.returncode, 130)
        self.resume("more")  # as the message of the interrupted run says, without --epochs
        self.assert_same_run("whole", "more")
        config = read_json(self.path("more/config.json"))  # made by one command, as the record says
        self.assertEqual(config["options"]["epochs"], 40)
        self.assertEqual(config["command"][config["command"].index("--epochs") + 1], "40")

    def test_resuming_a_finished_run_says_its_result_again(self):
        before = self.train("done", *MLP, "--epochs", "3")[0]
        sums = {name: sum_of(self.path("done/" + name)) for name in os.listdir(self.path("done"))}
        after, err = self.resume("done")
        self.assertEqual(re.sub(r"\d+ images/s", "", before), re.sub(r"\d+ images/s", "", after))
        self.assertIn("nothing is left to do", err)
        for name in ["checkpoint.safetensors", "weights.safetensors", "best.safetensors", "metrics.jsonl"]:
            self.assertEqual(sum_of(self.path("done/" + name)), sums[name], name)
        self.assertIn("3 epochs", self.resume("done", "--epochs", "2")[0])  # fewer than there are


if __name__ == "__main__":
    main()
