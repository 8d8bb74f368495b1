"""Statistics over blocks of rows: adding, merging, recoding of classes, and the plan they belong to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from easyfs.base.result import Found
from easyfs.passes.plan import FittedTarget, Plan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import gather
from easyfs.stages.expansion import Network, draw_enhancement, draw_hidden
from easyfs.sums.measuring import measure_scaling

D, N_CLASSES = 5, 3


def table(n, *, kind="values", seed=0, missing=0.0):
    """Rows with a target: two columns of values, or class codes, or none."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)) * [1.0, 5.0, 0.1, 2.0, 1.0] + [0.0, 3.0, -1.0, 0.0, 8.0]
    X[rng.random(X.shape) < missing] = np.nan
    if kind is None:
        return X, None
    y = rng.integers(N_CLASSES, size=n) if kind == "classes" else rng.standard_normal((n, 2)) * [2.0, 30.0] + 1.0
    return X, y


def plan_for(X, y, *, kind="values", by_class=False, seed=0, n_rounds=2):
    rng = np.random.default_rng(seed)
    scaling = measure_scaling(X)
    live = ~scaling.constant
    hidden = draw_hidden(3, live, rng)
    network = Network(X.shape[1], hidden, draw_enhancement(6, 3, live, 3, n_rounds, rng), n_rounds)
    values = kind == "values"
    return Plan(
        scaling,
        network,
        live,
        kind,
        y.mean(axis=0) if values else np.zeros(0),
        y.std(axis=0) if values else np.zeros(0),
        np.full(y.shape[1], np.inf) if values else np.zeros(0),
        by_class=by_class,
    )


def columns_of(plan, X, y, n_targets):
    """The matrix whose moments are summed: scaled inputs, nodes, targets."""
    scaled = np.nan_to_num((X - plan.scaling.center) / plan.scaling.scale)
    if plan.target_kind == "classes":
        targets = np.eye(n_targets)[y]
    elif plan.target_kind == "values":
        targets = (y - plan.target_center) / plan.target_scale
    else:
        targets = np.zeros((len(X), 0))
    return np.column_stack([scaled, plan.network.expand(scaled), targets])


def assert_moment(moment, A, weight=None):
    w = np.ones(len(A)) if weight is None else weight
    mean = w @ A / w.sum()
    gram = (A - mean).T @ (w[:, None] * (A - mean))
    assert moment.n_rows == len(A)
    assert moment.weight == pytest.approx(w.sum())
    np.testing.assert_allclose(moment.mean, mean, atol=1e-9)
    np.testing.assert_allclose(moment.gram(), gram, atol=1e-9 * max(1.0, np.abs(gram).max()))


def assert_statistics(stats, plan, X, y, n_targets, weight=None):
    """All that the statistics hold is what the plain formulas give for the whole table."""
    w = np.ones(len(X)) if weight is None else weight
    A = columns_of(plan, X, y, n_targets)
    np.testing.assert_allclose(stats.observed, w @ ~np.isnan(X), rtol=1e-12)
    assert stats.n_rows == len(X)
    assert stats.n_targets == n_targets
    assert_moment(stats.joint(), A, weight)
    if plan.by_class:
        assert set(stats.moments) == set(np.unique(y))
        for code, moment in stats.moments.items():
            assert_moment(moment, A[y == code, : A.shape[1] - n_targets], None if weight is None else weight[y == code])


def targets_of(kind):
    return {"values": 2, "classes": N_CLASSES, None: 0}[kind]


CASES = [("values", False), ("classes", False), ("classes", True), (None, False)]


@pytest.mark.parametrize(("kind", "by_class"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [12, 200])
def test_adding_a_table_sums_inputs_nodes_and_targets(n, weighted, kind, by_class):
    X, y = table(n, kind=kind, missing=0.1)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, n) if weighted else None
    plan = plan_for(X, y, kind=kind, by_class=by_class)
    stats = Statistics(plan, targets_of(kind)).add(X, y, weight)
    assert_statistics(stats, plan, X, y, targets_of(kind), weight)


@settings(max_examples=40, deadline=None)
@given(
    case=st.sampled_from(CASES),
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    fold=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_blocks_and_merged_parts_equal_the_whole_table(case, sizes, fold, seed):
    kind, by_class = case
    X, y = table(sum(sizes) + 6, kind=kind, seed=seed, missing=0.1)
    plan = plan_for(X, y, kind=kind, by_class=by_class, seed=seed)
    blocks, merged = Statistics(plan, targets_of(kind)), Statistics(plan, targets_of(kind))
    for cut in np.split(np.arange(len(X)), np.cumsum(sizes)):
        part = X[cut], None if y is None else y[cut]
        blocks.add(*part)
        merged.merge(Statistics(plan, targets_of(kind), fold=fold).add(*part))
    for stats in (blocks, merged):
        assert_statistics(stats, plan, X, y, targets_of(kind))


def test_sparse_rows_give_the_statistics_of_dense_rows():
    X, y = table(60)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.5, 0.0, X)
    plan = plan_for(X, y)
    assert_statistics(Statistics(plan, 2).add(sparse.csr_array(X), y), plan, X, y, 2)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("fold", [False, True])
def test_classes_may_appear_in_later_blocks_and_in_either_part(fold, by_class):
    X, y = table(60, kind="classes")
    y = np.sort(y)
    plan = plan_for(X, y, kind="classes", by_class=by_class)
    cuts = np.array_split(np.arange(60), 5)
    stats = Statistics(plan, 1, fold=fold)
    for cut in cuts:
        stats.add(X[cut], y[cut])
    assert_statistics(stats, plan, X, y, N_CLASSES)
    for order in ((0, -1), (-1, 0)):
        first, second = (Statistics(plan, 1, fold=fold).add(X[cuts[i]], y[cuts[i]]) for i in order)
        rows = np.concatenate([cuts[i] for i in order])
        assert_statistics(first.merge(second), plan, X[rows], y[rows], N_CLASSES)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("fold", [False, True])
def test_recoding_gives_the_statistics_of_the_recoded_classes(fold, by_class):
    X, y = table(50, kind="classes")
    plan = plan_for(X, y, kind="classes", by_class=by_class)
    for codes, n_targets in (([2, 0, 1], 3), ([1, 4, 0], 5)):
        stats = Statistics(plan, N_CLASSES, fold=fold).add(X, y)
        stats.recode(np.array(codes), n_targets)
        assert_statistics(stats, plan, X, np.array(codes)[y], n_targets)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("fold", [False, True])
def test_merging_leaves_the_other_statistics_as_they_were(fold, by_class):
    X, y = table(16, kind="classes")
    plan = plan_for(X, y, kind="classes", by_class=by_class)
    other = Statistics(plan, N_CLASSES, fold=fold).add(X, y)
    copy = Statistics(plan, N_CLASSES).merge(other)
    copy.recode(np.array([1, 4, 0]), 5)
    copy.add(X, np.array([1, 4, 0])[y])
    assert_statistics(other, plan, X, y, N_CLASSES)


def test_statistics_of_two_plans_refuse_to_merge():
    X, y = table(30)
    first, second = (Statistics(plan_for(X, y, seed=seed), 2).add(X, y) for seed in (0, 1))
    with pytest.raises(ValueError, match="cannot be merged"):
        first.merge(second)
    assert first.n_rows == 30


def test_statistics_of_two_equal_plans_merge():
    X, y = table(30)
    plan = plan_for(X, y)
    merged = Statistics(plan, 2).add(X[:10], y[:10]).merge(Statistics(plan_for(X, y), 2).add(X[10:], y[10:]))
    assert_statistics(merged, plan, X, y, 2)


def test_fingerprints_of_equal_plans_are_equal_and_of_other_seeds_are_not():
    X, y = table(30)
    prints = [plan_for(X, y, seed=seed).fingerprint for seed in range(5)]
    assert prints == [plan_for(X, y, seed=seed).fingerprint for seed in range(5)]
    assert len(set(prints)) == 5


def test_the_fingerprint_tells_every_part_of_the_plan():
    X, y = table(30)
    plan = plan_for(X, y)
    network = plan.network
    rewired = network.enhancement.copy()
    rewired.indptr = rewired.indptr.copy()
    rewired.indptr[1] -= 1  # the last connection of the first node goes to the second
    others = [
        replace(plan, scaling=replace(plan.scaling, center=plan.scaling.center + 1e-9)),
        replace(plan, scaling=replace(plan.scaling, scale=plan.scaling.scale * 2)),
        replace(plan, scaling=replace(plan.scaling, dtype=np.dtype(np.float32))),
        replace(plan, live=~plan.live),
        replace(plan, target_kind="classes"),
        replace(plan, target_center=plan.target_center + 1.0),
        replace(plan, target_scale=plan.target_scale * 2.0),
        replace(plan, target_reach=np.full(len(plan.target_scale), 4.0)),
        replace(plan, by_class=True),
        replace(plan, sketch=np.ones((D, 2))),
        replace(plan, classes=("a", "b")),
        replace(plan, found=(Found((0, 1), 0.2, 1e-4),)),
        replace(plan, found=(Found((0, 2), 0.2, 1e-4),)),
        replace(plan, fitted=FittedTarget(np.full((D, 2), 2.0), 30.0, 0.5, 1.0)),
        replace(plan, scaling=replace(plan.scaling, clip=4.0)),
        replace(plan, network=replace(network, n_rounds=3)),
        replace(plan, network=replace(network, hidden=network.hidden * 2)),
        replace(plan, network=replace(network, enhancement=network.enhancement * 2)),
        replace(plan, network=replace(network, enhancement=rewired)),
    ]
    assert len({other.fingerprint for other in (plan, *others)}) == 1 + len(others)


@pytest.mark.parametrize("by_class", [False, True])
def test_whole_weights_count_rows_and_others_do_not(by_class):
    X, y = table(40, kind="classes")
    plan = plan_for(X, y, kind="classes", by_class=by_class)
    whole, broken = np.arange(40) % 3 + 1.0, np.full(40, 0.5)

    def seen(*weights):
        stats = Statistics(plan, N_CLASSES)
        for weight in weights:
            stats.add(X, y, weight)
        return stats

    assert seen(None).n_counted == 40
    assert seen(whole).n_counted == whole.sum()
    assert seen(None, whole).n_counted == 40 + whole.sum()
    assert seen(broken).n_counted == 40
    assert seen(whole, broken).n_counted == 80
    assert seen(whole).merge(seen(None)).n_counted == 40 + whole.sum()
    assert seen(whole).merge(seen(broken)).n_counted == 80
    assert seen(broken).merge(seen(whole)).n_counted == 80


@pytest.mark.parametrize(("kind", "by_class"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gathering_a_tall_table_equals_adding_it_whole(weighted, kind, by_class):
    n = 70_000  # more blocks than one task takes
    X, y = table(n, kind=kind, missing=0.05)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, n) if weighted else None
    plan = plan_for(X, y, kind=kind, by_class=by_class)
    n_targets = targets_of(kind)
    gathered = gather(plan, X, y, weight, n_targets)
    whole = Statistics(plan, n_targets).add(X, y, weight)
    assert n > 2 * whole.width
    np.testing.assert_allclose(gathered.observed, whole.observed, rtol=1e-12)
    assert set(gathered.moments) == set(whole.moments)
    for key, moment in gathered.moments.items():
        assert moment.n_rows == whole.moments[key].n_rows
        np.testing.assert_allclose(moment.mean, whole.moments[key].mean, atol=1e-10)
        np.testing.assert_allclose(moment.gram(), whole.moments[key].gram(), rtol=1e-9, atol=1e-7)
    assert_statistics(gathered, plan, X, y, n_targets, weight)


def test_gathering_a_wide_or_a_sparse_table_equals_adding_it():
    X, y = table(12)
    plan = plan_for(X, y)
    assert_statistics(gather(plan, X, y, None, 2), plan, X, y, 2)
    X, y = table(400)
    X = np.where(np.random.default_rng(4).random(X.shape) < 0.5, 0.0, X)
    plan = plan_for(X, y)
    assert_statistics(gather(plan, sparse.csr_array(X), y, None, 2), plan, X, y, 2)


@pytest.mark.parametrize(("kind", "by_class"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gathering_a_sparse_table_of_many_rows_in_blocks(weighted, kind, by_class, monkeypatch):
    n = 500
    X, y = table(n, kind=kind, missing=0.05)
    X = np.where(np.random.default_rng(4).random(X.shape) < 0.5, 0.0, X)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, n) if weighted else None
    plan, n_targets = plan_for(X, y, kind=kind, by_class=by_class), targets_of(kind)
    sizes = []
    with_nodes = Plan.with_nodes

    def counted(self, inputs, *rest):
        sizes.append(inputs.shape[0])
        return with_nodes(self, inputs, *rest)

    monkeypatch.setattr(Plan, "with_nodes", counted)
    monkeypatch.setattr("easyfs.statistics.DENSE_BYTES", 1)
    found = gather(plan, sparse.csr_array(X), y, weight, n_targets)
    assert sum(sizes) == n
    assert len(sizes) > 3
    assert_statistics(found, plan, X, y, n_targets, weight)
