#!/usr/bin/env python3
"""Runs every case of cases.py: files from strangers, wrong options, outputs that can't be written.

  hostile_test.py PROGRAM [NAME_PART] [--sanitized]

Whatever the input, the program ends within 10 s and 512 MB, never by a signal, with the exit code the case names, and an
error is one line without escape codes that names the place. --sanitized: a sanitizer's own memory is not counted.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import cases

SECONDS, MEGABYTES = 10, 512


def run(command, folder, environment):
    """Exit code (negative: a signal), standard output, standard error, megabytes."""
    out, err = folder / ".out", folder / ".err"
    with open(out, "wb") as to, open(err, "wb") as complaints:
        process = subprocess.Popen(["bash", "-c", command if ";" in command else "exec " + command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=to, stderr=complaints,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            process.kill()
            raise
    code = os.waitstatus_to_exitcode(status)
    return code, out.read_bytes(), err.read_bytes(), usage.ru_maxrss / 1024


def faults(case, program, counts_memory):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "lipschitzlr").symlink_to(program)
        for path, content in case.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                           LIPSCHITZLR_DATA=f"{folder}/cache", HOME=name)
        if case.prepare:
            subprocess.run(["bash", "-c", case.prepare], cwd=folder, env=environment, check=True, capture_output=True)
        code, out, err, megabytes = run(case.command, folder, environment)
        missing = [path for path, content in case.kept.items()
                   if not (folder / path).exists() or (folder / path).read_bytes() != content]
    text = err.decode("utf-8", "replace")
    if code < 0 or code >= 126 and code != 130:
        yield f"ended by signal {-code if code < 0 else code - 128}"
    elif code not in case.codes:
        yield f"exit code {code}, not {' or '.join(map(str, case.codes))}"
    if code in (2, 3) and len(text.strip().splitlines()) != 1:
        yield "the reason is not one line"
    for word in case.says:
        if word not in text + out.decode("utf-8", "replace"):
            yield f"does not say: {word}"
    for word in ("json.exception", "basic_string", "std::", "unexpected:", "terminate called", "FAILED", "Sanitizer"):
        if word in text:
            yield f"says: {word}"
    if b"\x1b" in err or case.printable and b"\x1b" in out:
        yield "an escape code reached the output"
    if counts_memory and megabytes > MEGABYTES:
        yield f"took {megabytes:.0f} MB"
    for path in missing:
        yield f"{path} was changed"
    case.last = text


def main():
    arguments = [word for word in sys.argv[1:] if word != "--sanitized"]
    program, part = os.path.abspath(arguments[0]), arguments[1] if len(arguments) > 1 else ""
    chosen = [case for case in cases.all_cases() if part in case.name]
    failed = 0
    for case in chosen:
        found = list(faults(case, program, "--sanitized" not in sys.argv))
        failed += bool(found)
        if found:
            print(f"FAILED {case.name}\n  $ {case.command}\n  " + "\n  ".join(found) + f"\n  {case.last.strip()[:400]}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
