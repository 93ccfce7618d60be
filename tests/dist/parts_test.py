#!/usr/bin/env python3
"""Processes of which each reads its part of the data, as a user runs them: parts_test.py PROGRAM [TEST ...]

The model is that of one process, and each process needs its own bytes only: where the others' bytes are destroyed, it is
the same. Errors are those of one process, in all of them.
"""
import datetime
import gzip
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import unittest

from processes import LIMIT, alone, free_port, said_by, start_process, wait_for_file

PROGRAM = ""
HEADER = "id,a,b,city,day,gap,code,y"


def raw_rows(count, classes, seed=1):
    """Lines with an id, numbers, a category, dates, gaps, and codes that are numbers in the first half alone."""
    mix = random.Random(seed)
    lines = []
    for row in range(count):
        a, b = mix.gauss(3, 2), mix.gauss(-1, 5)
        city = mix.choice(["Rom", "Oslo", "Kyiv", "Lima"])
        day = datetime.date(2020, 1, 1) + datetime.timedelta(days=mix.randrange(900))
        gap = "" if mix.random() < 0.1 else f"{mix.uniform(0, 10):.3f}"
        code = mix.choice("0123") if row < count / 2 else mix.choice("01AB")
        value = 1.5 * a - 0.2 * b + {"Rom": 1, "Oslo": -2, "Kyiv": 0, "Lima": 3}[city] + mix.gauss(0, 2)
        target = ("yes" if value > 5 else "no") if classes else f"{value:.5f}"
        lines.append(f"u{row}x,{a:.4f},{b:.4f},{city},{day},{gap},{code},{target}")
    return lines


def numbers(value):
    return [number for part in value for number in numbers(part)] if isinstance(value, list) else [value]


class PartsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="lipschitzlr-parts-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)

    def run_program(self, *words):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=alone(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def start_all(self, words, folders):
        shared = {"WORLD_SIZE": str(len(folders)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(),
                  "LIPSCHITZLR_TOKEN": secrets.token_hex(8)}
        return [start_process(self, [PROGRAM, "fit", *words], self.path(folder), **shared, RANK=str(rank))
                for rank, folder in enumerate(folders)]

    def ends_of(self, words, folders):
        processes = self.start_all(words, folders)
        return [(process.returncode, *said) for said, process in zip(said_by(processes), processes)]

    def model(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return json.load(file)

    def assert_same_model(self, one, other, name):
        for key in ("weights", "features", "labels"):
            self.assertEqual(key in one, key in other)
        first, second = numbers(one["weights"]), numbers(other["weights"])
        self.assertEqual(len(first), len(second), name)
        largest = max(map(abs, first))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(first, second)), 1e-10 * largest, name)
        settings = [model["training"]["setting"] for model in (one, other)]
        self.assertEqual(settings[0]["fingerprint"], settings[1]["fingerprint"], name + ": other rows")
        self.assertEqual(settings[0]["rows"], settings[1]["rows"], name)

    def compare(self, source, *words, processes_of=("2", "4")):
        """One process and several; the bytes that each of the last of these has read."""
        self.run_program("fit", source, *words, "-q", "-o", "1.json")
        for processes in processes_of:
            said = self.run_program("launch", "-n", processes, "--", "fit", source, *words, "-q", "--json", "-o",
                                    f"{processes}.json")
            name = f"{source} {' '.join(words)}, {processes} processes"
            self.assert_same_model(self.model("1.json"), self.model(f"{processes}.json"), name)
        return json.loads(said)["bytes_read"]

    def test_parts_of_one_file_make_the_model_of_one_process(self):
        for classes in (False, True):
            text = "\n".join([HEADER, *raw_rows(900, classes)]) + "\n"
            self.write("t.csv", text)
            # With L1 the weights of levels are one choice of many, so that it has numbers alone.
            for words in (["--holdout", "0.2", "--l2", "0"], ["--l1", "auto", "--missing", "median", "--only", "a,b,gap"],
                          ["--missing", "drop", "--solver", "sgd", "--batch", "64", "--epochs", "4", "--patience", "2"]):
                read = self.compare("t.csv", *words)
                self.assertEqual(len(read), 4)
                self.assertGreaterEqual(sum(read), len(text))
                for rank, count in enumerate(read):
                    most = len(text) // 4 + 3000 + (1 << 16 if rank == 0 else 0)  # rank 0 looks at the beginning
                    self.assertLess(count, most, f"rank {rank}")

    def test_files_of_a_pattern_make_the_model_of_one_process(self):
        rows = raw_rows(1100, True)
        for number in range(5):
            part = "\n".join([HEADER, *rows[220 * number:220 * (number + 1)]]) + "\n"
            self.write(f"p{number}.csv", part)
            self.write(f"z{number}.csv.gz", gzip.compress(part.encode()))
        sizes = [os.path.getsize(self.path(f"z{number}.csv.gz")) for number in range(5)]
        read = self.compare("z*.csv.gz", "--holdout", "0.1")
        self.assertEqual(read[1:], [sizes[1], sizes[2], sum(sizes[3:])])
        self.compare("p*.csv", "--holdout", "0.1", processes_of="2")
        self.compare("p[01].csv", "--class-weight", "balanced", processes_of="4")

    def test_json_lines_in_parts_make_the_model_of_one_process(self):
        names = HEADER.split(",")
        for number in range(2):
            cells = [dict(zip(names, line.split(","))) for line in raw_rows(300, True, seed=number)]
            lines = [json.dumps({name: cell for name, cell in row.items() if cell}) for row in cells]
            self.write(f"p{number}.jsonl", "\n".join(lines) + "\n")
        self.compare("p*.jsonl", "--target", "y")

    def test_blocks_of_a_packed_table_make_the_model_of_one_process(self):
        mix = random.Random(4)
        lines = [",".join(f"{mix.gauss(0, 1):.4f}" for _ in range(4)) for _ in range(60000)]
        self.write("t.csv", "a,b,c,y\n" + "\n".join(lines) + "\n")
        self.run_program("data", "pack", "t.csv", "-o", "t.lrd")
        self.compare("t.lrd", processes_of="2")
        read = self.compare("t.lrd", "--memory", "16M", "--l2", "0.1")
        rows, rest = 60000 * 3 * 8, 60000 * 2 * 8 + 4096  # the target is read whole, and again to be checked
        for count in read:
            self.assertLess(count, rows // 4 + (1 << 18) + rest)

    def destroyed(self, name, kept):
        """Folders of processes; of the file each has only the bytes that it needs."""
        with open(self.path(name), "rb") as file:
            whole = file.read()
        folders = []
        for rank, ranges in enumerate(kept(whole)):
            own = bytearray(b"x" * len(whole))
            for first, last in ranges:
                own[first:last] = whole[first:last]
            folders.append(f"rank{rank}")
            self.write(f"rank{rank}/{name}", bytes(own))
        return folders

    def expect_model_from(self, name, folders, *words):
        self.run_program("fit", name, *words, "-q", "-o", "1.json")
        for code, _, err in self.ends_of([name, *words, "-q", "-o", "model.json"], folders):
            self.assertEqual(code, 0, err)
        self.assert_same_model(self.model("1.json"), self.model("rank0", "model.json"), name)

    def test_each_process_needs_its_own_bytes_alone(self):
        self.write("t.csv", "\n".join([HEADER, *raw_rows(1500, True)]) + "\n")
        for size in (2, 4):
            def kept(whole, size=size):
                starts = [len(whole) * rank // size for rank in range(size + 1)]
                return [[(starts[rank], whole.find(b"\n", starts[rank + 1]) + 1 or len(whole))] for rank in range(size)]
            self.expect_model_from("t.csv", self.destroyed("t.csv", kept))

    def test_each_process_needs_its_own_blocks_alone(self):
        mix = random.Random(4)
        rows, columns = 60000, 3
        lines = [",".join(f"{mix.gauss(0, 1):.4f}" for _ in range(columns + 1)) for _ in range(rows)]
        self.write("t.csv", "a,b,c,y\n" + "\n".join(lines) + "\n")
        self.run_program("data", "pack", "t.csv", "-o", "t.lrd")

        def kept(whole):
            block = (1 << 15) // columns
            border = 16 + -(-rows // block) // 2 * block * columns * 8
            end = 16 + rows * columns * 8
            return [[(0, border), (end, len(whole))], [(0, 16), (border, len(whole))]]
        for words in (["--l2", "0.1"], ["--memory", "16M", "--holdout", "0.2"]):
            self.expect_model_from("t.lrd", self.destroyed("t.lrd", kept), *words)

    def test_an_error_is_that_of_one_process_and_names_the_part(self):
        rows = raw_rows(400, False)
        for number in range(4):
            header = HEADER.replace("gap", "gape") if number == 2 else HEADER
            self.write(f"p{number}.csv", "\n".join([header, *rows[100 * number:100 * (number + 1)]]) + "\n")
        self.write("t.csv", "\n".join([HEADER, *rows[:330], "1,2,3", *rows[330:]]) + "\n")
        self.write("s.csv", "\n".join([HEADER, *rows[:370], rows[370].replace(",20", ",x20"), *rows[371:]]) + "\n")
        for source, part in (("p*.csv", "p2.csv: line 1, column 6"), ("t.csv", "t.csv: line 332"),
                             ("s.csv", "s.csv: line 372, column 5")):
            code, _, said = self.ends_alone(source)
            self.assertIn(part, said)
            for size in (2, 5):
                for end in self.ends_of([source], [""] * size):
                    self.assertEqual((end[0], end[2]), (code, said))

    def ends_alone(self, source):
        done = start_process(self, [PROGRAM, "fit", source], self.folder)
        said = said_by([done])[0]
        return done.returncode, *said

    def test_a_part_that_is_missing_or_other_in_a_process_is_named(self):
        rows = raw_rows(90, False)
        for rank in range(3):
            for number in range(3):
                text = "\n".join([HEADER, *rows[30 * number:30 * (number + 1)]]) + "\n"
                self.write(f"rank{rank}/p{number}.csv", text)
        folders = ["rank0", "rank1", "rank2"]
        for code, _, err in self.ends_of(["p*.csv", "-q"], folders):
            self.assertEqual(code, 0, err)
        os.remove(self.path("rank1/p1.csv"))
        for code, _, err in self.ends_of(["p*.csv", "-q"], folders):
            self.assertEqual(code, 3, err)
            self.assertIn("p1.csv: rank 1 has no such file", err)
        self.write("rank1/p1.csv", "a,b\n1,2\n")
        for code, _, err in self.ends_of(["p*.csv", "-q"], folders):
            self.assertEqual(code, 3, err)
            self.assertIn("p1.csv: rank 1 finds 8 bytes", err)

    def test_a_killed_process_is_named(self):
        self.write("t.csv", "\n".join([HEADER, *raw_rows(400, True)]) + "\n")
        words = ["t.csv", "--l2", "0.01", "--solver", "gd", "--rate", "gradient", "--tolerance", "0", "--epochs",
                 "100000000", "-q", "--record", "record"]
        processes = self.start_all(words, ["", ""])
        wait_for_file(self, self.path("record/metrics.jsonl"), processes[0])
        processes[1].kill()
        _, err = said_by(processes)[0]
        self.assertEqual(processes[0].returncode, 4, err)
        self.assertIn("rank 1 was lost", err)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
