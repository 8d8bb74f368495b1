"""Stochastic gates against their formulas and on planted columns; what the trained selectors share, part by part."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.progress import Progress, Watch
from easyfs.baselines.stg import STGSelector, gates, open_density, open_probability
from easyfs.baselines.training import (
    Adam,
    EarlyStopping,
    Parameters,
    batches,
    dropout,
    load_data,
    new_layers,
    numeric_target,
    one_thread,
    seeded,
    split_rows,
    standardized_rows,
    through_layers,
)
from easyfs.engines.torch import resolve_device

from .parity import cases, load

QUICK = {"max_iter": 80}


def five_of_fifty(seed: int, task: str, n: int = 700) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """Five of fifty columns make the target: three linear, two bent."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50))
    columns = rng.choice(50, 5, replace=False)
    a, b, c, d, e = X[:, columns].T
    signal = a + b - c + np.tanh(2.0 * d) + e + 0.3 * e**2
    if task == "regression":
        return X, signal + 0.5 * rng.standard_normal(n), set(columns.tolist())
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * signal))).astype(int), set(columns.tolist())


class Seen(Baseline):
    """Keeps the problem that a method is asked."""

    several_targets = True

    def _score(self, problem: Problem) -> Scored:
        self._problem_seen = problem
        return Scored(np.zeros(problem.shape[1]))


def problem_of(X: np.ndarray, y: Any, task: str = "auto") -> Problem:
    return Seen(task=task).fit(X, y)._problem_seen


# The gates.


@pytest.mark.parametrize("stem", cases("stg_gates"))
def test_gates_match_reference_numbers(stem: str) -> None:
    stored = load(stem)
    mu = stored["mu"]
    for i, sigma in enumerate(stored["sigma"]):
        exact = {"rtol": 1e-9, "atol": 1e-12}
        np.testing.assert_allclose(gates(mu), stored["gate_eval"][i], **exact)
        np.testing.assert_allclose(gates(mu, sigma * stored["eps"][i]), stored["z_train_gate"][i], **exact)
        probability = open_probability(mu, sigma)
        np.testing.assert_allclose(probability, stored["reg_elementwise"][i], **exact)
        np.testing.assert_allclose(probability.mean(), stored["reg_mean"][i], **exact)
        np.testing.assert_allclose(probability.sum(), stored["reg_sum"][i], **exact)
        np.testing.assert_allclose(open_density(mu, sigma) / len(mu), stored["dreg_mean_dmu"][i], **exact)


@pytest.mark.parametrize("sigma", [0.1, 0.5, 2.0])
def test_penalty_is_the_probability_that_noise_leaves_a_gate_open(sigma: float) -> None:
    mu = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_allclose(open_probability(mu, sigma), stats.norm.cdf((mu + 0.5) / sigma), rtol=1e-12)
    noise = sigma * np.random.default_rng(0).standard_normal((200_000, 1))
    np.testing.assert_allclose((gates(mu, noise) > 0).mean(axis=0), open_probability(mu, sigma), atol=0.005)
    step = 1e-6
    slope = (open_probability(mu + step, sigma) - open_probability(mu - step, sigma)) / (2 * step)
    np.testing.assert_allclose(open_density(mu, sigma), slope, atol=1e-7)


def test_gates_of_tensors_equal_those_of_arrays() -> None:
    import torch

    rng = np.random.default_rng(0)
    mu, noise = rng.standard_normal(20), rng.standard_normal((5, 20))
    tensor = torch.from_numpy(mu).requires_grad_()
    np.testing.assert_allclose(gates(tensor, torch.from_numpy(noise)).detach().numpy(), gates(mu, noise), rtol=1e-14)
    open_probability(tensor, 0.5, torch.special.ndtr).sum().backward()
    np.testing.assert_allclose(tensor.grad.numpy(), open_density(mu, 0.5), rtol=1e-10)


# The selector.


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_five_true_columns_of_fifty_come_first_and_alone_stay_open(task: str, seed: int) -> None:
    X, y, columns = five_of_fifty(seed, task)
    selector = STGSelector("auto", random_state=seed).fit(X, y)
    assert set(selector.order_[:5].tolist()) == columns
    assert selector.n_features_ == 5
    assert selector.stop_reason_ == "converged"
    others = np.setdiff1d(np.arange(50), list(columns))
    assert selector.scores_[list(columns)].min() > 0.5
    assert selector.scores_[others].max() < 0.0


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_columns_that_matter_only_together_are_found(seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((800, 20))
    selector = STGSelector("auto", random_state=seed).fit(X, X[:, 4] * X[:, 11] > 0)
    assert set(selector.get_support(indices=True)) == {4, 11}


def test_the_penalty_decides_how_many_gates_stay_open() -> None:
    X, y, _ = five_of_fifty(0, "regression")
    fits = [STGSelector("auto", alpha=alpha, random_state=0, max_iter=300).fit(X, y) for alpha in (0.0, 0.02, 0.15, 10.0)]
    n_open = [fit.n_features_ for fit in fits]
    assert n_open[0] > n_open[1] == 5 > n_open[2] >= n_open[3] == 1
    assert fits[3].scores_.max() <= 0.0  # one column is selected even so


def test_labels_and_several_targets() -> None:
    X = np.random.default_rng(0).standard_normal((400, 10))
    labels = np.column_stack([X[:, 2] > 0, X[:, 7] > 0.3, np.arange(400) < 0]).astype(int)  # no row has the last label
    selector = STGSelector(2, random_state=0, **QUICK).fit(X, labels)
    assert selector.task_ == "classification"
    assert set(selector.get_support(indices=True)) == {2, 7}
    targets = np.column_stack([X[:, 2], 1e6 * X[:, 7] + 1e9, np.full(400, 3.5)])  # the last does not vary
    selector = STGSelector(2, random_state=0, **QUICK).fit(X, targets)
    assert set(selector.get_support(indices=True)) == {2, 7}


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_tiny_tables(task: str, n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 3)), np.arange(n) % 2 if task == "classification" else np.arange(n) * 1.5
    selector = STGSelector("auto", task=task, random_state=0, max_iter=5).fit(X, y)
    assert np.isfinite(selector.scores_).all()
    assert selector.n_iter_ == 5
    assert selector.stop_reason_ == "max_iter"


def test_hostile_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    X[:, 1] = 1e-100 * X[:, 1]
    X[:, 2] = 1e100 * X[:, 2] + 1e101
    X[:, 3] = 0.0
    X[7, 3] = 1e6  # one row is all there is to it
    X[::2, 4] = np.nan
    selector = STGSelector(1, random_state=0, **QUICK).fit(X, y)
    assert selector.order_[0] == 0
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -0.1),
        ("alpha", "auto"),
        ("sigma", 0.0),
        ("hidden_layer_sizes", 3),
        ("hidden_layer_sizes", ()),
        ("hidden_layer_sizes", "64"),
        ("hidden_layer_sizes", (64, 0)),
        ("hidden_layer_sizes", (64, 1.5)),
        ("learning_rate", 0.0),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("n_iter_no_change", 0),
        ("batch_size", 0),
        ("validation_fraction", 0.0),
        ("validation_fraction", 0.6),
        ("time_limit", -1.0),
        ("progress", "yes"),
        ("device", "toaster"),
        ("device", "meta"),
        ("device", 3.5),
    ],
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        STGSelector(**{name: value}).fit(np.eye(4), [0, 1, 0, 1])


def test_a_device_that_is_not_there_is_named() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="device='cuda'"):
        STGSelector(device="cuda").fit(np.eye(4), [0, 1, 0, 1])


class NoTorch:
    """A finder that knows of no torch."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "torch":
            raise ModuleNotFoundError(name)


def take_torch_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoTorch(), *sys.meta_path])


def test_importing_the_selectors_does_not_import_torch() -> None:
    code = "import sys, easyfs.baselines.lassonet, easyfs.baselines.stg; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    take_torch_away(monkeypatch)
    with pytest.raises(ImportError, match=r"STGSelector needs .*easyfs-ml\[torch\]"):
        STGSelector().fit(np.eye(4), [0, 1, 0, 1])


def test_progress_is_told_each_epoch() -> None:
    X, y, _ = five_of_fifty(0, "regression", n=200)
    seen: list[Progress] = []
    silent = STGSelector(5, random_state=0, max_iter=30).fit(X, y)
    told = STGSelector(5, random_state=0, max_iter=30, progress=seen.append).fit(X, y)
    np.testing.assert_array_equal(silent.scores_, told.scores_)
    assert [state.step for state in seen] == list(range(1, 31))
    assert {state.n_steps for state in seen} == {30}
    assert all(np.isfinite(state.loss) and 0 <= state.n_features <= 50 for state in seen)
    assert all(one.seconds <= two.seconds for one, two in pairwise(seen))


def test_what_progress_raises_ends_the_fit_and_leaves_nothing_behind() -> None:
    import torch

    X, y, _ = five_of_fifty(0, "regression", n=200)
    before = torch.get_num_threads()

    def stop(state: Progress) -> None:
        if state.step == 3:
            raise KeyboardInterrupt

    selector = STGSelector(5, random_state=0).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        selector.set_params(progress=stop).fit(X, y)
    assert torch.get_num_threads() == before
    assert not selector.__sklearn_is_fitted__()


def test_time_limit_keeps_the_best_so_far() -> None:
    X, y, _ = five_of_fifty(0, "regression", n=200)
    selector = STGSelector("auto", random_state=0, time_limit=0.0).fit(X, y)
    assert selector.stop_reason_ == "time_limit"
    assert selector.n_iter_ == 1
    np.testing.assert_array_equal(np.sort(selector.order_), np.arange(50))


def test_global_state_of_torch_is_left_alone() -> None:
    import torch

    X, y, _ = five_of_fifty(0, "classification", n=200)
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    threads, gradients, dtype = torch.get_num_threads(), torch.is_grad_enabled(), torch.get_default_dtype()
    first = STGSelector(5, random_state=0, **QUICK).fit(X, y)
    np.testing.assert_array_equal(torch.rand(4).numpy(), expected.numpy())
    assert (torch.get_num_threads(), torch.is_grad_enabled(), torch.get_default_dtype()) == (threads, gradients, dtype)
    torch.manual_seed(4)
    np.testing.assert_array_equal(STGSelector(5, random_state=0, **QUICK).fit(X, y).scores_, first.scores_)


def test_fits_in_several_threads_give_the_answer_of_one() -> None:
    import torch

    X, y, _ = five_of_fifty(0, "classification", n=200)
    alone = STGSelector(5, random_state=0, **QUICK).fit(X, y).scores_
    before, found = torch.get_num_threads(), []

    def fit() -> None:
        found.append(STGSelector(5, random_state=0, **QUICK).fit(X, y).scores_)

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for scores in found:
        np.testing.assert_array_equal(scores, alone)
    assert torch.get_num_threads() == before


def test_float32_and_float64_tables_of_any_layout_give_one_answer() -> None:
    X, y, _ = five_of_fifty(0, "regression", n=300)
    X = (X + 30.0).astype(np.float32)
    first = STGSelector(5, random_state=0, **QUICK).fit(X, y)
    for table in (X.astype(np.float64), np.asfortranarray(X), np.asfortranarray(X.astype(np.float64))):
        again = STGSelector(5, random_state=0, **QUICK).fit(table, y)
        np.testing.assert_array_equal(again.order_, first.order_)
        np.testing.assert_allclose(again.scores_, first.scores_, rtol=1e-4, atol=1e-4)


# What the selectors that train a network share.


def test_adam_equals_that_of_torch() -> None:
    import torch

    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, generator=generator), torch.randn(3, generator=generator)]
    theirs = [tensor.clone().requires_grad_() for tensor in start]
    ours = Parameters(torch, start)
    reference, adam = torch.optim.Adam(theirs, lr=0.05), Adam(torch, ours.flat, 0.05)
    for _ in range(50):
        x = torch.randn(8, 4, generator=generator)

        def loss(tensors: list[Any], x: Any = x) -> Any:
            return (through_layers(torch, x, tensors) - x[:, :3] ** 2).square().mean()

        reference.zero_grad()
        loss(theirs).backward()
        reference.step()
        adam.update(ours.backward(loss(ours.tensors)))
    for one, two in zip(theirs, ours.tensors, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), two.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_layers_equal_matrix_products() -> None:
    import torch

    generator = torch.Generator().manual_seed(0)
    layers = new_layers(torch, (5, 4, 3, 2), generator, "cpu")
    assert [tuple(tensor.shape) for tensor in layers] == [(4, 5), (4,), (3, 4), (3,), (2, 3), (2,)]
    for tensor, inputs in zip(layers, (5, 5, 4, 4, 3, 3), strict=True):
        assert float(tensor.abs().max()) <= 1 / np.sqrt(inputs)
    X = torch.randn(7, 5, generator=generator)
    W, b, V, c, U, d = (tensor.double().numpy() for tensor in layers)
    hidden = np.maximum(np.maximum(X.double().numpy() @ W.T + b, 0) @ V.T + c, 0)
    np.testing.assert_allclose(through_layers(torch, X, layers).numpy(), hidden @ U.T + d, rtol=1e-4, atol=1e-6)


def test_dropout_keeps_the_mean() -> None:
    import torch

    assert dropout(torch, 0.0, torch.Generator()) is None
    drop = dropout(torch, 0.25, torch.Generator().manual_seed(0))
    assert drop is not None
    x = drop(torch.ones(1000, 50)).numpy()
    np.testing.assert_allclose(np.unique(x), [0.0, 1 / 0.75], rtol=1e-6)
    np.testing.assert_allclose((x == 0).mean(), 0.25, atol=0.01)


@pytest.mark.parametrize(("n", "size"), [(10, 256), (256, 256), (257, 256), (1000, 256), (7, 1)])
def test_batches_hold_each_row_once_and_are_of_one_size(n: int, size: int) -> None:
    import torch

    X = torch.arange(n)[:, None]
    found = list(batches(torch, X, X[:, 0], size, torch.Generator().manual_seed(0)))
    assert len(found) == -(-n // size)
    lengths = [len(rows) for rows, _ in found]
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    assert sorted(int(value) for rows, _ in found for value in rows) == list(range(n))
    assert all((rows[:, 0] == y).all() for rows, y in found)


@pytest.mark.parametrize("share", [0.1, 0.15, 0.5])
def test_split_is_stratified_and_leaves_single_rows_in_training(share: float) -> None:
    codes = np.repeat([0, 1, 2, 3], [120, 60, 20, 1])
    for seed in range(20):
        train, validation = split_rows(len(codes), codes, share, np.random.RandomState(seed))
        np.testing.assert_array_equal(np.sort(np.concatenate([train, validation])), np.arange(len(codes)))
        assert abs(len(validation) - share * 200) <= 1
        for code, size in enumerate((120, 60, 20)):
            assert abs((codes[validation] == code).sum() - share * size) <= 1
        assert 200 in train
    one, other = (split_rows(201, codes, share, np.random.RandomState(seed))[1] for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_split_of_numbers_and_of_few_rows() -> None:
    rng = np.random.RandomState(0)
    train, validation = split_rows(100, None, 0.15, rng)
    assert len(validation) == 15
    np.testing.assert_array_equal(np.sort(np.concatenate([train, validation])), np.arange(100))
    for n in range(2, 11):
        for rows in split_rows(n, None, 0.5, rng):
            np.testing.assert_array_equal(rows, np.arange(n))
    for rows in split_rows(30, np.arange(30), 0.15, rng):  # every class a single row
        np.testing.assert_array_equal(rows, np.arange(30))


def test_targets_as_the_network_has_them() -> None:
    X = np.random.default_rng(0).standard_normal((6, 2))
    codes = numeric_target(problem_of(X, np.array(["b", "a", "c", "a", "b", "c"])))
    np.testing.assert_array_equal(codes, [1, 0, 2, 0, 1, 2])
    assert codes.dtype == np.int64
    labels = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(numeric_target(problem_of(X, labels)), labels)
    y = np.column_stack([1e300 * X[:, 0], 1e-300 * X[:, 1], np.full(6, 1e5)])
    values = numeric_target(problem_of(X, y, "regression"))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values[:, :2].mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(values[:, :2].std(axis=0), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(values[:, 2], 0.0)


def test_missing_values_do_not_widen_a_column() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    X[:, 1] = X[:, 0]
    X[10:, 1] = np.nan
    Z = standardized_rows(problem_of(X, X[:, 0]))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z[:10, 1].std(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(Z[10:, 1], 0.0, atol=1e-6)


@pytest.mark.parametrize("kind", ["classes", "labels", "values"])
def test_losses_equal_their_formulas_and_curve_no_more_than_they_say(kind: str) -> None:
    import torch

    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = {"classes": rng.integers(0, 3, 40), "labels": rng.integers(0, 2, (40, 3)), "values": X + X**2}[kind]
    data = load_data(torch, problem_of(X, y), 0.2, np.random.RandomState(0), torch.device("cpu"))
    assert data.n_outputs == 3
    output = torch.from_numpy(rng.standard_normal((len(data.y), 3)).astype(np.float32))
    o, t = output.double().numpy(), data.y.numpy()
    if kind == "classes":
        expected = np.log(np.exp(o).sum(axis=1)) - o[np.arange(len(t)), t]
    elif kind == "labels":
        expected = (np.log1p(np.exp(o)) - t * o).mean(axis=1)
    else:
        expected = ((o - t) ** 2).mean(axis=1)
    np.testing.assert_allclose(data.row_losses(output, data.y).numpy(), expected, rtol=1e-4)
    np.testing.assert_allclose(float(data.loss(output, data.y)), expected.mean(), rtol=1e-4)
    largest = 0.0
    for row in range(len(t)):
        hessian = torch.autograd.functional.hessian(
            lambda x, row=row: data.row_losses(x[None], data.y[row : row + 1]).sum(), output[row]
        )
        largest = max(largest, float(torch.linalg.eigvalsh(hessian)[-1]))
    assert 0.3 * data.curvature < largest <= data.curvature * (1 + 1e-5)


def test_early_stopping_keeps_the_best_weights() -> None:
    import torch

    parameters = Parameters(torch, [torch.zeros(2)])
    stopping = EarlyStopping(parameters, 2)
    over = []
    for value, loss in enumerate([3.0, 1.0, 2.0, 0.5, np.nan, 0.5]):
        parameters.flat.fill_(value)
        over.append(stopping.is_over(loss))
    assert over == [False, False, False, False, False, True]
    stopping.restore()
    np.testing.assert_array_equal(parameters.tensors[0].detach().numpy(), [3.0, 3.0])


def test_one_thread_holds_and_gives_back_the_number_of_threads() -> None:
    import torch

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread(torch):
            assert torch.get_num_threads() == 1
            with one_thread(torch):
                assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with pytest.raises(KeyError), one_thread(torch):
            raise KeyError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_seeds_follow_the_random_state() -> None:
    import torch

    draws = [torch.rand(3, generator=seeded(torch, np.random.RandomState(seed))).tolist() for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


def test_devices() -> None:
    import torch

    assert resolve_device(torch, "cpu").type == "cpu"
    with pytest.raises(ValueError, match=r"device='cpu:x' cannot be used"):
        resolve_device(torch, "cpu:x")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_lines_on_a_terminal_and_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with Watch("STGSelector", True, None) as watch:
            for step in range(1, 50):
                watch.report(step, 50, 0.5, 7)
        text = stream.getvalue()
        assert "STGSelector: step 1/50: loss 0.5, 7 features, 0.0 s" in text
        assert text.endswith("\n")
        assert text.count("\n") == 1  # fifty steps in no time are one line
        assert ("\r" in text) == stream.isatty()
    assert str(Progress(3, None, 0.25, 2, 1.0)) == "step 3: loss 0.25, 2 features, 1.0 s"
