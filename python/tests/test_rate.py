"""LipschitzRate: the rate of torch's own optimizers."""
from __future__ import annotations

import copy
from typing import Any, Callable

import pytest
import torch
from torch import optim

from lipschitzlr.torch import AdaMo, AdaptiveRMSprop, AutoAdam, LipschitzRate, LipschitzSGD
from loop import Loop


def test_the_rate_is_one_over_the_constant_of_each_step_for_sgd() -> None:
    loop = Loop()
    sgd = optim.SGD(loop.parameters, lr=123)
    rate = LipschitzRate(sgd, loop.head)
    for step in range(5):
        loop.backward(step)
        weight = loop.head.weight
        assert weight.grad is not None
        expected = weight.detach() - weight.grad / loop.constant()
        sgd.step()
        assert sgd.param_groups[0]["lr"] == pytest.approx(1 / loop.constant(), rel=1e-12)
        torch.testing.assert_close(weight.detach(), expected)
    assert rate.steps == 5


Make = Callable[[Loop], Any]


@pytest.mark.parametrize(
    "theirs, ours",
    [
        (lambda l: optim.SGD(l.parameters, lr=1), lambda l: LipschitzSGD(l.parameters, l.head)),
        (
            lambda l: optim.SGD(l.parameters, lr=1, momentum=0.8),
            lambda l: AdaMo(l.parameters, l.head, beta=0.8),
        ),
        (
            lambda l: optim.Adam(l.parameters, eps=1e-7, betas=(0.7, 0.9)),
            lambda l: AutoAdam(l.parameters, l.head, bias_correction=True, beta1=0.7, beta2=0.9),
        ),
        (
            lambda l: optim.AdamW(l.parameters, eps=1e-7, weight_decay=0),
            lambda l: AutoAdam(l.parameters, l.head, bias_correction=True),
        ),
        (
            lambda l: optim.RMSprop(l.parameters, alpha=0.9, eps=1e-7),
            lambda l: AdaptiveRMSprop(l.parameters, l.head),
        ),
    ],
)
def test_torchs_optimizers_take_the_steps_of_the_papers(theirs: Make, ours: Make) -> None:
    left, right = Loop(), Loop()
    driven, own = theirs(left), ours(right)
    LipschitzRate(driven, left.head)
    for step in range(8):
        left.backward(step)
        driven.step()
        right.backward(step)
        own.step()
        for a, b in zip(left.parameters, right.parameters):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


def test_momentum_of_torchs_rmsprop_and_dampening_scale_the_rate() -> None:
    loop = Loop()
    plain = LipschitzRate(optim.RMSprop(loop.parameters), loop.head)
    heavy = LipschitzRate(optim.RMSprop(loop.parameters, momentum=0.75), loop.head, factor=2.0)
    assert (plain.options.factor, heavy.options.factor) == (1.0, 0.5)
    damped = LipschitzRate(optim.SGD(loop.parameters, lr=1, momentum=0.9, dampening=0.5), loop.head)
    assert damped.options.factor == pytest.approx(0.2)


@pytest.mark.parametrize("steps_per_epoch", [0, 3])
def test_what_was_saved_continues_bit_for_bit(steps_per_epoch: int) -> None:
    def make(loop: Loop) -> tuple[optim.Optimizer, LipschitzRate]:
        adam = optim.Adam(loop.parameters)
        return adam, LipschitzRate(adam, loop.head, steps_per_epoch=steps_per_epoch)

    def run(loop: Loop, rate: LipschitzRate, begin: int, end: int) -> None:
        for step in range(begin, end):
            loop.backward(step)
            rate.step()

    whole, begun, resumed = Loop(), Loop(), Loop()
    (_, whole_rate), (adam, rate), (other_adam, other_rate) = make(whole), make(begun), make(resumed)
    run(whole, whole_rate, 0, 9)
    run(begun, rate, 0, 4)
    resumed.head.load_state_dict(begun.head.state_dict())
    other_adam.load_state_dict(copy.deepcopy(adam.state_dict()))
    other_rate.load_state_dict(rate.state_dict())
    run(resumed, other_rate, 4, 9)
    assert torch.equal(whole.head.weight, resumed.head.weight)
    wrong = LipschitzRate(optim.Adam(resumed.parameters), resumed.head, steps_per_epoch=0 if steps_per_epoch else 3)
    with pytest.raises(ValueError, match="per epoch"):
        wrong.load_state_dict(rate.state_dict())


@pytest.mark.filterwarnings("ignore:Seems like `optimizer.step")  # torch's own hint at the same mistake
def test_a_scheduler_that_sets_the_rate_too_is_refused() -> None:
    for before in (True, False):
        loop = Loop()
        sgd = optim.SGD(loop.parameters, lr=1)
        schedule = optim.lr_scheduler.StepLR(sgd, 1, 0.1) if before else None
        LipschitzRate(sgd, loop.head)
        schedule = schedule or optim.lr_scheduler.StepLR(sgd, 1, 0.1)
        loop.backward(0)
        sgd.step()
        schedule.step()
        loop.backward(1)
        with pytest.raises(RuntimeError, match="parameter group 0 was set to"):
            sgd.step()


def test_a_step_of_both_optimizer_and_rate_is_refused() -> None:
    loop = Loop()
    sgd = optim.SGD(loop.parameters, lr=1)
    rate = LipschitzRate(sgd, loop.head, steps_per_epoch=10)
    loop.backward(0)
    sgd.step()
    with pytest.raises(RuntimeError, match="forward pass"):
        rate.step()


def test_a_closure_is_called_first_and_once() -> None:
    loop, reference = Loop(), Loop()
    rate = LipschitzRate(optim.SGD(loop.parameters, lr=1), loop.head)
    plain = LipschitzRate(optim.SGD(reference.parameters, lr=1), reference.head)
    loss = rate.step(lambda: loop.backward(0))
    assert torch.equal(loss, reference.backward(0))
    plain.step()
    assert torch.equal(loop.head.weight, reference.head.weight)


def test_a_copy_of_model_and_rate_trains_on_its_own() -> None:
    loop = Loop()
    rate = LipschitzRate(optim.Adam(loop.parameters), loop.head)
    loop.backward(0)
    rate.step()
    other_loop, other = copy.deepcopy((loop, rate))
    other_loop.parameters = list(other_loop.head.parameters())
    for step in (1, 2):
        other_loop.backward(step)
        other.optimizer.step()
    for step in (1, 2):
        loop.backward(step)
        rate.step()
    assert torch.equal(loop.head.weight, other_loop.head.weight)


def test_close_gives_the_optimizer_its_own_step_back() -> None:
    loop = Loop()
    sgd = optim.SGD(loop.parameters, lr=1)
    rate = LipschitzRate(sgd, loop.head)
    loop.backward(0)
    sgd.step()
    rate.close()
    last = sgd.param_groups[0]["lr"]
    sgd.step()  # with no forward pass: as torch's own
    assert sgd.param_groups[0]["lr"] == last
    with pytest.raises(RuntimeError, match="close"):
        rate.step()
    LipschitzRate(sgd, loop.head)
