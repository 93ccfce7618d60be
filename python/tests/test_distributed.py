"""Several processes: the norms are those of the whole batch, and processes that don't fit together say so."""
from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest
import torch

from faults_loop import CLASSES, batch
from processes import run_processes

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def said() -> list[dict[str, Any]]:
    return [json.loads(text) for text in run_processes([sys.executable, str(HERE / "faults_loop.py")], 2)]


def norm(*parts: torch.Tensor) -> float:
    return float(torch.cat(parts).norm())


def published(*parts: torch.Tensor) -> float:
    return (CLASSES - 1) / CLASSES / sum(len(part) for part in parts) * norm(*parts)


def test_the_constant_is_that_of_the_whole_batch(said: list[dict[str, Any]]) -> None:
    for rank in said:
        assert rank["equal"] == [pytest.approx(published(batch(0, 0, 4), batch(1, 0, 4)), rel=1e-12), []]
        assert rank["one row in all"][0] == pytest.approx(published(batch(0, 0, 1)), rel=1e-12)
    assert said[0]["equal"] == said[1]["equal"]  # the same bits


def test_processes_that_train_their_own_networks_keep_their_own_constants(said: list[dict[str, Any]]) -> None:
    for number, rank in enumerate(said):
        assert rank["alone"][0] == pytest.approx(published(batch(number, 0, 4)), rel=1e-12)


def test_shares_of_different_sizes_are_warned_of(said: list[dict[str, Any]]) -> None:
    for rank in said:
        bound, warnings = rank["unequal"]
        assert bound == pytest.approx(published(batch(0, 0, 4), batch(1, 0, 6)), rel=1e-12)
        assert len(warnings) == 1 and "different sizes" in warnings[0]


def test_a_forward_pass_that_one_process_left_out_is_an_error_of_all(said: list[dict[str, Any]]) -> None:
    assert "this one 1;" in said[0]["missing"] and "this one 0;" in said[1]["missing"]


def test_a_loss_that_one_process_refuses_is_an_error_of_all(said: list[dict[str, Any]]) -> None:
    assert "another process" in said[0]["negative"] and "never negative" in said[1]["negative"]


def test_a_loss_that_is_not_finite_in_one_process_sends_the_weights_of_all_back(said: list[dict[str, Any]]) -> None:
    assert [rank["not finite"] for rank in said] == [[0, 1, 0]] * 2


def test_an_epoch_has_the_largest_norms_of_all_passes_of_its_steps(said: list[dict[str, Any]]) -> None:
    expected = max(norm(batch(0, number, 4), batch(1, number, 4)) for number in range(4))
    for rank in said:
        assert rank["largest"] == pytest.approx(expected, rel=1e-12)


def test_the_largest_weight_is_that_of_rank_0(said: list[dict[str, Any]]) -> None:
    expected = published(batch(0, 0, 4), batch(1, 0, 4)) + 0.5 * 20
    for rank in said:
        assert rank["weights"][0] == pytest.approx(expected, rel=1e-12)
