"""Tensors of torch: the same answer as from numpy, with the sums made on the tensor's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
import torch

from easyfs import EasyFS, EasyFSRanking
from easyfs.engines import torch as engine
from easyfs.engines.torch import TorchKernels, is_tensor
from easyfs.passes.block import SAMPLE_ROWS
from easyfs.passes.kernels import NUMPY

FORMS = [EasyFS, EasyFSRanking]
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def table(n: int, d: int = 10, seed: int = 0, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    y = X[:, 1] - 0.3 * X[:, 4] + X[:, 2] * X[:, 7] + rng.standard_normal(n)
    return X, y


def assert_same(found: Any, expected: Any, rel: float = 1e-6) -> None:
    assert found.n_features_ == expected.n_features_
    np.testing.assert_array_equal(found.order_[: found.n_features_], expected.order_[: expected.n_features_])
    np.testing.assert_allclose(found.gains_, expected.gains_, rtol=rel, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["numbers", "classes", "several"])
@pytest.mark.parametrize("n", [15, 400, 25_000])  # kept on the host, folded, larger than the sample
def test_a_tensor_gives_the_answer_of_the_array(n: int, kind: str, form: Any, device: str) -> None:
    X, values = table(n)
    y: Any = {"numbers": values, "classes": np.where(values > 0, "up", "down")}.get(kind)
    y = np.column_stack([values, X[:, 6] + X[:, 1]]) if kind == "several" else y
    expected = form(3, random_state=0).fit(X, y)
    given = torch.as_tensor(X, device=device)
    target = torch.as_tensor(y, device=device) if kind != "classes" else y
    found = form(3, random_state=0).fit(given, target)
    assert_same(found, expected)
    chosen = found.transform(given)
    assert isinstance(chosen, torch.Tensor)
    assert chosen.device == given.device
    np.testing.assert_array_equal(chosen.cpu().numpy(), X[:, found.get_support(indices=True)])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", FORMS)
def test_missing_values_and_weights(form: Any, device: str) -> None:
    X, y = table(3000)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 8] = np.nan
    X[5, 3] = 1e4  # clipped
    weight = rng.uniform(0.5, 2.0, len(y))
    expected = form(4, random_state=0).fit(X, y, sample_weight=weight)
    found = form(4, random_state=0).fit(torch.as_tensor(X, device=device), y, sample_weight=torch.as_tensor(weight))
    assert_same(found, expected)


@pytest.mark.parametrize("device", DEVICES)
def test_single_precision_stays_single(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(5000, dtype=np.float32)
    multiplied = set()
    add_gram = TorchKernels.add_gram

    def seen(self: TorchKernels, total: Any, A: Any, weight: Any) -> None:
        multiplied.add((A.dtype, total.dtype))
        add_gram(self, total, A, weight)

    monkeypatch.setattr(TorchKernels, "add_gram", seen)
    found = EasyFS(3, random_state=0).fit(torch.as_tensor(X, device=device), y)
    assert multiplied == {(torch.float32, torch.float64)}
    assert_same(found, EasyFS(3, random_state=0).fit(X, y), 1e-3)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_the_ranking_is_summed_where_the_tensor_is(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes, too, which have sums of their own: no more than the sample comes to the processor."""
    X, values = table(25_000)
    came = []
    brought = engine.to_host

    def counted(values: Any) -> Any:
        came.append(len(values) if is_tensor(values) else 0)
        return brought(values)

    monkeypatch.setattr(engine, "to_host", counted)
    y = values if kind == "numbers" else np.where(values > 0, "up", "down")
    EasyFSRanking(3, random_state=0).fit(torch.as_tensor(X), y)
    assert max(came) <= SAMPLE_ROWS


def test_what_is_wrong_is_named() -> None:
    X, y = table(50)
    bad = torch.as_tensor(X).clone()
    bad[3, 4] = float("inf")
    with pytest.raises(ValueError, match="column 4 has infinite values"):
        EasyFS(2).fit(bad, y)
    with pytest.raises(ValueError, match="49 entries"):
        EasyFS(2).fit(torch.as_tensor(X), y[:49])
    with pytest.raises(TypeError, match="complex numbers"):
        EasyFS(2).fit(torch.as_tensor(X).to(torch.complex64), y)
    with pytest.raises(ValueError, match=r"0 sample"):
        EasyFS(2).fit(torch.as_tensor(X)[:0], y[:0])
    fitted = EasyFS(2, random_state=0).fit(torch.as_tensor(X), y)
    with pytest.raises(ValueError, match="features"):
        fitted.transform(torch.as_tensor(X[:, :4]))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", FORMS)
def test_a_table_in_memory_is_summed_up_on_the_device_that_is_named(form: Any, device: str) -> None:
    X, y = table(2000)
    X[::7, 3] = np.nan
    expected = form(3, random_state=0).fit(X, y)
    assert_same(form(3, device=device, random_state=0).fit(X, y), expected)
    rows = pa.table({**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
    assert_same(form(3, device=device, random_state=0).fit(pads.dataset(rows), "y"), expected)
    blocks = form(3, device=device, random_state=0).partial_fit(X[:1500], y[:1500]).partial_fit(X[1500:], y[1500:])
    assert_same(blocks, form(3, random_state=0).partial_fit(X[:1500], y[:1500]).partial_fit(X[1500:], y[1500:]))


def test_a_device_that_is_not_there_is_said() -> None:
    X, y = table(100)
    for rows in (X, torch.as_tensor(X)):
        with pytest.raises(ValueError, match=r"device='tpu' cannot be used"):
            EasyFS(device="tpu").fit(rows, y)


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_weight_zero_are_left_out(device: str) -> None:
    X, y = table(600)
    label = np.where(y > np.quantile(y, 0.8), "high", np.where(y > np.median(y), "middle", "low"))
    for target, weight in ((y, np.arange(600) % 3.0), (label, np.where(label == "high", 0.0, 2.0))):
        found = EasyFS(3, random_state=0).fit(torch.as_tensor(X, device=device), target, weight)
        assert_same(found, EasyFS(3, random_state=0).fit(X, target, weight))
        assert found.n_rows_ == np.count_nonzero(weight)


def test_names_and_sparse_tensors_are_refused_in_plain_words() -> None:
    X = torch.eye(20, dtype=torch.float64)
    with pytest.raises(ValueError, match="y='Y' names a column, but X has no column names"):
        EasyFS(2).fit(X, "Y")
    with pytest.raises(TypeError, match="sparse tensor"):
        EasyFS(2).fit(X.to_sparse(), np.arange(20.0))


def odd_table(n: int, rng: np.random.Generator, dtype: Any) -> np.ndarray:
    """Columns of every kind that a scaling may meet, far more rows than columns."""
    X = rng.standard_normal((n, 12)) * 10.0 ** rng.integers(-3, 4, 12) + 10.0 ** rng.integers(-2, 5, 12)
    X[:, 1], X[:, 2], X[:, 3] = 0.0, 0.1, np.nan  # constants, and nothing at all
    X[rng.random(n) < 0.3, 4] = np.nan
    X[1:, 5] = np.nan
    X[:3, 6] *= 1e4  # a few rows make nearly all of the spread
    X[:, 7] = rng.random(n) < 0.01
    X[:, 8] = np.exp(4.0 * rng.standard_normal(n))
    return X.astype(dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clip", [4.0, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_device_measures_as_the_processor_does(dtype: Any, clip: float, weighted: bool, device: str) -> None:
    kernels = TorchKernels(torch.device(device))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = odd_table(2000, rng, dtype)
        weight = rng.uniform(0.5, 3.0, len(X)) if weighted else None
        expected, rows, seen = NUMPY.measure(X, weight, clip)
        found, held, observed = kernels.measure(torch.as_tensor(X, device=device), weight, clip)
        rel = 1e-9 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(found.center, expected.center, rtol=rel)
        np.testing.assert_allclose(found.scale, expected.scale, rtol=rel)
        np.testing.assert_array_equal(found.constant, expected.constant)
        np.testing.assert_array_equal(found.unseen, expected.unseen)
        assert found.dtype == expected.dtype == held.dtype
        np.testing.assert_allclose(observed, seen, rtol=1e-12)
        chosen = rng.permutation(len(X))[:100]
        np.testing.assert_allclose(held[chosen], rows[chosen], rtol=1e-3 if dtype == np.float32 else 1e-7, atol=1e-4)
        assert held.shape == X.shape


@pytest.mark.parametrize("size", [1e-180, 1e190])
def test_squares_that_do_not_fit_are_left_to_the_processor(size: float) -> None:
    X = odd_table(500, np.random.default_rng(0), np.float64)
    X[:, 9] = size * np.random.default_rng(1).standard_normal(500)
    expected, rows, _ = NUMPY.measure(X, None, 4.0)
    found, held, _ = TorchKernels(torch.device("cpu")).measure(torch.as_tensor(X), None, 4.0)
    np.testing.assert_array_equal(found.scale, expected.scale)
    np.testing.assert_array_equal(held[np.arange(500)], rows)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("form", "options"),
    [
        *((form, options) for form in FORMS for options in ({}, {"n_features_to_select": "cv"}, {"n_hidden": 1})),
        (EasyFS, {"adjust_for": [1]}),
    ],
)
def test_a_sample_that_stays_on_the_device_gives_the_same_answer(
    monkeypatch: pytest.MonkeyPatch, form: Any, options: dict[str, Any], device: str
) -> None:
    monkeypatch.setattr("easyfs.engines.torch.stays", lambda rows: True)  # a processor stands in for a device
    X, y = table(25_000, 60)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 8], X[:4, 3] = 1.0, 1e4
    weight = rng.uniform(0.5, 2.0, len(y))
    settings = {"n_features_to_select": 4, "random_state": 0} | options
    expected = form(**settings).fit(X, y, sample_weight=weight)
    found = form(**settings).fit(torch.as_tensor(X, device=device), y, sample_weight=weight)
    assert_same(found, expected)


@pytest.mark.parametrize("kind", ["uint32", "uint64"])
def test_large_whole_numbers_keep_their_digits(kind: str) -> None:
    rng = np.random.default_rng(0)
    Z = (1_760_000_000 + rng.integers(0, 60, (3000, 4))).astype(kind)
    y = Z[:, 1] - 1_760_000_000.0 + rng.standard_normal(3000)
    memory = EasyFS(2, random_state=0).fit(Z, y)
    assert memory.order_[0] == 1
    assert_same(EasyFS(2, random_state=0).fit(torch.from_numpy(Z), torch.from_numpy(y)), memory)


def test_targets_and_blocks_of_odd_tensors() -> None:
    X, y = table(300)
    memory = EasyFS(2, random_state=0).fit(X, torch.tensor(y).bfloat16().float().numpy())
    assert_same(EasyFS(2, random_state=0).fit(X, torch.tensor(y).bfloat16()), memory)
    single = torch.complex(torch.zeros(300), torch.tensor(-y).float()).conj().imag  # with its negative bit set
    assert_same(EasyFS(2, random_state=0).fit(X, single), EasyFS(2, random_state=0).fit(X, y.astype(np.float32)))
    first = EasyFS(2, random_state=0).partial_fit(X, y)
    assert_same(EasyFS(2, random_state=0).partial_fit(torch.tensor(X, requires_grad=True), torch.tensor(y)), first)
