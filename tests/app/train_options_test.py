#!/usr/bin/env python3
"""Wrong options are refused in one line and leave no folder behind; right ones are in the record and in the output."""
import json
import os
import re

from train_support import (BARE, CNN, MLP, RESNET, SECOND_MOMENTS, SIDE, TINY, TrainCase, epochs_of, lines_of, main,
                           read_json, sum_of)


class OptionsTest(TrainCase):
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
            (2, [*data, "--optimizer", "sgd", "--measure", "pass", "--update", "iteration"], "--measure pass"),
            (2, [*data, "--second-moment", "third"], "third"),
            (2, [*data, "--bias-correction", "maybe"], "--bias-correction maybe"),
            (2, [*data, "--padding", "cushion"], "cushion"),
            (2, [*data, "--precision", "triple"], "--precision triple"),
            (2, [*data, "--loss", "hinge"], "--loss hinge"),
            (2, [*data, "--dense-start", "cold"], "--dense-start cold"),
            (2, [*data, "--optimizer", "sgd", "--constant-kind", "loose"], "--constant-kind loose"),
            (2, [*data, "--optimizer", "sgd", "--constant-kind", "tight", "--constant", "2"], "leave one out"),
            (2, [*data, "--optimizer", "sgd", "--constant-kind", "tight", "--measure", "pass"], "--measure in-step"),
            (2, [*data, "--constant-kind", "tight"], "--constant-kind does nothing with --optimizer auto"),
            (2, [*data, "--optimizer", "auto-adam", "--k2", "find"], "--k2 find: expected a number above 0 or search"),
            (2, [*data, "--optimizer", "adamo", "--k2", "search"], "--k2"),
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
            (2, [*data, "--warmup", "0.1"], "--warmup goes with --policy baseline"),
            (2, [*data, "--policy", "baseline", "--warmup", "1"], "--warmup"),
            (2, [*data, "--policy", "baseline", "--schedule-epochs", "5"], "--schedule-epochs goes with"),
            (2, ["--data", "../grey", "--policy", "baseline", "--schedule", "cosine", "--schedule-epochs", "2"],
             "--epochs 20"),
            (2, [*data, "--policy", "baseline", "--grid", "0.1"], "--policy grid"),
            (2, [*data, "--policy", "grid", "--grid", "0.1,x"], "--grid 0.1,x"),
            (2, [*data, "--policy", "grid", "--grid", "0.1,"], "--grid 0.1,"),
            (2, [*data, "--policy", "grid", "--grid", "0.1,0.10"], "twice"),
            (2, [*data, "--policy", "grid", "--grid-epochs", "0"], "--grid-epochs 0"),
            (2, [*data, "--optimizer", "adamo", "--policy", "grid", "--rate", "0.1"], "--policy grid finds the rate"),
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
            (2, [*data, "--policy", "baseline"], "auto computes its rate by itself"),
            (2, [*data, "--optimizer", "auto", "--policy", "fixed"], "auto computes its rate by itself"),
            (2, [*data, "--optimizer", "auto", "--protocol", "coded"], "--protocol does nothing with --optimizer auto"),
            (2, [*data, "--first-rate", "0.1"], "--first-rate does nothing with --optimizer auto"),
            (2, [*data, "--decay", "0.1"], "--decay does nothing with --optimizer auto"),
            (2, [*data, "--beta1", "0.5"], "--beta1 does nothing with --optimizer auto"),
            (2, [*data, "--set", "beta1=0.5"], 'no setting "beta1"'),
            (2, [*data, "--k2", "1e-6", "--optimizer", "adamo"], "--k2 does nothing with --optimizer adamo"),
            (2, [*data, "--beta", "0.8", "--optimizer", "sgd"],
             "--beta does nothing with --optimizer sgd: leave it out, or take adamo, rmsprop or momentum"),
            (2, [*data, "--beta1", "0.8", "--optimizer", "amsgrad"], "--beta1 does nothing with --optimizer amsgrad"),
            (2, [*data, "--beta2", "0.8", "--optimizer", "rmsprop"], "--beta2 does nothing with --optimizer rmsprop"),
            (2, [*data, "--epsilon", "1e-6", "--optimizer", "momentum"], "--epsilon does nothing with"),
            (2, [*data, "--second-moment", "coded", "--optimizer", "adamo"], "--second-moment does nothing with"),
            (2, [*data, "--bias-correction", "no", "--optimizer", "sgd"], "--bias-correction does nothing with"),
            *((2, [*data, "--optimizer", "auto-adam", "--policy", "baseline", *words],
               f"{words[0]} does nothing with --policy baseline")
              for words in (["--constant", "2"], ["--update", "iteration"], ["--measure", "in-step"],
                            ["--second-moment", "coded"], ["--k1", "1"], ["--k2", "1"], ["--hold-averages"])),
            (2, [*data, "--optimizer", "wngrad", "--constant", "2"], "--constant does nothing with --policy baseline"),
            (2, [*data, "--optimizer", "sgd", "--policy", "grid", "--measure", "pass"],
             "--measure does nothing with --policy grid"),
            (2, [*data, "--bn-eps", "-1"], "--bn-eps -1"),
            (2, [*data, "--bn-momentum", "2"], "--bn-momentum 2"),
            (2, [*data, "--model", "mlp-8", "--bn-eps", "0.1"], "mlp-8 has no batch norm"),
            (2, [*data, "--seed", "-1"], "--seed -1"),
            (2, [*data, "--seed", "one"], "--seed one"),
            (2, [*data, "--checkpoint-minutes", "0"], "--checkpoint-minutes 0"),
            (2, [*data, "--log-steps", "-1"], "--log-steps -1"),
            (2, [*data, "--threads", "-1"], "--threads -1"),
            (2, [*data, "--fast"], "--fast"),
            (2, [*data, "-o", "-"], "a record is a folder"),
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

    def test_a_training_that_learnt_nothing_says_so(self):
        # Weights that stay at zero name one class every time.
        out, err = self.train("run", *TINY, "--data", "../grey", "--model", "softmax", "--optimizer", "momentum",
                              "--policy", "baseline", "--rate", "1e-30", "--epochs", "1", "--json")
        remark = json.loads(out)["remarks"][-1]
        self.assertIn("no better than naming the most frequent class", remark)
        self.assertIn(remark, err)

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

        out, err = self.train("quiet", *MLP, "--epochs", "8", "--validation", "0", "--quiet")
        self.assertEqual(err, "")
        self.assertEqual([line.split("  ")[0] for line in out.splitlines()[1:]],
                         ["best accuracy", "final accuracy", "test accuracy", "majority class", "folder"])

        out, err = self.run_program("train", *MLP, "--epochs", "1", "--quiet", "--json")  # a folder of its own making
        self.assertEqual(json.loads(out)["folder"], "runs/grey-mlp-8-adamo-adaptive")
        words = ["../grey/" if word == "../grey" else word for word in MLP]
        out, err = self.run_program("train", *words, "--epochs", "1", "--quiet", "--json")
        self.assertEqual(json.loads(out)["folder"], "runs/grey-mlp-8-adamo-adaptive-2")

    def test_auto_is_the_default_and_explains_itself(self):
        out, err = self.train("run", *BARE, "--epochs", "4", "--log-steps", "1", "--json")
        summary, options = json.loads(out), read_json(self.path("run/config.json"))["options"]
        self.assertEqual((options["optimizer"], options["policy"]), ("auto", "adaptive"))
        self.assertIn("L_inf = |grad f|_1 = ", err)
        self.assertRegex(err, r"The (last|averaged) weights are saved: [0-9.]+ % of the validation images, the ")
        self.assertIn("Certificate: the head's gradient never exceeded its constant in ", err)
        self.assertEqual(summary["auto"]["introduction"], next(line for line in err.splitlines() if "L_inf" in line))
        steps, epochs = lines_of(self.path("run"), "step"), lines_of(self.path("run"), "epoch")
        for line in steps + epochs:
            for name in ["F", "L_inf", "H", "P", "Hb"]:
                self.assertGreater(line[name], 0, line)
            self.assertEqual(line["rollbacks"], 0)
        total = len(steps)
        self.assertEqual(steps[-1]["rate"], 0)
        tensors = 2  # of weights in mlp-8
        self.assertLess(steps[0]["rate"], steps[0]["F"] / (40 * tensors * steps[0]["H"]))  # 64 / 1.3, less the decay
        self.assertGreater(steps[0]["rate"], steps[0]["F"] / (64 * tensors * steps[0]["H"]))
        self.assertGreater(steps[total // 2]["rate"], steps[0]["rate"])

    def test_auto_saves_the_better_weights(self):
        words = RESNET + ["--validation", "0", "--epochs", "6"]
        result = json.loads(self.train("run", *words, "--json", "--quiet")[0])
        better = result["auto"]["validation"][result["auto"]["weights"] + "_weights"]
        self.assertEqual(better["accuracy"], max(one["accuracy"] for one in result["auto"]["validation"].values()))
        common = ["--data", "../colour", "--model", "resnet8-v1", "--threads", "1"]
        for name, key in (("best", "best"), ("weights", "final")):
            out = self.run_program("evaluate", *common, "--json", "--weights", f"run/{name}.safetensors")[0]
            for number in ["accuracy", "loss", "images"]:
                self.assertEqual(json.loads(out)[number], result[key][number], f"{name}: {number}")

    def test_the_authors_protocol_has_adamo_by_default(self):
        self.train("run", *BARE, "--protocol", "coded", "--epochs", "1", "--quiet")
        options = read_json(self.path("run/config.json"))["options"]
        self.assertEqual((options["optimizer"], options["first_rate"]), ("adamo", "0.1"))

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

        def second_average():
            words = [*BARE, "--optimizer", "auto-adam", "--epochs", "1"]
            err = self.train("k2", *words, "--k2", "search")[1]
            trials = dict(re.findall(r"^K2 ([0-9.e-]+): +([0-9.]+) % after", err, re.MULTILINE))
            self.assertEqual(list(trials), ["0.001", "0.0001", "1e-05", "1e-06"], err)
            config = read_json(self.path("k2/config.json"))
            chosen = config["options"]["k2"]
            self.assertEqual(float(trials[f"{chosen:g}"]), max(map(float, trials.values())))
            self.assertEqual((config["options"]["k1"], config["trials"]["option"]), (1, "k2"))
            self.train("k2given", *words, "--k1", "1", "--k2", str(chosen), "--quiet")
            self.assert_same_run("k2", "k2given")

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

        self.in_parallel([search, second_average, grid, *[lambda name=name: moment(name) for name in SECOND_MOMENTS]])
        found = {epochs_of(self.path(name))[0]["S"] for name in SECOND_MOMENTS}
        self.assertGreater(len(found), 1, "the estimates of S are all the same")

    def test_a_check_changes_nothing_and_says_what_it_found(self):
        words = [*BARE, "--optimizer", "adamo", "--epochs", "2"]
        self.train("plain", *words, "--quiet")
        err = self.train("checked", *words, "--check")[1]
        self.assertEqual(*[sum_of(self.path(name + "/weights.safetensors")) for name in ("plain", "checked")])
        steps = sum(epoch["checked_steps"] for epoch in epochs_of(self.path("checked")))
        self.assertRegex(err, rf"Checked {steps} steps: the last layer had the largest gradient in \d+, .* above the "
                              r"certified one in 0, above the tight one in 0\.")
        for epoch in epochs_of(self.path("checked")):
            self.assertEqual((epoch["head_over_certified"], epoch["head_over_tight"]), (0, 0))
            self.assertLessEqual(epoch["share_of_tight"], 1)
            self.assertLess(epoch["share_of_certified"], epoch["share_of_tight"])
            self.assertGreater(epoch["gradient_head"], 0)
        self.assertEqual(read_json(self.path("checked/summary.json"))["check"]["steps"], steps)

    def test_constants_of_every_kind_drive_a_training(self):
        for kind in ("published", "coded", "certified", "tight"):
            self.train(kind, *BARE, "--optimizer", "adamo", "--constant-kind", kind, "--epochs", "2", "--quiet")
        found = [epochs_of(self.path(kind))[-1]["G"] for kind in ("published", "certified", "tight")]
        self.assertEqual(len(set(found)), 3, found)
        self.assertLess(found[0], found[1])  # published is the smaller formula, whatever the weights

    def test_a_single_image_left_over_waits(self):
        self.train("run", *CNN, "--limit", "33", "--validation", "0.1", "--epochs", "2", "--quiet")
        self.assertEqual(read_json(self.path("run/summary.json"))["steps"], 2 * 2)

    def test_a_limit_takes_images_of_every_class(self):
        # Folders are read class by class; a network that saw one class only could not tell three apart.
        words = BARE + ["--optimizer", "adamo", "--limit", "60", "--epochs", "30", "--quiet"]
        self.train("run", *words)
        self.assertGreater(read_json(self.path("run/summary.json"))["best"]["accuracy"], 0.7)

    def test_evaluate_agrees_with_the_record(self):
        words = RESNET + ["--optimizer", "adamo", "--validation", "0", "--epochs", "6"]
        result = json.loads(self.train("run", *words, "--json", "--quiet")[0])
        common = ["--data", "../colour", "--model", "resnet8-v1", "--threads", "1"]
        for name, key in (("best", "best"), ("weights", "final"), ("checkpoint", "final")):
            out, err = self.run_program("evaluate", *common, "--json", "--weights", f"run/{name}.safetensors")
            seen = json.loads(out)
            self.assertEqual(err, "")
            for number in ["accuracy", "loss", "images"]:
                self.assertEqual(seen[number], result[key][number], f"{name}: {number}")
        out, err = self.run_program("evaluate", *common, "--weights", "run/best.safetensors")
        self.assertRegex(out, "^12 test images, [0-9]+ classes\n")
        self.assertRegex(out, f"accuracy +{100 * result['best']['accuracy']:.2f} %")
        self.assertEqual(sum(map(sum, seen["confusion"])), 12)
        right = sum(row[i] for i, row in enumerate(seen["confusion"]))
        self.assertAlmostEqual(right / 12, seen["accuracy"])

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
    main()
