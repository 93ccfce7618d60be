#!/usr/bin/env python3
"""Runs the command-line cases of cli_cases.txt: cli_test.py PROGRAM [NAME_PART]

A case is a block of lines; blank lines part the blocks, # starts a comment:
  $ COMMAND   run by bash in an empty folder with files/ beside it and the program as `lipschitzlr`
  ? CODE      the expected exit code, 0 when not given
  > TEXT      must stand in standard output
  ! TEXT      must stand in standard error
  - TEXT      must stand in neither
  =           nothing may stand in standard error
Each case starts with its name on a line of its own. A case with exit code 2 or 3 must say why in one line.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def parse(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        for block in re.split(r"\n\s*\n", file.read()):
            lines = [line for line in block.splitlines() if line and not line.startswith("#")]
            if lines:
                case = {"name": lines[0], "code": 0, "out": [], "err": [], "none": [], "quiet": False}
                for line in lines[1:]:
                    mark, text = line[0], line[2:]
                    if mark == "$":
                        case["command"] = text
                    elif mark == "?":
                        case["code"] = int(text)
                    elif mark == "=":
                        case["quiet"] = True
                    else:
                        case[{">": "out", "!": "err", "-": "none"}[mark]].append(text)
                cases.append(case)
    return cases


def complaints(case, program):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(HERE, "files"), os.path.join(folder, "files"))
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(program, os.path.join(folder, "bin", "lipschitzlr"))
        environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"], LC_ALL="C.UTF-8",
                           LIPSCHITZLR_DATA=os.path.join(folder, "cache"))
        done = subprocess.run(["bash", "-c", "set -o pipefail\n" + case["command"]], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if done.returncode != case["code"]:
        yield f"exit code {done.returncode}, not {case['code']}\n{done.stderr}"
    for text in case["out"]:
        if text not in done.stdout:
            yield f"standard output lacks: {text}\n{done.stdout}"
    for text in case["err"]:
        if text not in done.stderr:
            yield f"standard error lacks: {text}\n{done.stderr}"
    for text in case["none"]:
        if text in done.stdout + done.stderr:
            yield f"must not be printed: {text}\n{done.stdout}{done.stderr}"
    if case["quiet"] and done.stderr:
        yield f"standard error is not empty:\n{done.stderr}"
    if case["code"] in (2, 3) and len(done.stderr.strip().splitlines()) != 1:
        yield f"the reason is not one line:\n{done.stderr}"


def main():
    program, part = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    cases = [case for case in parse(os.path.join(HERE, "cli_cases.txt")) if part in case["name"]]
    failed = 0
    for case in cases:
        try:
            found = list(complaints(case, program))
        except subprocess.TimeoutExpired as error:
            found = [str(error)]
        failed += bool(found)
        for complaint in found:
            print(f"FAILED {case['name']}\n  $ {case['command']}\n  {complaint}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
