"""LassoNet: the proximal operator against slow code and reference numbers, the path, and planted columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from easyfs.baselines.lassonet import LassoNetSelector
from easyfs.baselines.penalty_path import Path, hier_prox
from easyfs.baselines.progress import Progress

from .parity import cases, load
from .test_stg import five_of_fifty, take_torch_away

QUICK = {"path_multiplier": 1.3, "max_iter": (30, 5)}


def sorted_prox(v: np.ndarray, u: np.ndarray, lam: float, lambda_bar: float, M: float) -> tuple[np.ndarray, np.ndarray]:
    """The paper's way for one column: try every number of hidden weights that meet their bound."""
    size = np.sort(np.abs(u))[::-1]
    norm, k = np.linalg.norm(v), len(u)
    soft = np.append(np.maximum(size - lambda_bar, 0.0), 0.0)
    bounds, factors = [], []
    for s in range(k + 1):
        factors.append(max(0.0, 1.0 - (lam - M * (size[:s] - lambda_bar).sum()) / norm) / (1.0 + s * M**2))
        bounds.append(M * factors[s] * norm)
    # The k-th of these holds whenever all before it do not.
    s = sum(soft[i] > bounds[i] for i in range(k + 1))
    return factors[s] * v, np.sign(u) * np.minimum(np.maximum(np.abs(u) - lambda_bar, 0.0), bounds[s])


def objective(b: Any, t: Any, v: Any, u: Any, lam: float, lambda_bar: float) -> float:
    squares = ((v - b) ** 2).sum() + ((u - t) ** 2).sum()
    return float(0.5 * squares + lam * np.linalg.norm(b) + lambda_bar * np.abs(t).sum())


# The proximal operator.


@pytest.mark.parametrize("stem", [stem for stem in cases("lassonet_prox") if "zeroskip" not in str(stem)])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_prox_matches_reference_numbers(stem: str, kind: str) -> None:
    stored = load(stem)
    v, u = stored["v"], stored["u"]
    if kind == "torch":
        import torch

        v, u = torch.from_numpy(v), torch.from_numpy(u)
    for i, lam in enumerate(stored["lambdas"].tolist()):
        for j, lambda_bar in enumerate(stored["lambda_bars"].tolist()):
            for k, M in enumerate(stored["Ms"].tolist()):
                b, t = hier_prox(v, u, lam, lambda_bar, M)
                np.testing.assert_allclose(np.asarray(b), stored["beta"][i, j, k], rtol=1e-9, atol=1e-12)
                np.testing.assert_allclose(np.asarray(t), stored["theta"][i, j, k], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stem", cases("lassonet_prox__zeroskip"))
def test_prox_of_zero_skip_weights_is_zero_as_in_the_reference(stem: str) -> None:
    stored = load(stem)
    for lam, ending in ((stored["params"]["lambda_"], ""), (0.0, "_lambda0")):
        b, t = hier_prox(stored["v"], stored["u"], lam, stored["params"]["lambda_bar"], stored["params"]["M"])
        np.testing.assert_allclose(b, stored[f"beta{ending}"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(t, stored[f"theta{ending}"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_prox_equals_the_sorted_search_and_is_the_minimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, k = rng.integers(1, 6), rng.integers(1, 12)
    v, u = rng.standard_normal((m, 30)), rng.standard_normal((k, 30)) * rng.choice([0.1, 1.0, 10.0])
    u[:, :3] = 0.0
    u[:, 3:6] = u[:1, 3:6]  # ties
    for lam in (0.0, 0.3, 3.0):
        for lambda_bar in (0.0, 0.2):
            for M in (0.0, 0.1, 1.0, 10.0):
                b, t = hier_prox(v, u, lam, lambda_bar, M)
                assert (np.abs(t) <= M * np.linalg.norm(b, axis=0) * (1 + 1e-12) + 1e-15).all()
                for j in range(30):
                    slow = sorted_prox(v[:, j], u[:, j], lam, lambda_bar, M)
                    np.testing.assert_allclose(b[:, j], slow[0], rtol=1e-10, atol=1e-12)
                    np.testing.assert_allclose(t[:, j], slow[1], rtol=1e-10, atol=1e-12)
                j = int(rng.integers(30))
                norm = np.linalg.norm(v[:, j])
                soft = np.sign(u[:, j]) * np.maximum(np.abs(u[:, j]) - lambda_bar, 0.0)

                def at(x: float, j: int = j, lam: float = lam, a: float = lambda_bar, M: float = M, t: Any = soft) -> float:
                    b = x * v[:, j] / np.linalg.norm(v[:, j])
                    return objective(b, np.clip(t, -M * x, M * x), v[:, j], u[:, j], lam, a)

                high = norm + M * np.abs(u[:, j]).sum()
                searched = minimize_scalar(at, bounds=(0.0, high), method="bounded", options={"xatol": 1e-10})
                found = objective(b[:, j], t[:, j], v[:, j], u[:, j], lam, lambda_bar)
                assert found <= searched.fun + 1e-9 * max(1.0, abs(searched.fun))


def test_prox_is_zero_just_where_the_penalty_outweighs_all_weights() -> None:
    rng = np.random.default_rng(0)
    v, u, M = rng.standard_normal((2, 50)), rng.standard_normal((7, 50)), 3.0
    weight = np.linalg.norm(v, axis=0) + M * np.abs(u).sum(axis=0)
    for lam in np.quantile(weight, [0.1, 0.5, 0.9]):
        b, t = hier_prox(v, u, lam, 0.0, M)
        np.testing.assert_array_equal((b != 0).any(axis=0), weight > lam)
        np.testing.assert_array_equal((t != 0).any(axis=0), weight > lam)


def test_prox_without_hidden_weights_is_the_group_lasso() -> None:
    v = np.random.default_rng(0).standard_normal((3, 20))
    b, t = hier_prox(v, np.empty((0, 20)), 1.0, 0.0, 10.0)
    np.testing.assert_allclose(b, v * np.maximum(0.0, 1.0 - 1.0 / np.linalg.norm(v, axis=0)), atol=1e-14)
    assert t.shape == (0, 20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prox_ends_whatever_rounding_does(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e6):
        v = (scale * rng.standard_normal((4, 300))).astype(dtype)
        u = (scale * np.round(rng.standard_normal((100, 300)), 1)).astype(dtype)
        for lam in (0.0, 0.01 * scale, scale, 50.0 * scale):
            for M in (0.1, 1.0, 10.0, 1000.0):
                b, t = hier_prox(v, u, lam, 0.0, M)
                assert b.dtype == t.dtype == dtype
                exact, _ = hier_prox(v.astype(np.float64), u.astype(np.float64), lam, 0.0, M)
                np.testing.assert_allclose(b, exact, rtol=1e-3, atol=1e-3 * scale)


# The path.


def test_scores_follow_the_step_of_leaving_and_then_the_norm() -> None:
    path = Path(
        alphas=np.array([1.0, 2.0, 4.0]),
        n_features=np.array([3, 2, 0]),
        losses=np.zeros(3),
        errors=np.zeros(3),
        last_in=np.array([-1, 0, 1, 1, -1]),
        norms=np.array([0.2, 9.0, 0.1, 0.4, 0.1]),
    )
    scores = path.scores(1.0, 2.0)
    np.testing.assert_allclose(scores, [1.0, 2.0, 2.0 * 2**0.25, 4.0, 2**-0.5])
    np.testing.assert_array_equal(np.argsort(-scores), [3, 2, 1, 0, 4])


def test_the_sparsest_network_within_one_standard_error_is_taken() -> None:
    none = np.empty(0)
    losses, errors = np.array([0.9, 0.5, 0.45, 0.55, 0.7, 1.0]), np.array([0.01, 0.01, 0.12, 0.01, 9.0, 9.0])
    path = Path(np.arange(6.0), np.arange(6)[::-1], losses, errors, none, none)
    assert path.best() == 3
    assert Path(none, none, none, none, none, none).best() is None


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_five_true_columns_of_fifty_come_first(task: str, seed: int) -> None:
    X, y, columns = five_of_fifty(seed, task)
    selector = LassoNetSelector("auto", random_state=seed).fit(X, y)
    assert set(selector.order_[:5].tolist()) == columns
    assert set(selector.get_support(indices=True)) >= columns
    assert selector.n_features_ <= 25
    assert selector.stop_reason_ == "path_end"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_columns_that_matter_only_together_are_found(seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((800, 20))
    selector = LassoNetSelector("auto", random_state=seed, path_multiplier=1.1).fit(X, X[:, 4] * X[:, 11] > 0)
    assert set(selector.order_[:2].tolist()) == {4, 11}
    assert set(selector.get_support(indices=True)) >= {4, 11}


def test_without_hidden_part_columns_leave_where_the_lasso_drops_them() -> None:
    # M = 0 is a linear model; with orthogonal columns the lasso drops a column where lam is the gradient without it.
    rng = np.random.default_rng(0)
    n = 1000
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, 7))]))[0]
    X = np.sqrt(n) * basis[:, 1:]
    y = X @ [1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1] + 0.3 * rng.standard_normal(n)
    expected = 2.0 * np.abs(X.T @ (y - y.mean())) / (n * y.std())
    selector = LassoNetSelector(
        3, M=0.0, alpha_min=0.05, path_multiplier=1.03, validation_fraction=0.02, batch_size=n, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(selector.order_, np.arange(7))
    np.testing.assert_allclose(selector.scores_, expected, rtol=0.06)
    assert selector.alphas_[0] == 0.05


def test_the_path_is_told_of() -> None:
    X, y, _ = five_of_fifty(0, "regression", n=300)
    seen: list[Progress] = []
    selector = LassoNetSelector("auto", random_state=0, progress=seen.append, **QUICK).fit(X, y)
    np.testing.assert_allclose(selector.alphas_[1:] / selector.alphas_[:-1], 1.3)
    steps = [state for state in seen if state.step]
    assert [state.step for state in steps] == list(range(1, len(selector.alphas_) + 1))
    np.testing.assert_array_equal([state.n_features for state in steps], selector.path_n_features_)
    np.testing.assert_allclose([state.loss for state in steps], selector.validation_losses_)
    assert {state.n_features for state in seen if not state.step} == {50}
    assert selector.path_n_features_[-1] == 0
    assert (selector.path_n_features_[:-1] > 0).all()
    silent = LassoNetSelector("auto", random_state=0, **QUICK).fit(X, y)
    np.testing.assert_array_equal(silent.scores_, selector.scores_)
    # The last column to leave has left at the last penalty, and no score is beyond it.
    np.testing.assert_allclose(selector.scores_.max(), selector.alphas_[-1])


def test_labels_and_several_targets() -> None:
    X = np.random.default_rng(0).standard_normal((400, 10))
    labels = np.column_stack([X[:, 2] > 0, X[:, 7] > 0.3, np.arange(400) < 0]).astype(int)  # no row has the last label
    selector = LassoNetSelector(2, random_state=0, **QUICK).fit(X, labels)
    assert selector.task_ == "classification"
    assert set(selector.get_support(indices=True)) == {2, 7}
    targets = np.column_stack([X[:, 2], 1e6 * X[:, 7] + 1e9, np.full(400, 3.5)])  # the last does not vary
    selector = LassoNetSelector(2, random_state=0, **QUICK).fit(X, targets)
    assert set(selector.get_support(indices=True)) == {2, 7}


@pytest.mark.parametrize(
    "settings", [{"hidden_layer_sizes": (20, 10, 5)}, {"dropout": 0.3}, {"l2_regularization": 0.001}, {"batch_size": 32}]
)
def test_other_networks_find_planted_columns_and_follow_the_seed(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = X[:, 3] + np.abs(X[:, 8]) + 0.1 * rng.standard_normal(300)
    first, again = (LassoNetSelector(2, random_state=0, **QUICK | settings).fit(X, y) for _ in range(2))
    assert set(first.get_support(indices=True)) == {3, 8}
    np.testing.assert_array_equal(first.scores_, again.scores_)
    assert not np.array_equal(first.scores_, LassoNetSelector(2, random_state=1, **QUICK | settings).fit(X, y).scores_)


def test_wide_tables_and_copies() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.standard_normal((60, 400))
    X[:, :5] += 3.0 * (y[:, None] == 1)
    X[:, 5:10] += 3.0 * (y[:, None] == 2)
    X = np.hstack([X, X[:, :2]])
    selector = LassoNetSelector(10, random_state=0).fit(X, y)
    assert np.isin(selector.get_support(indices=True), [*range(10), 400, 401]).sum() >= 9


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_tiny_tables(task: str, n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 3)), np.arange(n) % 2 if task == "classification" else np.arange(n) * 1.5
    selector = LassoNetSelector("auto", task=task, random_state=0, max_iter=(5, 2), path_multiplier=1.5).fit(X, y)
    assert np.isfinite(selector.scores_).all()
    assert selector.stop_reason_ == "path_end"


def test_hostile_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6))
    y = X[:, 0] + 0.1 * rng.standard_normal(600)
    y[11] = 50.0
    X[:, 1] = 1e-100 * X[:, 1]
    X[:, 2] = 1e100 * X[:, 2] + 1e101
    X[:, 3] = 0.0
    X[11, 3] = 1e6  # one row is all there is to it, and that row's target lies far out
    X[::2, 4] = np.nan
    selector = LassoNetSelector(1, random_state=0, **QUICK, batch_size=64).fit(X, y)
    assert np.isfinite(selector.scores_).all()
    assert np.isfinite(selector.validation_losses_).all()
    assert selector.order_[0] == 0


def test_a_column_that_is_seen_in_a_row_set_aside_only() -> None:
    X, y = np.zeros((20, 1)), np.arange(20.0)
    X[19] = 1.0
    for seed in range(5):
        selector = LassoNetSelector(1, task="regression", random_state=seed, **QUICK).fit(X, y)
        assert np.isfinite(selector.scores_).all()
        assert selector.stop_reason_ == "path_end"
        assert selector.path_n_features_[-1] == 0


def test_a_learning_rate_beyond_all_measure_is_named() -> None:
    X, y, _ = five_of_fifty(0, "regression", n=100)
    with pytest.raises(ValueError, match=r"learning_rate=1e\+30"):
        LassoNetSelector(learning_rate=1e30, random_state=0).fit(X, y)


def test_time_limit_orders_what_is_left_by_norm() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = X[:, 3] + X[:, 8] + 0.1 * rng.standard_normal(300)
    at_once = LassoNetSelector("auto", random_state=0, time_limit=0.0).fit(X, y)
    assert at_once.stop_reason_ == "time_limit"
    assert len(at_once.alphas_) == 0
    assert at_once.n_features_ == 12  # a network without penalty leaves none out
    soon = LassoNetSelector(2, random_state=0, time_limit=0.3, path_multiplier=1.0001).fit(X, y)
    assert soon.stop_reason_ == "time_limit"
    assert set(soon.get_support(indices=True)) == {3, 8}


def test_what_progress_raises_ends_the_fit_and_leaves_nothing_behind() -> None:
    import torch

    X, y, _ = five_of_fifty(0, "regression", n=200)
    before, state_before = torch.get_num_threads(), torch.get_rng_state()

    def stop(state: Progress) -> None:
        if state.step == 3:
            raise KeyboardInterrupt

    selector = LassoNetSelector(5, random_state=0, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert torch.get_num_threads() == before
    assert not selector.__sklearn_is_fitted__()
    np.testing.assert_array_equal(torch.get_rng_state().numpy(), state_before.numpy())


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    take_torch_away(monkeypatch)
    with pytest.raises(ImportError, match=r"LassoNetSelector needs .*easyfs-ml\[torch\]"):
        LassoNetSelector().fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("M", -1.0),
        ("alpha_min", 0.0),
        ("alpha_min", "first"),
        ("path_multiplier", 1.0),
        ("l2_regularization", -0.1),
        ("dropout", 1.0),
        ("hidden_layer_sizes", ()),
        ("learning_rate", 0.0),
        ("max_iter", 100),
        ("max_iter", (100,)),
        ("max_iter", (100, 0)),
        ("n_iter_no_change", (0, 1)),
        ("batch_size", 2.5),
        ("validation_fraction", 0.9),
        ("time_limit", "1 s"),
        ("progress", 1),
        ("device", "toaster"),
    ],
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        LassoNetSelector(**{name: value}).fit(np.eye(4), [0, 1, 0, 1])
