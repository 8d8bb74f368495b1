"""Statistics of blocks of rows add up; the plan they belong to; and they travel as arrays."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from easyfs.base.result import Found
from easyfs.passes import summarise as module
from easyfs.passes.block import Block
from easyfs.passes.plan import FittedTarget, Plan, TargetCoding
from easyfs.passes.settings import RankingPlan, SequentialPlan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise
from easyfs.stages.expansion import Network, draw_enhancement, draw_hidden
from easyfs.sums.measuring import measure_scaling
from easyfs.tables.target import Target

D = 5
LABELS = ("a", "b", "c")
SETTINGS = {
    False: SequentialPlan(3, interactions=True, predicted_share=0.5, coverage_power=1.0, clip=np.inf),
    True: RankingPlan(3, 6, 3, 2, clip=np.inf, literal=False),
}


def table(n, *, kind="values", seed=0, missing=0.0):
    """Rows with a target: two columns of values, or labels, or none."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)) * [1.0, 5.0, 0.1, 2.0, 1.0] + [0.0, 3.0, -1.0, 0.0, 8.0]
    X[rng.random(X.shape) < missing] = np.nan
    if kind is None:
        return X, None
    if kind == "classes":
        return X, np.array(LABELS)[rng.integers(len(LABELS), size=n)]
    return X, rng.standard_normal((n, 2)) * [2.0, 30.0] + 1.0


def target_of(y):
    if y is None:
        return Target(None, None, None)
    if y.ndim == 2:
        return Target("regression", "values", y)
    classes, codes = np.unique(y, return_inverse=True)
    return Target("classification", "classes", codes, classes)


def block_of(X, y, weight=None):
    return Block(X, target_of(y), weight)


def plan_for(X, y, *, by_class=False, seed=0, n_rounds=2, classes=LABELS):
    rng = np.random.default_rng(seed)
    scaling = measure_scaling(X)
    live = ~scaling.constant
    hidden = draw_hidden(3, live, rng)
    network = Network(X.shape[1], hidden, draw_enhancement(6, 3, live, 3, n_rounds, rng), n_rounds)
    if y is None or y.ndim == 1:
        empty = np.zeros(0)
        coding = (
            TargetCoding(None, (), empty, empty, empty) if y is None else TargetCoding("classes", classes, *[empty] * 3)
        )
    else:
        coding = TargetCoding("values", (), y.mean(axis=0), y.std(axis=0), np.full(y.shape[1], np.inf))
    return Plan(scaling, network, live, coding, SETTINGS[by_class])


def columns_of(plan, X, y, labels):
    """The matrix whose moments are summed: scaled inputs, nodes, targets."""
    scaled = np.nan_to_num((X - plan.scaling.center) / plan.scaling.scale)
    targets = np.zeros((len(X), 0))
    if y is not None and y.ndim == 2:
        targets = (y - plan.target.center) / plan.target.scale
    elif y is not None:
        targets = (y[:, None] == np.array(labels)).astype(float)
    return np.column_stack([scaled, plan.network.expand(scaled), targets])


def assert_moment(moment, A, weight=None):
    w = np.ones(len(A)) if weight is None else weight
    mean = w @ A / w.sum()
    gram = (A - mean).T @ (w[:, None] * (A - mean))
    assert moment.n_rows == len(A)
    assert moment.weight == pytest.approx(w.sum())
    np.testing.assert_allclose(moment.mean, mean, atol=1e-9)
    np.testing.assert_allclose(moment.gram(), gram, atol=1e-9 * max(1.0, np.abs(gram).max()))


def assert_statistics(stats, plan, X, y, weight=None):
    """All that the statistics hold is what the plain formulas give for the whole table."""
    w = np.ones(len(X)) if weight is None else weight
    A = columns_of(plan, X, y, stats.labels)
    np.testing.assert_allclose(stats.observed, w @ ~np.isnan(X), rtol=1e-12)
    assert stats.n_rows == len(X)
    assert_moment(stats.joint(), A, weight)
    if plan.by_class:
        assert {stats.labels[key] for key in stats.moments} == set(np.unique(y))
        for key, moment in stats.moments.items():
            rows = y == stats.labels[key]
            assert_moment(moment, A[rows, : A.shape[1] - len(stats.labels)], None if weight is None else weight[rows])


CASES = [("values", False), ("classes", False), ("classes", True), (None, False)]


@pytest.mark.parametrize(("kind", "by_class"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [12, 200, 70_000])  # kept, folded, and more blocks than one task takes
@pytest.mark.parametrize("order", ["C", "F"])
def test_inputs_nodes_and_targets_are_summed(n, weighted, kind, by_class, order):
    X, y = table(n, kind=kind, missing=0.1)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, n) if weighted else None
    plan = plan_for(X, y, by_class=by_class)
    assert_statistics(summarise(plan, block_of(np.array(X, order=order), y, weight)), plan, X, y, weight)


@settings(max_examples=40)
@given(
    case=st.sampled_from(CASES),
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=5),
    backwards=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_sums_of_blocks_are_the_sums_of_the_table_whatever_the_order(case, sizes, backwards, seed):
    kind, by_class = case
    X, y = table(sum(sizes) + 6, kind=kind, seed=seed, missing=0.1)
    plan = plan_for(X, y, by_class=by_class, seed=seed, classes=LABELS[:1])
    cuts = [cut for cut in np.split(np.arange(len(X)), np.cumsum(sizes)) if len(cut)]
    parts = [summarise(plan, block_of(X[cut], None if y is None else y[cut])) for cut in cuts]
    kept = [part.to_arrays() for part in parts]
    total = Statistics(parts[0].layout, parts[0].labels)
    for part in reversed(parts) if backwards else parts:
        total += part
    joined = parts[0]
    for part in parts[1:]:
        joined = part + joined if backwards else joined + part
    for stats in (total, joined):
        assert_statistics(stats, plan, X, y)
    for part, before in zip(parts, kept, strict=True):  # nothing that was added has changed
        for name, array in part.to_arrays().items():
            np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(("kind", "by_class"), CASES)
@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("n", [12, 300])
def test_statistics_travel_as_arrays(n, thin, kind, by_class):
    X, y = table(n, kind=kind)
    plan = plan_for(X, y, by_class=by_class)
    stats = summarise(plan, block_of(sparse.csr_array(X) if thin else X, y))
    arrays = {name: np.array(array) for name, array in stats.to_arrays().items()}
    assert all(array.dtype != object for array in arrays.values())
    found = Statistics.from_arrays(arrays)
    assert found.layout == stats.layout
    assert found.labels == stats.labels
    assert_statistics(found, plan, X, y)
    assert_statistics(found + stats, plan, np.vstack([X, X]), None if y is None else np.concatenate([y, y]))


def test_sparse_rows_give_the_statistics_of_dense_rows():
    for n in (12, 60, 400):
        X, y = table(n)
        X = np.where(np.random.default_rng(2).random(X.shape) < 0.5, 0.0, X)
        plan = plan_for(X, y)
        assert_statistics(summarise(plan, block_of(sparse.csr_array(X), y)), plan, X, y)


def test_statistics_of_two_plans_refuse_to_add_up():
    X, y = table(30)
    first, second = (summarise(plan_for(X, y, seed=seed), block_of(X, y)) for seed in (0, 1))
    with pytest.raises(ValueError, match="cannot be added up"):
        first + second
    assert first.n_rows == 30


def test_statistics_of_two_equal_plans_add_up():
    X, y = table(30)
    plan = plan_for(X, y)
    total = summarise(plan, block_of(X[:10], y[:10])) + summarise(plan_for(X, y), block_of(X[10:], y[10:]))
    assert_statistics(total, plan, X, y)


def test_identities_of_equal_plans_are_equal_and_of_other_seeds_are_not():
    X, y = table(30)
    found = [plan_for(X, y, seed=seed).identity for seed in range(5)]
    assert found == [plan_for(X, y, seed=seed).identity for seed in range(5)]
    assert len(set(found)) == 5


def test_the_identity_tells_every_part_of_the_plan():
    X, y = table(30)
    plan = plan_for(X, y)
    network, target = plan.network, plan.target
    rewired = network.enhancement.copy()
    rewired.indptr = rewired.indptr.copy()
    rewired.indptr[1] -= 1  # the last connection of the first node goes to the second
    others = [
        replace(plan, scaling=replace(plan.scaling, center=plan.scaling.center + 1e-9)),
        replace(plan, scaling=replace(plan.scaling, scale=plan.scaling.scale * 2)),
        replace(plan, scaling=replace(plan.scaling, dtype=np.dtype(np.float32))),
        replace(plan, live=~plan.live),
        replace(plan, target=replace(target, kind="classes")),
        replace(plan, target=replace(target, center=target.center + 1.0)),
        replace(plan, target=replace(target, scale=target.scale * 2.0)),
        replace(plan, target=replace(target, reach=np.full(target.n_values, 4.0))),
        replace(plan, target=replace(target, classes=("a", "b"))),
        replace(plan, target=replace(target, kind="classes"), settings=SETTINGS[True]),
        replace(plan, scaling=replace(plan.scaling, clip=4.0)),
        replace(plan, network=replace(network, n_rounds=3)),
        replace(plan, network=replace(network, hidden=network.hidden * 2)),
        replace(plan, network=replace(network, enhancement=network.enhancement * 2)),
        replace(plan, network=replace(network, enhancement=rewired)),
    ]
    assert len({other.identity for other in (plan, *others)}) == 1 + len(others)


def test_what_was_learnt_on_the_sample_does_not_change_the_sums() -> None:
    X, y = table(30)
    plan = plan_for(X, y)
    learnt = replace(
        plan,
        sketch=np.ones((D, 2)),
        found=(Found((0, 1), 0.2, 1e-4),),
        fitted=FittedTarget(np.full((D, 2), 2.0), 30.0, 0.5, 1.0),
    )
    assert learnt.identity == plan.identity == learnt.light().identity
    assert learnt.light().sketch is None


@pytest.mark.parametrize("by_class", [False, True])
def test_whole_weights_count_rows_and_others_do_not(by_class):
    X, y = table(40, kind="classes")
    plan = plan_for(X, y, by_class=by_class)
    whole, broken = np.arange(40) % 3 + 1.0, np.full(40, 0.5)

    def seen(*weights):
        parts = [summarise(plan, block_of(X, y, weight)) for weight in weights]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total.n_counted

    assert seen(None) == 40
    assert seen(whole) == whole.sum()
    assert seen(None, whole) == 40 + whole.sum()
    assert seen(broken) == 40
    assert seen(whole, broken) == 80
    assert seen(broken, whole) == 80


@pytest.mark.parametrize(("kind", "by_class"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_tables_of_many_rows_are_summed_in_blocks(weighted, kind, by_class, monkeypatch):
    n = 500
    X, y = table(n, kind=kind, missing=0.05)
    X = np.where(np.random.default_rng(4).random(X.shape) < 0.5, 0.0, X)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, n) if weighted else None
    plan = plan_for(X, y, by_class=by_class)
    sizes = []
    beside = module._beside

    def counted(plan, inputs, *rest):
        sizes.append(inputs.shape[0])
        return beside(plan, inputs, *rest)

    monkeypatch.setattr(module, "_beside", counted)
    monkeypatch.setattr(module, "DENSE_BYTES", 1)
    found = summarise(plan, block_of(sparse.csr_array(X), y, weight))
    assert sum(sizes) == n
    assert len(sizes) > 3
    assert_statistics(found, plan, X, y, weight)
