"""The paper's optimizers: steps against its algorithms written out number by number, and what torch expects of an
optimizer."""
from __future__ import annotations

import copy
import io
import math
import pickle
from typing import Any

import pytest
import torch
from torch import nn

from lipschitzlr.torch import (
    AdaMo,
    AdaptiveRMSprop,
    AutoAdam,
    BinaryCrossEntropy,
    LipschitzSGD,
    SquaredError,
    find_head,
)
from loop import CLASSES, ROWS, WIDTH, Loop

OPTIMIZERS = [LipschitzSGD, AdaMo, AdaptiveRMSprop, AutoAdam]


class Reference:
    """The slow reference: the paper's algorithms in plain Python, on the numbers of one parameter."""

    def __init__(self, rule: str, weights: list[float], corrected: bool, decay: float, weight_decay: float) -> None:
        self.rule, self.w, self.corrected, self.decay, self.weight_decay = rule, weights, corrected, decay, weight_decay
        self.first, self.second = [0.0] * len(weights), [0.0] * len(weights)
        self.k1 = self.k2 = 0.0
        self.steps = 0

    def step(self, gradient: list[float], bound: float) -> float:
        b1, b2, epsilon = 0.9, (0.999 if self.rule == "auto-adam" else 0.9), 1e-7
        self.steps += 1
        c1, c2 = ((1 - b1**self.steps, 1 - b2**self.steps) if self.corrected else (1.0, 1.0))
        self.k1 = b1 * self.k1 + (1 - b1) * bound
        self.k2 = b2 * self.k2 + (1 - b2) * bound**2
        rate = {
            "sgd": 1 / bound,
            "adamo": c1 / self.k1,
            "rmsprop": (math.sqrt(self.k2 / c2) + epsilon) / bound,
            "auto-adam": (math.sqrt(self.k2 / c2) + epsilon) * c1 / self.k1,
        }[self.rule] / (1 + self.decay * (self.steps - 1))
        for i, (w, raw) in enumerate(zip(list(self.w), gradient)):
            g = raw + self.weight_decay * w
            self.first[i] = b1 * self.first[i] + (1 - b1) * g
            self.second[i] = b2 * self.second[i] + (1 - b2) * g * g
            root = math.sqrt(self.second[i] / c2) + epsilon
            self.w[i] -= rate * {
                "sgd": g,
                "adamo": self.first[i] / c1,
                "rmsprop": g / root,
                "auto-adam": self.first[i] / c1 / root,
            }[self.rule]
        return rate


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("corrected, decay, weight_decay", [(False, 0.0, 0.0), (True, 0.1, 0.01)])
def test_steps_are_those_of_the_papers_algorithm(kind: Any, corrected: bool, decay: float, weight_decay: float) -> None:
    loop = Loop()
    optimizer = kind(loop.parameters, loop.head, weight_decay=weight_decay, decay=decay, bias_correction=corrected)
    weight = loop.head.weight
    reference = Reference(kind.rule, weight.detach().flatten().tolist(), corrected, decay, weight_decay)
    for step in range(10):
        loop.backward(step)
        assert weight.grad is not None
        rate = reference.step(weight.grad.flatten().tolist(), loop.constant())
        optimizer.step()
        assert optimizer.param_groups[0]["lr"] == pytest.approx(rate, rel=1e-12)
        assert weight.detach().flatten().tolist() == pytest.approx(reference.w, rel=1e-10, abs=1e-12)
    assert optimizer.steps == 10


def test_the_rate_of_an_epoch_is_that_of_the_largest_norm_of_the_one_before() -> None:
    loop = Loop()
    optimizer = LipschitzSGD(loop.parameters, loop.head, steps_per_epoch=3)
    constants: list[float] = []
    for step in range(9):
        loop.backward(step)
        constants.append(loop.constant())
        optimizer.step()
        epoch = step // 3
        expected = constants[0] if epoch == 0 else max(constants[3 * epoch - 3 : 3 * epoch])
        assert optimizer.param_groups[0]["lr"] == pytest.approx(1 / expected, rel=1e-12)


def test_the_fixed_policy_keeps_the_constant_of_the_first_epoch() -> None:
    loop = Loop()
    optimizer = LipschitzSGD(loop.parameters, loop.head, steps_per_epoch=3, fixed=True)
    constants: list[float] = []
    for step in range(9):
        loop.backward(step)
        constants.append(loop.constant())
        optimizer.step()
        expected = constants[0] if step < 3 else max(constants[:3])
        assert optimizer.param_groups[0]["lr"] == pytest.approx(1 / expected, rel=1e-12)


def test_the_first_epoch_of_adamo_has_its_own_rate_and_k_starts_there() -> None:
    loop = Loop()
    optimizer = AdaMo(loop.parameters, loop.head, steps_per_epoch=1, first_rate=0.1)
    loop.backward(0)
    optimizer.step()
    assert optimizer.param_groups[0]["lr"] == 0.1
    first = loop.constant()
    loop.backward(1)
    optimizer.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(1 / (0.9 * 0.1 + 0.1 * first), rel=1e-12)


def test_the_largest_weight_counts_with_l2_and_buffers_when_given() -> None:
    for buffers, weight in (([], None), ([torch.full((4,), 10.0)], 20.0)):
        loop = Loop()
        optimizer = LipschitzSGD(loop.parameters, loop.head, l2=0.1, buffers=buffers)
        largest = weight or max(float(parameter.norm()) for parameter in loop.parameters)
        loop.backward(0)
        optimizer.step()
        assert optimizer.constants["max_w"] == pytest.approx(largest, rel=1e-12)
        assert 1 / optimizer.rate == pytest.approx(loop.constant() + 0.1 * largest, rel=1e-12)


@pytest.mark.parametrize(
    "estimate, expected",
    [
        ("full-square", lambda d, p, q: (d + p) ** 2),
        ("without-weight-square", lambda d, p, q: d * d + 2 * p * d),
        ("coded", lambda d, p, q: q + 2 * p * d),
        ("coded-full-square", lambda d, p, q: q + 2 * p * d + p * p),
    ],
)
def test_the_second_moment_is_the_estimate_that_was_asked_for(estimate: str, expected: Any) -> None:
    loop = Loop()
    penalty = 0.1 * max(float(parameter.norm()) for parameter in loop.parameters)
    optimizer = AdaptiveRMSprop(loop.parameters, loop.head, l2=0.1, second_moment=estimate)
    loop.backward(0)
    optimizer.step()
    c = (CLASSES - 1) / (CLASSES * ROWS)
    squares = c * c * math.sqrt(sum(value**4 for value in loop.batch.flatten().tolist()))
    assert optimizer.constants["S"] == pytest.approx(expected(loop.constant(), penalty, squares), rel=1e-12)


@pytest.mark.parametrize("steps_per_epoch", [0, 3])
def test_the_elementwise_second_moment_adds_the_penalty_to_every_activation(steps_per_epoch: int) -> None:
    """Of an epoch it is that of the batch where it is largest, with the weights after the last step."""
    loop = Loop()
    optimizer = AdaptiveRMSprop(
        loop.parameters, loop.head, l2=0.1, second_moment="elementwise", steps_per_epoch=steps_per_epoch
    )
    batches, penalty = [], 0.0
    for step in range(3):
        loop.backward(step)
        batches.append(loop.batch.flatten().tolist())
        penalty = 0.1 * max(float(parameter.norm()) for parameter in loop.parameters)
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
    if steps_per_epoch > 0:
        penalty = 0.1 * max(float(parameter.norm()) for parameter in loop.parameters)
    c = (CLASSES - 1) / (CLASSES * ROWS)
    moments = [math.sqrt(sum((c * value + penalty) ** 4 for value in batch)) for batch in batches]
    expected = max(moments) if steps_per_epoch > 0 else moments[-1]
    assert optimizer.constants["S"] == pytest.approx(expected, rel=1e-12)


def test_constants_of_every_loss_and_kind() -> None:
    batch = torch.tensor([[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]])  # rows of norm 5, 0, 10: ||A||_F = sqrt(125)
    frobenius = math.sqrt(125)

    def bound(outputs: int, **options: Any) -> float:
        head = nn.Linear(2, outputs)
        optimizer = LipschitzSGD(head.parameters(), head, **options)
        head(batch).sum().backward()
        optimizer.step()
        return optimizer.constants["G"]

    assert bound(10) == pytest.approx(9 / 30 * frobenius)
    assert bound(10, constant="coded") == pytest.approx(9 / 30 * frobenius)
    assert bound(10, constant="certified") == pytest.approx(math.sqrt(2) / 3 * 15)
    assert bound(1, loss=BinaryCrossEntropy()) == pytest.approx(frobenius / 6)
    assert bound(1, loss=BinaryCrossEntropy(), constant="certified") == pytest.approx(5)
    assert bound(1, loss=SquaredError(2, 1)) == pytest.approx(frobenius)
    assert bound(1, loss=SquaredError(2, 1), gradient_bound=4) == 4


def test_the_certified_constant_bounds_the_gradient_of_the_head() -> None:
    for seed in range(20):
        loop = Loop(seed)
        optimizer = LipschitzSGD(loop.parameters, loop.head, constant="certified")
        loop.backward(seed)
        assert loop.head.weight.grad is not None
        norm = float(loop.head.weight.grad.norm())
        optimizer.step()
        assert norm <= optimizer.constants["G"] * (1 + 1e-12)


def test_a_schedules_factor_goes_with_the_rate() -> None:
    for schedule, factors in (
        ("step", [1, 1, 0.1, 0.01, 0.01]),
        ("cosine", [(1 + math.cos(math.pi * min(t, 4) / 4)) / 2 for t in range(5)]),
    ):
        loop = Loop()
        optimizer = LipschitzSGD(loop.parameters, loop.head, schedule=schedule, schedule_steps=4, factor=0.5)
        for step, factor in enumerate(factors):
            loop.backward(step)
            optimizer.step()
            assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * factor / loop.constant(), abs=1e-15)


def run(loop: Loop, optimizer: Any, begin: int, end: int) -> None:
    for step in range(begin, end):
        loop.backward(step)
        optimizer.step()


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("steps_per_epoch", [0, 3])
def test_a_loaded_state_continues_bit_for_bit(kind: Any, steps_per_epoch: int) -> None:
    whole, begun, resumed = Loop(), Loop(), Loop()
    # The options of the rule are those that were saved.
    options = {"steps_per_epoch": steps_per_epoch, "beta": 0.8, "beta1": 0.7, "fixed": steps_per_epoch > 0}
    first, second = kind(whole.parameters, whole.head, **options), kind(begun.parameters, begun.head, **options)
    run(whole, first, 0, 9)
    run(begun, second, 0, 4)
    archive = io.BytesIO()
    torch.save({"model": begun.head.state_dict(), "optimizer": second.state_dict()}, archive)
    archive.seek(0)
    saved = torch.load(archive)
    third = kind(resumed.parameters, resumed.head, steps_per_epoch=steps_per_epoch)
    resumed.head.load_state_dict(saved["model"])
    third.load_state_dict(saved["optimizer"])
    run(resumed, third, 4, 9)
    for ours, theirs in zip(whole.parameters, resumed.parameters):
        assert torch.equal(ours, theirs)
    assert first.state_dict()["rate"] == third.state_dict()["rate"]


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_copy_of_model_and_optimizer_trains_on_its_own(kind: Any) -> None:
    for copied in (copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))):
        loop = Loop()
        optimizer = kind(loop.parameters, loop.head)
        run(loop, optimizer, 0, 3)
        other_loop, other = copied((loop, optimizer))
        other_loop.parameters = list(other_loop.head.parameters())
        weights = loop.head.weight.detach().clone()
        run(other_loop, other, 3, 6)
        assert torch.equal(loop.head.weight, weights)
        run(loop, optimizer, 3, 6)
        assert torch.equal(loop.head.weight, other_loop.head.weight)


def test_a_copy_of_the_optimizer_alone_has_no_head_and_says_so() -> None:
    loop = Loop()
    optimizer = AdaMo(loop.parameters, loop.head)
    run(loop, optimizer, 0, 1)
    alone = copy.deepcopy(optimizer)
    loop.backward(1)
    with pytest.raises(RuntimeError, match="no penultimate activations"):
        alone.step()
    optimizer.step()


def test_groups_have_their_own_decay_and_scale_and_the_rate_is_visible() -> None:
    loop = Loop()
    groups = [{"params": [loop.head.weight], "weight_decay": 0.5}, {"params": [loop.head.bias], "scale": 2.0}]
    optimizer = LipschitzSGD(groups, loop.head)
    loop.backward(0)
    weight, bias = (parameter.detach().clone() for parameter in loop.parameters)
    gradients = [parameter.grad.clone() for parameter in loop.parameters if parameter.grad is not None]
    optimizer.step()
    rate = 1 / loop.constant()
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([rate, 2 * rate], rel=1e-12)
    torch.testing.assert_close(loop.head.weight.detach(), weight - rate * (gradients[0] + 0.5 * weight))
    torch.testing.assert_close(loop.head.bias.detach(), bias - 2 * rate * gradients[1])
    optimizer.add_param_group({"params": [torch.zeros(2, requires_grad=True)]})
    loop.backward(1)
    optimizer.step()
    assert optimizer.param_groups[2]["lr"] == pytest.approx(1 / loop.constant(), rel=1e-12)


def test_a_closure_is_called_first() -> None:
    loop, reference = Loop(), Loop()
    optimizer, plain = AdaMo(loop.parameters, loop.head), AdaMo(reference.parameters, reference.head)
    loss = optimizer.step(lambda: loop.backward(0))
    assert torch.equal(loss, reference.backward(0))
    plain.step()
    assert torch.equal(loop.head.weight, reference.head.weight)


def test_frozen_parameters_and_those_without_a_gradient_are_left_alone() -> None:
    loop = Loop()
    frozen, unused = torch.ones(3), torch.ones(3, requires_grad=True)
    optimizer = AutoAdam([*loop.parameters, frozen, unused], loop.head, weight_decay=0.1)
    before = loop.head.weight.detach().clone()
    run(loop, optimizer, 0, 2)
    assert torch.equal(frozen, torch.ones(3)) and torch.equal(unused, torch.ones(3))
    assert not torch.equal(before, loop.head.weight)


def test_a_head_is_measured_in_training_mode_only_and_no_more_after_close() -> None:
    loop = Loop()
    optimizer = LipschitzSGD(loop.parameters, loop.head)
    loop.head.eval()
    loop.backward(0)
    with pytest.raises(RuntimeError, match="training mode"):
        optimizer.step()
    loop.head.train()
    loop.backward(0)
    optimizer.step()
    optimizer.close()
    assert not loop.head._forward_pre_hooks
    loop.backward(1)
    with pytest.raises(RuntimeError, match="close"):
        optimizer.step()
    other = LipschitzSGD(loop.parameters, loop.head)
    assert len(loop.head._forward_pre_hooks) == 1
    del other
    assert not loop.head._forward_pre_hooks  # an optimizer that is gone measures no more


def test_the_head_is_found_where_there_is_one_last_linear() -> None:
    inner = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4))
    assert find_head(inner) is inner[2]
    assert find_head(nn.Sequential(nn.Flatten(), inner, nn.LogSoftmax(dim=1))) is inner[2]

    class Wrapper(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = inner

    assert find_head(Wrapper()) is inner[2]
    two = nn.ModuleDict({"trunk": nn.Linear(2, 2), "head": nn.Linear(2, 2)})
    with pytest.raises(ValueError, match="trunk, head.*model.head"):
        find_head(two)
    with pytest.raises(ValueError, match="no Linear"):
        find_head(nn.Sequential(nn.ReLU()))


def test_a_step_that_a_gradient_scaler_leaves_out_is_forgotten() -> None:
    """GradScaler calls no step() when a gradient is infinite; the rate must not see that batch."""
    loop = Loop()
    optimizer = LipschitzSGD(loop.parameters, loop.head, steps_per_epoch=2)
    loop.backward(0)
    optimizer.step()
    largest = loop.constant()
    loop.head(torch.full((ROWS, WIDTH), math.inf, dtype=torch.float64))
    loop.backward(1)
    largest = max(largest, loop.constant())
    optimizer.step()
    loop.backward(2)
    optimizer.step()
    assert optimizer.rate == pytest.approx(1 / largest, rel=1e-12)


@pytest.mark.filterwarnings("ignore:torch.cuda.amp.GradScaler")  # it says that there is no GPU
def test_the_gradient_scaler_takes_our_optimizers() -> None:
    loop, plain_loop = Loop(), Loop()
    optimizer, plain = AdaMo(loop.parameters, loop.head), AdaMo(plain_loop.parameters, plain_loop.head)
    scaler = torch.cuda.amp.GradScaler()
    for step in range(3):
        loop.head.zero_grad()
        scaler.scale(loop.backward(step))
        scaler.step(optimizer)
        scaler.update()
        plain_loop.backward(step)
        plain.step()
    assert torch.equal(loop.head.weight, plain_loop.head.weight)


def test_the_saved_rate_is_what_the_c_plus_plus_library_saves() -> None:
    loop = Loop()
    optimizer = LipschitzSGD(loop.parameters, loop.head)
    run(loop, optimizer, 0, 1)
    saved = optimizer.state_dict()["rate"]
    assert saved["rule"]["format"] == "lipschitzlr rate rule" and saved["rule"]["version"] == 1
    assert saved["rule"]["options"]["update"] == "iteration"
    assert saved["rule"]["state"]["numbers"] == {"G": optimizer.constants["G"]}
    assert saved["tap"]["last"][3] == ROWS and saved["steps"] == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda rate: rate.pop("tap"),
        lambda rate: rate.update(steps=-1),
        lambda rate: rate.update(steps=True),
        lambda rate: rate.update(guessed=2),
        lambda rate: rate.update(numbers=[-1.0, 0, 0, 0]),
        lambda rate: rate.update(numbers=[math.nan, 0, 0, 0]),
        lambda rate: rate.update(numbers=[]),
        lambda rate: rate["tap"].update(batches=1e300),
        lambda rate: rate["tap"].update(last=[0.0, 0.0, 0.0, -8]),
        lambda rate: rate["rule"].update(version=2),
        lambda rate: rate["rule"].update(rule="adamo"),
        lambda rate: rate["rule"]["options"].update(update="epoch"),
        lambda rate: rate["rule"]["options"].update(beta=7),
        lambda rate: rate["rule"]["state"].update(numbers={"K": 1.0}),
    ],
)
def test_a_damaged_state_is_refused_and_changes_nothing(change: Any) -> None:
    loop = Loop()
    optimizer = LipschitzSGD(loop.parameters, loop.head)
    run(loop, optimizer, 0, 1)
    good = optimizer.state_dict()
    bad = copy.deepcopy(good)
    change(bad["rate"])
    with pytest.raises(ValueError, match="can't be used"):
        optimizer.load_state_dict(bad)
    assert optimizer.state_dict() == good
    optimizer.load_state_dict(good)
