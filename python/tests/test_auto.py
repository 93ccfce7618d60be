"""The automatic optimizer: its steps against the definition written out with NumPy, its rollbacks, its state, what it
refuses, and what torch expects of an optimizer."""
from __future__ import annotations

import copy
import io
import math
import pickle
import warnings
from typing import Any, Optional

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lipschitzlr.torch import Auto, LipschitzRate
from loop import CLASSES, ROWS, WIDTH, Loop

NAN = math.nan


class NormNet(nn.Module):
    def __init__(self, seed: int, width: int = 8) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.body = nn.Sequential(nn.Linear(5, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 3))

    def forward(self, x: Tensor) -> Any:
        return self.body(x)


def examples(step: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1000 + step)
    labels = torch.arange(16) % 3
    return torch.randn(16, 5, generator=generator) + 2 * nn.functional.one_hot(labels, 5), labels


def backward(net: nn.Module, optimizer: Auto, step: int) -> Tensor:
    x, y = examples(step)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    return loss


def train(net: nn.Module, optimizer: Auto, step: int, said: Optional[float] = None) -> float:
    """The loss said to the optimizer may be another one than the true; a NaN sends the weights back."""
    loss = backward(net, optimizer, step)
    if said is not None and math.isnan(said):
        with pytest.warns(RuntimeWarning, match="the loss is nan; the weights go back to"):
            optimizer.step(said)
    else:
        optimizer.step(loss if said is None else said)
    return loss.item()


def copies(tensors: Any) -> list[Tensor]:
    return [tensor.detach().clone() for tensor in tensors]


def same_bits(ones: Any, others: Any) -> bool:
    ones, others = list(ones), list(others)
    return len(ones) == len(others) and all(torch.equal(one, other) for one, other in zip(ones, others))


class Slow:
    """Softmax regression by the definition: everything of the past is kept, and every average is a sum over it."""

    def __init__(self, loop: Loop, total: int) -> None:
        self.total = total
        self.w = [parameter.detach().numpy().copy() for parameter in loop.parameters]
        self.gradients: list[list[Any]] = []
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.heads: list[float] = []
        self.logs: list[float] = []
        self.base = self.rate = 0.0

    @staticmethod
    def mean(values: list[float]) -> float:
        count = len(values)
        return 0.9 ** (count - 1) * values[0] + sum(0.1 * 0.9 ** (count - 1 - i) * values[i] for i in range(1, count))

    def step(self, x: Any) -> None:
        scores = x @ self.w[0].T + self.w[1]
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        one_hot = np.eye(CLASSES)[np.arange(ROWS) % CLASSES]
        dz = (shares - one_hot) / ROWS
        self.losses.append(float(-np.log((shares * one_hot).sum(axis=1)).mean()))
        self.gradients.append([dz.T @ x, dz.sum(axis=0)])
        self.norms.append(sum(np.abs(g).sum() for g in self.gradients[-1]))
        self.heads.append(float((np.abs(dz).sum(axis=1) * np.abs(x).sum(axis=1)).sum()))
        t, window = len(self.losses), 25
        if t <= window:
            loss = self.mean(self.losses)
            self.logs.append(math.log(max(loss / (math.sqrt(math.pi / 2) * self.mean(self.norms)), loss / self.mean(self.heads))))
        if t == 1:
            self.base = self.losses[0] / (64 * self.heads[0])
        estimate = self.logs[-1] if t <= window else sum(self.logs) / len(self.logs)
        self.base = min(math.exp(estimate), 1.3 * self.base)
        self.rate = self.base * (1 - t / self.total)
        for number, w in enumerate(self.w):
            past = [gradients[number] for gradients in self.gradients]
            m = sum(0.1 * 0.9 ** (t - 1 - s) * g for s, g in enumerate(past))
            v = sum(0.005 * 0.995 ** (t - 1 - s) * g * g for s, g in enumerate(past))
            ahead = 0.9 * m / (1 - 0.9 ** (t + 1)) + 0.1 * past[-1] / (1 - 0.9**t)
            w -= self.rate * ahead / (np.sqrt(v / (1 - 0.995**t)) + 1e-8)


def test_takes_the_steps_of_the_definition() -> None:
    loop = Loop()
    optimizer, slow = Auto(loop.head, total_steps=60), Slow(loop, 60)
    for step in range(60):
        optimizer.step(loop.backward(step))
        slow.step(loop.batch.numpy())
        assert optimizer.rate == pytest.approx(slow.rate, rel=1e-10), step
        for parameter, expected in zip(loop.parameters, slow.w):
            np.testing.assert_allclose(parameter.detach().numpy(), expected, atol=1e-10)
    assert "never exceeded its constant in 29 measured steps" in optimizer.certificate  # 25, and 30, 40, 50, 60


def test_lowers_the_loss_and_says_what_it_measured() -> None:
    net = NormNet(1)
    optimizer = Auto(net, total_steps=100)
    losses = [train(net, optimizer, 0)]
    assert "L_inf = " in optimizer.remark and "falls linearly to 0 at step 100" in optimizer.remark
    losses += [train(net, optimizer, step) for step in range(1, 100)]
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10]) and optimizer.remark == ""
    assert optimizer.steps == 100 and optimizer.rate == 0 and "never exceeded" in optimizer.certificate
    assert {"F", "L_inf", "H", "P", "Hb", "rollbacks"} == optimizer.constants.keys()


def test_says_why_it_is_no_better_than_a_constant() -> None:
    net = NormNet(1)
    optimizer = Auto(net, total_steps=100)
    losses = [train(net, optimizer, step) for step in range(10)]
    assert optimizer.shortfall(0.5, 0.6) == ""
    first = max(losses)
    assert f"it began at {losses[0]:.4g}, because the outputs" in optimizer.shortfall(losses[-1], 0.01 * first)
    assert "as if the outputs did not depend on the inputs; scale" in optimizer.shortfall(first, 0.3 * first)
    assert "what was learnt holds for these examples only" in optimizer.shortfall(3 * first, 2 * first)


def test_an_early_rollback_puts_back_weights_and_statistics_of_the_start() -> None:
    net, fresh = NormNet(2), NormNet(2)
    weights = copies(net.parameters())
    optimizer, other = Auto(net, total_steps=200), Auto(fresh, total_steps=200)
    train(net, optimizer, 1)
    statistics = copies(net.buffers())  # as the first forward pass left them
    for step in range(2, 8):
        train(net, optimizer, step)
    assert not same_bits(net.parameters(), weights)
    train(net, optimizer, 8, NAN)
    assert same_bits(net.parameters(), weights) and same_bits(net.buffers(), statistics)
    assert "to the start" in optimizer.remark and optimizer.rate == 0 == optimizer.param_groups[0]["lr"]
    assert not optimizer.state_dict()["state"]
    train(net, optimizer, 9)  # as a training that begins there
    train(fresh, other, 9)
    for one, other_one, start in zip(net.parameters(), fresh.parameters(), weights):
        ratio = (1 - 9 / 200) / (1 - 1 / 200)  # of the rates
        torch.testing.assert_close(one - start, (other_one - start) * ratio, rtol=1e-3, atol=1e-7)


def test_a_late_rollback_puts_back_the_older_snapshot() -> None:
    net = NormNet(3)
    optimizer = Auto(net.parameters(), net, total_steps=200)  # the network's buffers too
    for step in range(1, 76):
        train(net, optimizer, step)
        if step == 60:
            weights, statistics = copies(net.parameters()), copies(net.buffers())
    train(net, optimizer, 76, NAN)
    assert same_bits(net.parameters(), weights) and same_bits(net.buffers(), statistics)
    assert "to step 60" in optimizer.remark and optimizer.constants["rollbacks"] == 1


def test_a_loss_that_stays_infinite_is_an_error() -> None:
    loop = Loop()
    optimizer = Auto(loop.head, total_steps=50)
    for step in range(12):
        loop.backward(step)
        with pytest.warns(RuntimeWarning, match="inf"):
            optimizer.step(math.inf)
    loop.backward(12)
    with pytest.raises(RuntimeError, match="after 12 rollbacks"):
        optimizer.step(math.inf)


@pytest.mark.parametrize("total_steps", [90, 0])
def test_continues_with_the_same_bits_from_a_file(total_steps: int) -> None:
    whole, part = NormNet(4), NormNet(5)
    optimizer, other = Auto(whole, total_steps=total_steps), Auto(part, total_steps=total_steps)
    for step in range(1, 48):
        train(whole, optimizer, step, NAN if step == 13 else None)
    file = io.BytesIO()
    torch.save({"net": whole.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    saved = torch.load(file)
    part.load_state_dict(saved["net"])
    other.load_state_dict(saved["optimizer"])
    for step in range(48, 91):
        said = NAN if step in (52, 80) else None
        train(whole, optimizer, step, said)
        train(part, other, step, said)
        assert same_bits(part.parameters(), whole.parameters()) and same_bits(part.buffers(), whole.buffers()), step
    assert other.state_dict()["rate"]["rule"] == optimizer.state_dict()["rate"]["rule"]
    assert other.constants["rollbacks"] == 3


def test_more_steps_continue_along_the_new_line() -> None:
    loop = Loop()
    optimizer = Auto(loop.head, total_steps=40)
    for step in range(40):
        optimizer.step(loop.backward(step))
    longer = Auto(loop.head, total_steps=80)
    longer.load_state_dict(optimizer.state_dict())
    longer.step(loop.backward(41))
    base = longer.state_dict()["rate"]["rule"]["averages"]["base"]
    assert longer.rate == base * (1 - 41 / 80)


@pytest.mark.parametrize(
    "change",
    [
        lambda rate: rate.pop("rule"),
        lambda rate: rate["rule"].update(format="another"),
        lambda rate: rate["rule"].update(cap=0.0),
        lambda rate: rate["rule"].update(steps=-1),
        lambda rate: rate["rule"].update(kept=[]),
        lambda rate: rate["rule"]["averages"].update(base=NAN),
        lambda rate: rate["rule"]["averages"].update(mean_log=math.inf),
        lambda rate: rate["rule"]["numbers"].pop("rollbacks"),
        lambda rate: rate["kept"].pop(),
        lambda rate: rate["kept"][1]["parameters"].pop(),
        lambda rate: rate["kept"][1]["parameters"][0].update(steps=True),
        lambda rate: rate["kept"][1]["parameters"][0].update(weights=torch.ones(1)),
        lambda rate: rate["kept"][0]["buffers"].pop(),
        lambda rate: rate.update(kept=3),
    ],
)
def test_refuses_a_damaged_state_and_keeps_its_own(change: Any) -> None:
    net = NormNet(6)
    optimizer = Auto(net, total_steps=60)
    for step in range(3):
        train(net, optimizer, step)
    before = optimizer.state_dict()["rate"]["rule"]
    damaged = copy.deepcopy(optimizer.state_dict())
    change(damaged["rate"])
    with pytest.raises(ValueError, match="can't be used"):
        optimizer.load_state_dict(damaged)
    assert optimizer.state_dict()["rate"]["rule"] == before
    train(net, optimizer, 3)


def test_refuses_the_state_of_another_network_or_optimizer() -> None:
    net, wide = NormNet(6), NormNet(6, 9)
    optimizer, other = Auto(net), Auto(wide)
    train(wide, other, 0)
    for state in (other.state_dict(), torch.optim.SGD(net.parameters(), lr=1).state_dict(), 3):
        with pytest.raises(ValueError, match="can't be used"):
            optimizer.load_state_dict(state)  # type: ignore[arg-type]


def test_groups_have_their_scale_and_frozen_parameters_stay() -> None:
    net, plain, frozen = NormNet(7), NormNet(7), NormNet(7)
    start = copies(net.parameters())
    groups = [{"params": net.body[0].parameters(), "scale": 0.25}, {"params": net.body[1:].parameters()}]
    optimizer, usual = Auto(groups, net, total_steps=100), Auto(plain, total_steps=100)
    train(net, optimizer, 1)
    train(plain, usual, 1)
    moved = [one - other for one, other in zip(net.parameters(), start)]
    torch.testing.assert_close(moved[0] * 4, next(plain.parameters()) - start[0], rtol=1e-3, atol=1e-6)
    assert same_bits(net.body[3].parameters(), plain.body[3].parameters())
    assert [group["lr"] for group in optimizer.param_groups] == [optimizer.rate / 4, optimizer.rate]

    frozen.body[0].requires_grad_(False)
    still, without = copies(frozen.body[0].parameters()), Auto(frozen, total_steps=100)
    train(frozen, without, 1)
    assert "over 1 weight tensors" in without.remark  # the head's
    for step in range(2, 6):
        train(frozen, without, step)
    train(frozen, without, 6, NAN)
    assert same_bits(frozen.body[0].parameters(), still)


def test_a_group_that_is_added_counts_among_the_weight_tensors() -> None:
    net, other = NormNet(8), NormNet(8)
    whole, parts = Auto(net, total_steps=50), Auto(other.body[:3].parameters(), other, total_steps=50)
    parts.add_param_group({"params": other.body[3].parameters()})
    for step in range(3):
        assert train(net, whole, step) == train(other, parts, step)
    assert whole.constants == parts.constants and same_bits(net.parameters(), other.parameters())


def test_the_loss_may_be_a_number_of_numpy() -> None:
    loop, other = Loop(), Loop()
    one, two = Auto(loop.head), Auto(other.head)
    one.step(float(np.float32(loop.backward(0).item())))
    two.step(np.float32(other.backward(0).item()))
    assert one.constants == two.constants


def test_the_rule_looks_at_the_gradient_without_the_weight_decay() -> None:
    plain, decayed = NormNet(8), NormNet(8)
    one, other = Auto(plain, total_steps=50), Auto(decayed, total_steps=50, weight_decay=0.5)
    train(plain, one, 0)
    train(decayed, other, 0)
    assert one.rate == other.rate and not same_bits(plain.parameters(), decayed.parameters())


def test_takes_a_closure() -> None:
    net, other = NormNet(8), NormNet(8)
    optimizer, usual = Auto(net, total_steps=100), Auto(other, total_steps=100)
    loss = optimizer.step(lambda: backward(net, optimizer, 1))
    assert loss.item() == train(other, usual, 1) and same_bits(net.parameters(), other.parameters())


def test_a_call_that_is_forgotten_is_an_error() -> None:
    net = NormNet(9)
    optimizer = Auto(net, total_steps=3)
    with pytest.raises(RuntimeError, match="no backward pass"):
        optimizer.step(1.0)
    net(examples(1)[0])
    with pytest.raises(RuntimeError, match="no backward pass"):
        optimizer.step(1.0)
    backward(net, optimizer, 1)
    for nothing in (None, "1", True, lambda: None, torch.ones(2)):
        with pytest.raises(TypeError, match="the loss of every step"):
            optimizer.step(nothing)
    train(net, optimizer, 1)
    train(net, optimizer, 2)
    with pytest.raises(RuntimeError, match="no forward pass"):
        optimizer.step(1.0)
    with pytest.raises(ValueError, match="never negative"):
        train(net, optimizer, 3, -1.0)
    net.eval()
    with pytest.raises(RuntimeError, match="in training mode"):
        train(net, optimizer, 3)
    train(net.train(), optimizer, 3)
    with pytest.raises(RuntimeError, match="all 3 steps"):
        train(net, optimizer, 4)


def test_wrong_arguments_are_refused() -> None:
    net = NormNet(9)
    for arguments, error in (
        ({"total_steps": -1}, ValueError), ({"total_steps": 2.5}, TypeError), ({"total_steps": True}, TypeError),
        ({"distributed": 1}, TypeError), ({"buffers": [1]}, TypeError), ({"weight_decay": -1}, ValueError),
        ({"scale": 0}, ValueError), ({"head": 3}, TypeError), ({"lr": 1}, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            Auto(net, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no lr of its own"):
        Auto([{"params": net.parameters(), "lr": 1.0}])
    optimizer = Auto(net)
    with pytest.raises(TypeError, match="sets its rate itself"):
        LipschitzRate(optimizer, net)
    train(net, optimizer, 0)
    with pytest.raises(RuntimeError, match="after the first step"):
        optimizer.add_param_group({"params": nn.Linear(2, 2).parameters()})
    optimizer.param_groups[0]["lr"] = 3.0
    with pytest.raises(RuntimeError, match="set to 3.0 by something else"):
        train(net, optimizer, 1)
    optimizer.close()
    with pytest.raises(RuntimeError, match="after close"):
        train(net, optimizer, 1)


def test_the_average_is_evaluated_where_the_end_is_not_known_or_when_asked_for() -> None:
    net, other = NormNet(10), NormNet(10)
    optimizer, known = Auto(net), Auto(other, total_steps=100)
    past = []
    for step in range(1, 13):
        train(net, optimizer, step)
        train(other, known, step)
        past.append(net.body[0].weight.detach().clone())
    expected = torch.zeros_like(past[0])  # a_t = (1 - 9/(t+8)) a_(t-1) + 9/(t+8) w_t, written out
    for t in range(1, 13):
        weight = 9 / (t + 8) * math.prod(1 - 9 / (later + 8) for later in range(t + 1, 13))
        expected += past[t - 1] * weight
    statistics = copies(net.buffers())
    with optimizer.evaluation_weights():
        torch.testing.assert_close(net.body[0].weight.detach(), expected, rtol=1e-5, atol=1e-6)
        torch.optim.swa_utils.update_bn([examples(0)], net)
        with pytest.raises(RuntimeError, match="inside of evaluation_weights"):
            train(net, optimizer, 13)
        with pytest.raises(RuntimeError, match="inside of"), optimizer.evaluation_weights():
            pass
    assert torch.equal(net.body[0].weight, past[-1]) and same_bits(net.buffers(), statistics)
    trained = copies(other.parameters())
    with known.evaluation_weights():
        assert same_bits(other.parameters(), trained)
    with pytest.raises(KeyError), known.evaluation_weights(average=True):
        assert not same_bits(other.parameters(), trained)
        raise KeyError
    assert same_bits(other.parameters(), trained)


def test_a_scaled_loss_leaves_the_rate_as_it_is() -> None:
    """What GradScaler does: the loss is multiplied, the gradients are divided; with an infinite one no step is taken."""
    net, plain = NormNet(11), NormNet(11)
    optimizer, usual = Auto(net, total_steps=60), Auto(plain, total_steps=60)
    for step in range(12):
        x, y = examples(step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        (loss * 2.0**16).backward()
        if step == 5:
            continue  # left out by the scaler
        for parameter in net.parameters():
            parameter.grad = parameter.grad / 2.0**16  # type: ignore[operator]
        optimizer.step(loss)
        train(plain, usual, step)
        assert optimizer.rate == usual.rate and optimizer.constants["H"] == usual.constants["H"], step
        for one, other in zip(net.buffers(), plain.buffers()):
            other.copy_(one)  # the pass that was left out counts in them


@pytest.mark.parametrize("most", [0.3, 0.01])
def test_clipped_gradients_have_the_rate_of_whole_ones(most: float) -> None:
    constants = []
    for clips in (False, True):
        net = NormNet(1)
        optimizer = Auto(net, total_steps=50)
        loss = backward(net, optimizer, 0)
        if clips:
            assert nn.utils.clip_grad_norm_(net.parameters(), most) > 2 * most
        optimizer.step(loss)
        constants.append([optimizer.rate, *optimizer.constants.values()])
    assert constants[1] == pytest.approx(constants[0], rel=1e-5)


def test_clipping_beside_a_scaled_loss_is_an_error() -> None:
    net = NormNet(1)
    optimizer = Auto(net, total_steps=50)
    x, y = examples(0)
    loss = nn.functional.cross_entropy(net(x), y)
    (2.0**16 * loss).backward()
    for parameter in net.parameters():
        assert parameter.grad is not None
        parameter.grad /= 1.3 * 2.0**16
    with pytest.raises(RuntimeError, match="leave clipping out"):
        optimizer.step(loss)


@pytest.mark.filterwarnings("ignore:torch.cuda.amp.GradScaler")  # it says that there is no GPU
def test_the_gradient_scaler_takes_it() -> None:
    loop, plain_loop = Loop(), Loop()
    optimizer, plain = Auto(loop.head), Auto(plain_loop.head)
    scaler = torch.cuda.amp.GradScaler()
    for step in range(3):
        loss = loop.backward(step)
        scaler.scale(loss)
        scaler.step(optimizer, loss)
        scaler.update()
        plain.step(plain_loop.backward(step))
    assert same_bits(loop.parameters, plain_loop.parameters)


def test_accumulated_gradients_have_the_constant_of_all_their_passes() -> None:
    whole, parts = Loop(), Loop()
    one, other = Auto(whole.head, total_steps=50), Auto(parts.head, total_steps=50)
    for step in range(5):
        loss = whole.backward(step)
        one.step(loss)
        other.zero_grad()
        for rows in (slice(0, 2), slice(2, ROWS)):
            labels = (torch.arange(ROWS) % CLASSES)[rows]
            part = nn.functional.cross_entropy(parts.head(whole.batch[rows]), labels, reduction="sum") / ROWS
            part.backward()
        other.step(loss)
        assert other.constants == pytest.approx(one.constants, rel=1e-12)


def test_a_head_of_sequences_is_measured_place_by_place() -> None:
    torch.manual_seed(12)
    model, rows = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)), torch.randn(2, 5, 4)
    labels = torch.randint(3, (2, 5))
    optimizer = Auto(model, total_steps=50)
    seen: list[Tensor] = []
    model[2].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0]))
    scores = model(rows)
    scores.retain_grad()
    loss = nn.functional.cross_entropy(scores.reshape(10, 3), labels.reshape(10))
    loss.backward()
    optimizer.step(loss)
    expected = (scores.grad.double().abs().sum(2) * seen[0].detach().double().abs().sum(2)).sum()
    assert optimizer.constants["H"] == pytest.approx(float(expected), rel=1e-12)
    assert "never exceeded" in optimizer.certificate


def test_without_a_head_the_measured_constant_counts() -> None:
    net = NormNet(13)
    optimizer = Auto(net.parameters(), total_steps=100, buffers=net.buffers())
    losses = [train(net, optimizer, step) for step in range(100)]
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10])
    assert optimizer.certificate == "" and optimizer.constants["Hb"] == 0


@pytest.mark.parametrize("way", [copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))])
def test_a_copy_of_model_and_optimizer_goes_on_by_itself(way: Any) -> None:
    net = NormNet(14)
    optimizer = Auto(net, total_steps=60)
    for step in range(12):
        train(net, optimizer, step)
    other_net, other = way((net, optimizer))
    for step in range(12, 24):
        train(net, optimizer, step, NAN if step == 20 else None)
        train(other_net, other, step, NAN if step == 20 else None)
    assert same_bits(net.parameters(), other_net.parameters()) and optimizer.rate == other.rate
    assert other.steps == 24


def test_the_hook_goes_with_the_optimizer() -> None:
    loop = Loop()
    optimizer = Auto(loop.head)
    assert len(loop.head._forward_hooks) == 1
    del optimizer
    assert len(loop.head._forward_hooks) == 0


def test_a_vanished_gradient_sends_the_weights_back_to_the_start() -> None:
    torch.manual_seed(15)
    model = nn.Sequential(nn.Linear(WIDTH, 6), nn.ReLU(), nn.Linear(6, CLASSES))
    optimizer = Auto(model, total_steps=200)
    start, x = copies(model.parameters()), torch.randn(ROWS, WIDTH)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(30):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), torch.arange(ROWS) % CLASSES)
            loss.backward()
            if step >= 10:  # as where no unit is active any more
                for parameter in model.parameters():
                    parameter.grad.zero_()  # type: ignore[union-attr]
            optimizer.step(loss)
            if caught:
                break
    assert step == 12 and "vanished; the weights go back to the start" in str(caught[0].message)
    assert same_bits(model.parameters(), start)
