"""Wrong use of every kind ends with an exception that says something, never with a wrong rate or a crash."""
from __future__ import annotations

import contextlib
import copy
import math
import os
import signal
import threading
from typing import Any, Callable

import pytest
import torch
from torch import nn, optim

from lipschitzlr.torch import (
    AdaMo,
    AdaptiveRMSprop,
    Auto,
    AutoAdam,
    BinaryCrossEntropy,
    CrossEntropy,
    LipschitzRate,
    LipschitzSGD,
    Loss,
    SquaredError,
)
from loop import ROWS, WIDTH, Loop

BAD_OPTIONS: list[dict[str, Any]] = [
    {"lr": 0.1},
    {"bta": 0.9},
    {"beta": 1.0},
    {"beta": -0.1},
    {"beta": math.nan},
    {"beta": "0.9"},
    {"beta": True},
    {"beta": None},
    {"beta": torch.tensor(0.9)},
    {"beta1": 2},
    {"beta2": math.inf},
    {"epsilon": -1e-9},
    {"decay": -1},
    {"decay": math.inf},
    {"l2": -1},
    {"l2": math.nan},
    {"factor": 0},
    {"factor": math.inf},
    {"first_rate": 0.1},
    {"first_rate": 0, "steps_per_epoch": 3},
    {"steps_per_epoch": -1},
    {"steps_per_epoch": 2.5},
    {"steps_per_epoch": True},
    {"fixed": 1},
    {"bias_correction": "yes"},
    {"hold_averages": True},
    {"hold_averages": True, "initial_k1": 1, "initial_k2": 1, "bias_correction": True},
    {"initial_k1": 0},
    {"gradient_bound": -1},
    {"gradient_bound": math.nan},
    {"constant": "gradient"},
    {"constant": 3},
    {"second_moment": "none"},
    {"schedule": "linear"},
    {"schedule": "cosine"},
    {"schedule_steps": -4},
    {"loss": "cross-entropy"},
    {"loss": nn.CrossEntropyLoss()},
    {"loss": SquaredError(1, 1), "constant": "coded"},
    {"loss": Loss()},
    {"rule": "newton"},
    {"rule": 7},
    {"distributed": None},
    {"weight_decay": -1},
    {"weight_decay": math.nan},
    {"weight_decay": "1"},
    {"scale": 0},
    {"scale": math.inf},
    {"buffers": [1.0]},
    {"buffers": 3},
]


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_a_wrong_option_is_refused_when_the_optimizer_is_made(options: dict[str, Any]) -> None:
    for kind in (AdaMo, AutoAdam):
        loop = Loop()
        with pytest.raises((TypeError, ValueError, NotImplementedError)):
            kind(loop.parameters, loop.head, **options)
        assert not loop.head._forward_pre_hooks
        loop.backward(0)


W = torch.zeros(3, requires_grad=True)
HEAD = nn.Linear(WIDTH, 4)
ONE = nn.Linear(WIDTH, 1)
BAD_CALLS: list[Callable[[], Any]] = [
    lambda: CrossEntropy(1),
    lambda: CrossEntropy(2.5),
    lambda: CrossEntropy(True),
    lambda: SquaredError(-1, 1),
    lambda: SquaredError(math.nan, 1),
    lambda: SquaredError(1, "2"),
    lambda: AdaMo([], HEAD),
    lambda: AdaMo(W, HEAD),
    lambda: AdaMo([1.0], HEAD),
    lambda: AdaMo(None, HEAD),
    lambda: AdaMo([W * 2], HEAD),
    lambda: AdaMo([{"params": [W], "lr": 0.1}], HEAD),
    lambda: AdaMo([{"params": [W], "scale": -1}], HEAD),
    lambda: AdaMo([{"params": [W]}, {"params": [W]}], HEAD),
    lambda: AdaMo([{}], HEAD),
    lambda: AdaMo([{"params": [W]}, 3], HEAD),
    lambda: AdaMo([W]),
    lambda: AdaMo([W], None),
    lambda: AdaMo([W], "head"),
    lambda: AdaMo([W], nn.Linear),
    lambda: AdaMo([W], nn.ReLU()),
    lambda: AdaMo([W], nn.ModuleList([HEAD, ONE])),
    lambda: AdaMo([W], nn.Bilinear(2, 2, 2)),
    lambda: AdaMo([W], ONE),
    lambda: LipschitzRate(None, HEAD),
    lambda: LipschitzRate(optim.SGD([W], lr=1), None),
    lambda: LipschitzRate(optim.SGD([W], lr=1), ONE),
    lambda: LipschitzRate(optim.SGD([W], lr=1), HEAD, lr=2),
    lambda: LipschitzRate(optim.Adam([W]), HEAD, beta1=0.5),
    lambda: LipschitzRate(optim.SGD([W], lr=1, momentum=0.9, dampening=1), HEAD),
    lambda: LipschitzRate(optim.Adagrad([W]), HEAD),
    lambda: LipschitzRate(AdaMo([W], HEAD), HEAD),
    lambda: [LipschitzRate(optimizer, HEAD) for optimizer in [optim.SGD([W], lr=1)] * 2],
    lambda: LipschitzRate(
        optim.SGD([{"params": [W], "momentum": 0.9}, {"params": [W.detach().clone()]}], lr=1), HEAD
    ),
    lambda: Auto(),
    lambda: Auto(None),
    lambda: Auto([]),
    lambda: Auto(W),
    lambda: Auto([1.0]),
    lambda: Auto("model"),
    lambda: Auto(nn.ReLU()),
    lambda: Auto(nn.Sequential()),
    lambda: Auto(nn.Linear),
    lambda: Auto(nn.ModuleList([HEAD, ONE])),
    lambda: Auto([W * 2]),
    lambda: Auto([{}]),
    lambda: Auto([{"params": [W], "scale": -1}]),
    lambda: Auto([{"params": [W], "weight_decay": math.nan}]),
    lambda: Auto([{"params": [W]}, {"params": [W]}]),
    lambda: Auto([W], nn.Sequential()),
    lambda: Auto([W], ""),
    lambda: Auto([W], 0),
    lambda: Auto([W], nn.Bilinear(2, 2, 2)),
    lambda: Auto(HEAD, HEAD, 100),
    lambda: Auto(HEAD, total_steps="100"),
    lambda: Auto(HEAD, total_steps=math.inf),
    lambda: Auto(HEAD, total_steps=None),
    lambda: Auto(HEAD, total_steps=-(10**30)),
    lambda: Auto(HEAD, buffers=3),
    lambda: Auto(HEAD, buffers=[None]),
    lambda: Auto(HEAD, distributed="yes"),
    lambda: Auto(HEAD, weight_decay=math.inf),
    lambda: Auto(HEAD, weight_decay="0"),
    lambda: Auto(HEAD, scale=math.nan),
    lambda: Auto(HEAD, lr=0.1),
    lambda: Auto(HEAD, betas=(0.9, 0.99)),
    lambda: LipschitzRate(Auto(HEAD), HEAD),
]


@pytest.mark.parametrize("call", BAD_CALLS)
def test_what_makes_no_sense_is_not_made(call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        call()


@pytest.mark.parametrize(
    "activations",
    [
        torch.zeros(ROWS, 2, WIDTH, dtype=torch.float64),
        torch.zeros(WIDTH, dtype=torch.float64),
        torch.zeros(ROWS, WIDTH, dtype=torch.int64),
        torch.zeros(ROWS, WIDTH, dtype=torch.bool),
        torch.zeros(ROWS, WIDTH, dtype=torch.complex128),
        None,
        3.0,
        [1.0],
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused_in_the_forward_pass(activations: Any) -> None:
    loop = Loop()
    optimizer = AdaMo(loop.parameters, loop.head)
    with pytest.raises((TypeError, ValueError)):
        loop.head(activations)
    with pytest.raises((TypeError, ValueError)):
        loop.head(input=loop.batch)
    with pytest.raises(RuntimeError, match="no penultimate"):
        optimizer.step()
    assert optimizer.steps == 0


@pytest.mark.parametrize("kind", [LipschitzSGD, AdaMo, AdaptiveRMSprop, AutoAdam])
@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, 1e200])
def test_activations_that_vanished_or_exploded_make_no_step(kind: Any, value: float) -> None:
    loop = Loop()
    optimizer = kind(loop.parameters, loop.head)
    loop.backward(0)
    optimizer.step()
    weight, state = loop.head.weight.detach().clone(), copy.deepcopy(optimizer.state_dict()["rate"])
    loop.head(torch.full((ROWS, WIDTH), value, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="vanished or exploded|far too large"):
        optimizer.step()
    assert torch.equal(loop.head.weight, weight)
    assert optimizer.state_dict()["rate"]["rule"] == state["rule"] and optimizer.steps == 1


def test_an_empty_batch_makes_no_step() -> None:
    loop = Loop()
    optimizer = AdaMo(loop.parameters, loop.head)
    loop.head(torch.zeros(0, WIDTH, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="no rows"):
        optimizer.step()


def test_forgotten_and_late_calls_are_refused() -> None:
    loop = Loop()
    optimizer = AdaMo(loop.parameters, loop.head)
    with pytest.raises(RuntimeError, match="before the first step"):
        optimizer.rate
    for _ in range(2):
        with pytest.raises(RuntimeError, match="forward pass"):
            optimizer.step()
    loop.backward(0)
    optimizer.step()
    with pytest.raises(RuntimeError, match="forward pass"):
        optimizer.step()
    with pytest.raises(TypeError, match="closure"):
        optimizer.step(3)
    loop.backward(1)
    optimizer.param_groups[0]["lr"] = 1.0
    with pytest.raises(RuntimeError, match="set to 1.0 by something else"):
        optimizer.step()
    optimizer.close()
    optimizer.close()
    with pytest.raises(RuntimeError, match="close"):
        optimizer.step()


def test_an_automatic_optimizer_that_is_closed_or_evaluated_takes_no_step() -> None:
    loop = Loop()
    optimizer = Auto(loop.parameters, loop.head)
    advance(loop, optimizer, 0)
    with optimizer.evaluation_weights():
        for use in (lambda: advance(loop, optimizer, 1), lambda: optimizer.evaluation_weights().__enter__()):
            with pytest.raises(RuntimeError, match="inside of evaluation_weights"):
                use()
    with pytest.raises(ZeroDivisionError), optimizer.evaluation_weights():
        1 / 0
    advance(loop, optimizer, 1)
    weights = [one.detach().clone() for one in loop.parameters]
    for loss in (None, "1", [1.0], 1j, torch.ones(2), torch.tensor(1j), object(), -1.0, -math.inf):
        loop.backward(2)
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            optimizer.step(loss)
    optimizer.close()
    optimizer.close()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="after close"):
            advance(loop, optimizer, 2)
    assert all(torch.equal(one, other) for one, other in zip(loop.parameters, weights)), "a refused step moved them"
    assert not loop.head._forward_hooks and optimizer.steps == 2


def test_sparse_complex_and_whole_numbers_are_no_parameters() -> None:
    embedding = nn.Embedding(5, WIDTH, sparse=True)
    head = nn.Linear(WIDTH, 3)
    optimizer = AdaMo([*embedding.parameters(), *head.parameters()], head)
    nn.functional.cross_entropy(head(embedding(torch.arange(3))), torch.arange(3)).backward()
    before = head.weight.detach().clone()
    with pytest.raises(RuntimeError, match="sparse"):
        optimizer.step()
    assert torch.equal(head.weight, before)  # no parameter was moved
    numbers = torch.zeros(2, dtype=torch.complex64, requires_grad=True)
    other = AdaMo([numbers], head)
    numbers.grad = torch.ones_like(numbers)
    head(torch.ones(3, WIDTH))
    with pytest.raises(TypeError, match="complex"):
        other.step()


@pytest.mark.parametrize("saved", [None, 3, {}, {"state": {}}, {"state": {}, "param_groups": [], "rate": {}}])
def test_what_is_no_state_is_refused(saved: Any) -> None:
    loop = Loop()
    optimizer = AdaMo(loop.parameters, loop.head)
    with pytest.raises(ValueError):
        optimizer.load_state_dict(saved)
    rate = LipschitzRate(optim.SGD(loop.parameters, lr=1), loop.head)
    with pytest.raises(ValueError):
        rate.load_state_dict(saved)
    with pytest.raises(ValueError):
        Auto(loop.head).load_state_dict(saved)


def test_the_state_of_others_is_refused_and_changes_nothing() -> None:
    loop, wide = Loop(), nn.Linear(7, 4)
    optimizer = AdaMo(loop.parameters, loop.head)
    loop.backward(0)
    optimizer.step()
    wide_optimizer = AdaMo(wide.parameters(), wide)
    nn.functional.cross_entropy(wide(torch.ones(4, 7)), torch.arange(4)).backward()
    wide_optimizer.step()
    good = copy.deepcopy(optimizer.state_dict())
    others = [
        wide_optimizer.state_dict(),
        optim.SGD(loop.parameters, lr=1).state_dict(),
        LipschitzSGD(loop.parameters, loop.head).state_dict(),
        {**good, "state": {0: {"step": -1}}},
        {**good, "state": {0: 3}},
        {**good, "param_groups": [{"params": [0, 1]}]},
    ]
    for other in others:
        with pytest.raises(ValueError, match="can't be used"):
            optimizer.load_state_dict(other)
        assert str(optimizer.state_dict()) == str(good)


def test_data_parallel_is_refused_because_it_splits_the_batch() -> None:
    loop = Loop()
    AdaMo(loop.parameters, loop.head)
    optimizer = AdaMo(loop.parameters, loop.head)
    replica = loop.head._replicate_for_data_parallel()
    with pytest.raises(RuntimeError, match="DistributedDataParallel"):
        replica(torch.zeros(ROWS, WIDTH, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="no penultimate"):
        optimizer.step()


def advance(loop: Loop, optimizer: Any, step: int) -> None:
    loss = loop.backward(step)
    optimizer.step(*[loss] if isinstance(optimizer, Auto) else [])


@pytest.mark.parametrize("kind", [AdaMo, Auto])
def test_threads_with_a_model_each_and_with_one_model_end_orderly(kind: Any) -> None:
    results: list[Any] = []

    def train(loop: Loop, optimizer: Any) -> None:
        try:
            for step in range(20):
                advance(loop, optimizer, step)
            results.append(loop.head.weight.detach().clone())
        except (RuntimeError, TypeError) as error:  # of two that share one model: a step without a batch of its own
            results.append(error)

    def run(pairs: list[tuple[Loop, Any]]) -> None:
        threads = [threading.Thread(target=train, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    own = [(loop, kind(loop.parameters, loop.head)) for loop in (Loop(), Loop(), Loop())]
    run(own)
    assert len(results) == 3 and all(torch.equal(result, results[0]) for result in results)
    shared = Loop()
    run([(shared, kind(shared.parameters, shared.head))] * 3)
    assert len(results) == 6


@pytest.mark.parametrize("kind", [AdaMo, Auto])
def test_a_forked_process_trains_its_own_copy(kind: Any) -> None:
    loop = Loop()
    optimizer = kind(loop.parameters, loop.head)
    advance(loop, optimizer, 0)
    before = loop.head.weight.detach().clone()
    child = os.fork()
    if child == 0:  # pragma: no cover
        code = 1
        try:
            advance(loop, optimizer, 1)
            code = 0 if not torch.equal(loop.head.weight, before) else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert torch.equal(loop.head.weight, before)
    advance(loop, optimizer, 1)


class Alarm(Exception):
    pass


@pytest.mark.parametrize("kind", [AdaMo, Auto])
def test_a_signal_between_two_instructions_leaves_an_optimizer_that_can_be_saved_and_loaded(kind: Any) -> None:
    loop = Loop()
    optimizer = kind(loop.parameters, loop.head)
    advance(loop, optimizer, 0)
    good, weights = copy.deepcopy(optimizer.state_dict()), [one.detach().clone() for one in loop.parameters]

    def interrupt(*_: Any) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, interrupt)
    caught = 0
    try:
        for number in range(40):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 2e-5 * number)  # once
                for step in range(1, 5000):  # an alarm in a destructor is lost
                    with contextlib.suppress(RuntimeError):  # no gradients any more, as below
                        advance(loop, optimizer, step)
            except Alarm:
                caught += 1
            torch.set_grad_enabled(True)  # torch's no_grad may have been interrupted while it turned them on again
            optimizer.load_state_dict(copy.deepcopy(good))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught >= 30
    other = Loop()
    for trained, by in ((loop, optimizer), (other, kind(other.parameters, other.head))):
        with torch.no_grad():
            for parameter, values in zip(trained.parameters, weights):
                parameter.copy_(values)
        by.load_state_dict(copy.deepcopy(good))
        advance(trained, by, 1)
    assert all(torch.equal(one, two) for one, two in zip(loop.parameters, other.parameters))


def test_two_heads_and_two_optimizers_keep_their_own_rates() -> None:
    trunk = nn.Linear(3, WIDTH)
    heads = [nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 1)]
    first = LipschitzSGD(heads[0].parameters(), heads[0])
    second = LipschitzSGD(heads[1].parameters(), heads[1], loss=BinaryCrossEntropy())
    hidden = trunk(torch.ones(4, 3))
    (heads[0](hidden).sum() + heads[1](2 * hidden).sum()).backward()
    first.step()
    second.step()
    norm = float(hidden.detach().double().norm())
    assert first.constants["G"] == pytest.approx(2 / 12 * norm)
    assert second.constants["G"] == pytest.approx(2 * norm / 8)
