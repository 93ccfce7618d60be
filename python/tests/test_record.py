"""Record and report, with the program that was built: its page and its JSON say what it read."""
from __future__ import annotations

import json
import math
import os
import pathlib
from typing import Any

import pytest
import torch

import lipschitzlr
from lipschitzlr import _report

BIN = os.environ.get("LIPSCHITZLR_BIN", "")
needs_program = pytest.mark.skipif(not BIN, reason="LIPSCHITZLR_BIN names no built program")


def write(folder: pathlib.Path) -> None:
    with lipschitzlr.Record(folder, data="digits", network="cnn", optimizer="adamo", epochs=3) as record:
        for epoch in range(3):
            record.step(loss=1.0)
            record.epoch(loss=1 / (epoch + 1), val_accuracy=torch.tensor(0.5 + epoch / 10), rate=0.25, margin=epoch)


def lines_of(folder: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_record_has_the_files_and_fields_of_the_format(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "run")
    config = json.loads((tmp_path / "run/config.json").read_text())
    assert config["version"] == 1 and config["kind"] == "network training"
    assert config["options"] == {"data": "digits", "network": "cnn", "optimizer": "adamo", "epochs": 3}
    assert config["command"] == [] and "/" not in config["script"][0]
    lines = lines_of(tmp_path / "run")
    assert [line["kind"] for line in lines] == ["step", "epoch"] * 3
    assert lines[2] == {"kind": "step", "epoch": 2, "step": 2, "loss": 1.0}
    assert lines[5]["epoch"] == 3 and lines[5]["loss"] == 1 / 3 and lines[5]["margin"] == 2
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["epochs"] == 3 and summary["stopped"] == "epochs done" and summary["folder"] == "run"


def test_what_is_no_number_is_null_or_refused(tmp_path: pathlib.Path) -> None:
    record = lipschitzlr.Record(tmp_path / "run")
    record.epoch(loss=math.nan, rate=math.inf)
    with pytest.raises(TypeError, match="the figure loss"):
        record.epoch(loss="low")
    with pytest.raises(ValueError, match="epoch is counted"):
        record.epoch(epoch=3)
    with pytest.raises(TypeError, match="the option sizes"):
        lipschitzlr.Record(tmp_path / "other", sizes=[1, 2])
    record.finish(stopped="enough")
    assert lines_of(tmp_path / "run") == [{"kind": "epoch", "epoch": 1, "loss": None, "rate": None}]
    for call in (record.epoch, record.step, record.finish):
        with pytest.raises(RuntimeError, match="finished already"):
            call()
    with pytest.raises(ValueError, match="empty"):
        lipschitzlr.Record("")
    with pytest.raises(FileExistsError, match="a record in this folder already"):
        lipschitzlr.Record(tmp_path / "run")


def test_a_failure_is_written_and_an_interruption_leaves_no_summary(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ZeroDivisionError), lipschitzlr.Record(tmp_path / "failed") as record:
        record.epoch(loss=1 / 0)
    assert (tmp_path / "failed/failure.txt").read_text() == "division by zero\n"
    with pytest.raises(KeyboardInterrupt), lipschitzlr.Record(tmp_path / "cut") as record:
        raise KeyboardInterrupt
    assert sorted(os.listdir(tmp_path / "cut")) == ["config.json", "metrics.jsonl"]


@needs_program
def test_the_program_reads_the_record_and_makes_the_page(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "run")
    page = lipschitzlr.report(tmp_path / "run", tmp_path / "page.html", title="Mine <&>")
    html = page.read_text(encoding="utf-8")
    assert "<title>Mine &lt;&amp;&gt;</title>" in html and "AdaMo" in html
    data = json.loads(lipschitzlr.report([tmp_path], tmp_path / "all.json").read_text(encoding="utf-8"))
    (record,) = data["records"]
    assert record["verdict"] == "complete" and record["figures"]["epochs"] == 3
    assert record["figures"]["best accuracy"] == pytest.approx(70)
    curves = {chart["title"]: chart["series"][0]["y"] for chart in data["charts"]}
    assert curves["Loss"] == pytest.approx([1, 0.5, 1 / 3], abs=1e-6)
    assert curves["margin"] == [0, 1, 2]


@needs_program
def test_the_program_calls_a_record_cut_short_or_failed(tmp_path: pathlib.Path) -> None:
    record = lipschitzlr.Record(tmp_path / "cut", epochs=5)
    record.epoch(loss=1.0)
    record.finish(stopped="out of time")
    with pytest.raises(ValueError), lipschitzlr.Record(tmp_path / "failed", epochs=2) as failing:
        failing.epoch(loss=2.0)
        raise ValueError("the loss became NaN")
    text = lipschitzlr.report(tmp_path, tmp_path / "all.json").read_text(encoding="utf-8")
    assert "after 1 of 5 epochs: out of time" in text and "The training failed: the loss became NaN" in text


@needs_program
def test_what_the_program_says_is_the_exception(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run")
    with pytest.raises(RuntimeError, match="page.html"):
        lipschitzlr.report(tmp_path / "run", tmp_path / "missing" / "page.html")
    write(tmp_path / "-o")
    monkeypatch.chdir(tmp_path)
    assert "AdaMo" in lipschitzlr.report("-o", "page.md").read_text(encoding="utf-8")


def test_the_program_is_looked_for_in_three_places(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "lipschitzlr"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("LIPSCHITZLR_BIN", str(program))
    assert _report._program() == str(program)
    monkeypatch.setenv("LIPSCHITZLR_BIN", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="LIPSCHITZLR_BIN"):
        _report._program()
    monkeypatch.delenv("LIPSCHITZLR_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _report._program() == str(program)
    monkeypatch.setenv("PATH", "")
    package = tmp_path / "checkout/python/src/lipschitzlr"
    monkeypatch.setattr(_report, "__file__", str(package / "_report.py"))
    with pytest.raises(FileNotFoundError, match="not on PATH"):
        _report._program()
    built = tmp_path / "checkout/build/bin/lipschitzlr"
    built.parent.mkdir(parents=True)
    program.rename(built)
    assert _report._program() == str(built)


@pytest.mark.parametrize(
    "records, page, error",
    [([], "a.html", ValueError), ("run", "a.pdf", ValueError), ([3], "a.html", TypeError), ([b"run"], "a.md", TypeError)],
)
def test_wrong_arguments_are_refused(records: Any, page: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        lipschitzlr.report(records, page)
