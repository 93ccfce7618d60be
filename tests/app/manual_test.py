#!/usr/bin/env python3
"""Every option in --help of every command is in the manual page and is completed: manual_test.py PROGRAM [--without-train]

The page must be the very one that scripts/manual makes; without the libtorch part, whose `train --help` it needs, only
its options are looked for.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = sys.argv[1]
COMPLETE = """
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_lipschitzlr
printf '%s\\n' "${COMPREPLY[@]}"
"""


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def help_of(path):
    return output_of(PROGRAM, *path, "--help")


def commands(path=()):
    text = help_of(path)
    yield path, text
    listed = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"(?m)^  ([a-z0-9]+)", listed):
        if (*path, name) != ("train",) or "--without-train" not in sys.argv:
            yield from commands((*path, name))


def section_of(page, path):
    head = f"\n.SS {' '.join(path)}\n"
    assert head in page, f"the manual lacks {' '.join(path)}"
    return page.partition(head)[2].partition("\n.SS ")[0].replace("\\-", "-")


def main():
    page = (ROOT / "man/lipschitzlr.1").read_text(encoding="utf-8")
    wrong, count = [], 0
    for path, text in commands():
        if not path:
            continue
        section = section_of(page, path)
        offered = output_of("bash", "-c", COMPLETE, "bash", str(ROOT / "completions/lipschitzlr.bash"), PROGRAM, *path,
                            "--").split()
        for flag in re.findall(r"(?m)^  (?:-[a-z],)?(--[a-z0-9-]+)", text):
            count += 1
            if flag != "--help" and flag not in re.findall(r"--[a-z0-9-]+", section):
                wrong.append(f"{' '.join(path)} {flag} is not in the manual")
            if flag not in offered:
                wrong.append(f"{' '.join(path)} {flag} is not completed: {offered}")
    if "--without-train" not in sys.argv:
        subprocess.run([sys.executable, ROOT / "scripts/manual", PROGRAM, "--check"], check=True)
    print(f"{count} options")
    sys.exit("\n".join(wrong) or (None if count > 100 else "hardly any option was looked at"))


if __name__ == "__main__":
    main()
