"""The examples and the README's loop run, and print what they say."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import lipschitzlr
from processes import run_processes

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = str(ROOT / "data" / "digits.csv")


def example(name: str) -> list[str]:
    return [sys.executable, str(ROOT / "python" / "examples" / name), DIGITS]


def accuracies(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([0-9.]+) % of 297 unseen digits", text)]


def test_the_digits_are_learned_with_adamo_and_with_a_driven_adamw(tmp_path: pathlib.Path) -> None:
    (text,) = run_processes([*example("digits_cnn.py"), str(tmp_path)], 1)
    assert [accuracy > 95 for accuracy in accuracies(text)] == [True, True], text
    for name in ("adamo", "adamw"):
        assert len((tmp_path / name / "metrics.jsonl").read_text().splitlines()) == 10


def test_two_processes_learn_the_digits_with_one_rate() -> None:
    first, second = run_processes(example("ddp_digits.py"), 2)
    assert first.removeprefix("rank 0") == second.removeprefix("rank 1")
    assert accuracies(first)[0] > 85, first


def test_the_loop_in_the_readme_prints_what_it_says(tmp_path: pathlib.Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\s+prints\s+```\n(.*?)```", readme, re.DOTALL)
    assert found, "README.md has no Python loop with its output"
    ran = subprocess.run([sys.executable, "-c", found[1]], capture_output=True, text=True, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, found[2]), ran.stderr


def test_the_version_is_that_of_the_project() -> None:
    project = re.search(r"project\(lipschitzlr VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert project and lipschitzlr.__version__ == project[1]


def test_the_package_itself_needs_no_torch() -> None:
    code = "import sys, lipschitzlr; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
