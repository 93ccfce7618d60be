"""The examples and those in the README run, and print what they say; the package is the installed wheel."""
from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

import lipschitzlr
from processes import run_processes

ROOT = pathlib.Path(__file__).resolve().parents[2]


def example(name: str, *words: str) -> list[str]:
    return [sys.executable, str(ROOT / "python" / "examples" / name), *words]


def accuracies(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([0-9.]+) % of 1000 unseen images", text)]


@pytest.fixture(scope="module")
def mnist() -> str:
    """The folder of its files, which the command line fetches where they are not there yet."""
    program = os.environ.get("LIPSCHITZLR_BIN")
    if program is None:
        pytest.skip("LIPSCHITZLR_BIN does not name the built program, which fetches MNIST (scripts/test does)")
    fetched = subprocess.run([program, "data", "get", "mnist"], capture_output=True, text=True)
    if fetched.returncode != 0:
        pytest.skip(f"MNIST is not there and could not be fetched: {fetched.stderr.splitlines()[-1]}")
    return subprocess.run([program, "data", "path", "mnist"], check=True, capture_output=True, text=True).stdout.strip()


def test_mnist_is_learned_with_adamo_and_with_a_driven_adamw(mnist: str, tmp_path: pathlib.Path) -> None:
    (text,) = run_processes(example("mnist_cnn.py", mnist, str(tmp_path)), 1)
    assert [accuracy > 90 for accuracy in accuracies(text)] == [True, True], text
    for name in ("adamo", "adamw"):
        assert len((tmp_path / name / "metrics.jsonl").read_text().splitlines()) == 3


def test_two_processes_learn_mnist_with_one_rate(mnist: str) -> None:
    first, second = run_processes(example("mnist_ddp.py", mnist), 2)
    assert first.removeprefix("rank 0") == second.removeprefix("rank 1")
    assert accuracies(first)[0] > 85, first


def test_the_breast_cancer_example_searches_in_vain() -> None:
    ran = subprocess.run(example("breast_cancer.py"), capture_output=True, text=True)
    shares = [float(number) for number in re.findall(r"([0-9.]+)%", ran.stdout)]
    assert ran.returncode == 0 and len(shares) == 2 and min(shares) > 95, ran.stdout + ran.stderr
    assert "certified" in ran.stdout and "sigma_max" in ran.stdout


def test_both_examples_in_the_readme_print_what_it_says(tmp_path: pathlib.Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\s+prints\s+```\n(.*?)```", readme, re.DOTALL)
    assert [("LipschitzClassifier" in code, "Auto(" in code) for code, _ in examples] == [(True, False), (False, True)]
    for code, printed in examples:
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
        assert (ran.returncode, ran.stdout) == (0, printed), ran.stderr


def test_the_package_is_installed_with_its_library_and_its_types() -> None:
    folder = pathlib.Path(lipschitzlr.__file__).parent
    assert ROOT / "python" not in folder.parents, f"{folder} is the checkout; scripts/python installs the wheel"
    assert (folder / "py.typed").exists() and (folder / "liblipschitzlr.so").exists()


def test_the_version_is_that_of_the_project() -> None:
    project = re.search(r"project\(lipschitzlr VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert project and lipschitzlr.__version__ == project[1]


def test_the_package_itself_needs_neither_torch_nor_scikit_learn() -> None:
    code = "import sys, lipschitzlr; sys.exit(len({'torch', 'sklearn', 'scipy', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
