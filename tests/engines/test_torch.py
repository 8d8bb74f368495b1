"""Tensors of torch: the same answer as from numpy, with the sums made on the tensor's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
import torch

from easyfs import EasyFS, EasyFSRanking

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
def test_single_precision_stays_single(device: str) -> None:
    X, y = table(5000, dtype=np.float32)
    found = EasyFS(3, random_state=0).fit(torch.as_tensor(X, device=device), y)
    assert_same(found, EasyFS(3, random_state=0).fit(X, y), 1e-3)


def test_what_is_wrong_is_named() -> None:
    X, y = table(50)
    bad = torch.as_tensor(X).clone()
    bad[3, 4] = float("inf")
    with pytest.raises(ValueError, match="column 4 has infinite values"):
        EasyFS(2).fit(bad, y)
    with pytest.raises(ValueError, match="49 entries"):
        EasyFS(2).fit(torch.as_tensor(X), y[:49])
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
    with pytest.raises(ValueError, match=r"device='tpu' cannot be used"):
        EasyFS(device="tpu").fit(*table(100))


def test_names_and_sparse_tensors_are_refused_in_plain_words() -> None:
    X = torch.eye(20, dtype=torch.float64)
    with pytest.raises(ValueError, match="y='Y' names a column, but X has no column names"):
        EasyFS(2).fit(X, "Y")
    with pytest.raises(TypeError, match="sparse tensor"):
        EasyFS(2).fit(X.to_sparse(), np.arange(20.0))
