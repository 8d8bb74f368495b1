"""The target matrix of the sequential form, as products with the inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfs.common.types import Array
from easyfs.passes.plan import Plan
from easyfs.stages.adjusting import Beyond, Products
from easyfs.stages.relevance import explained_share, orthonormal_basis


@dataclass(frozen=True, eq=False)
class TargetMatrix:
    """Products of the standardised inputs with ``Z``, divided by the root of the number of rows.

    Attributes
    ----------
    P : ndarray of shape (d, m)
        With all of ``Z``: the target, what of it can be predicted, the sketch of all inputs.
    Y : ndarray of shape (d, r)
        With an orthonormal basis of the target alone.
    n_supervised : int
        Columns of ``P`` that come from the target; the others are coverage.
    weight : float
        Share of the target in the energy of ``Z``.
    relevance : ndarray of shape (d,) or None
        Share of each input that the target explains; None without a target.
    """

    P: Array
    Y: Array
    n_supervised: int
    weight: float
    relevance: Array | None = None


def target_matrix(plan: Plan, moment: Products, n_rows: float, spread: Array, coverage: float) -> TargetMatrix:
    """Products with ``Z = [sqrt(1 - c) Y, sqrt(c) M_h]``.

    ``Y`` is an orthonormal basis of the targets, of which a share may be replaced by what a linear fit predicts of it, and
    ``M_h`` the sketch of all inputs. Each block has unit Frobenius norm; where one is absent, the other has all the weight.

    Parameters
    ----------
    n_rows : float
        Rows that the moment rests on.
    spread : ndarray of shape (d,)
        Standard deviation of each input, in the units of the plan's scaling.
    coverage : float
        ``c``, the weight of the sketch.
    """
    d = len(plan.live)
    weight = 1.0 - coverage if plan.sketch is not None else 1.0
    P, Y, relevance = np.zeros((d, 0)), np.zeros((d, 0)), None
    if plan.target.kind is None:
        weight = 0.0
    else:
        P, Y, relevance = _supervised(plan, moment, n_rows)
        scale = (spread * np.sqrt(moment.weight))[:, None]
        P, Y = P / scale, Y / scale
    n_supervised = P.shape[1]
    if plan.sketch is None:
        return TargetMatrix(P, Y, n_supervised, weight, relevance)
    sketch = plan.sketch
    if sketch.shape[1] > d:  # only PP' matters
        sketch = np.asarray(np.linalg.qr(sketch.T, mode="r")).T
    joined = np.empty((d, n_supervised + sketch.shape[1]))
    np.multiply(P, np.sqrt(weight), out=joined[:, :n_supervised])
    np.multiply(sketch, (np.sqrt(1.0 - weight) / spread)[:, None], out=joined[:, n_supervised:])
    return TargetMatrix(joined, Y, n_supervised, weight, relevance)


def _supervised(plan: Plan, moment: Products, n_rows: float) -> tuple[Array, Array, Array]:
    """Raw products with the block of the target, of unit energy, and with the target itself; relevance of each input."""
    d = len(plan.live)
    targets = np.arange(d + plan.network.n_extra, moment.p)
    with_targets = moment.columns(targets)
    before = moment.before(targets) if isinstance(moment, Beyond) else None
    classes = plan.target.kind == "classes"
    basis = orthonormal_basis(with_targets[targets], classes=classes, dtype=moment.dtype, before=before)
    Y = with_targets[:d] @ basis
    relevance = explained_share(Y, moment.diag()[:d])
    predicted, share = _predicted(plan, moment, n_rows, basis)
    P = np.concatenate([np.sqrt((1.0 - share) / max(1, Y.shape[1])) * Y, np.sqrt(share) * predicted], axis=1)
    return P, Y, relevance


def _predicted(plan: Plan, moment: Products, n_rows: float, basis: Array) -> tuple[Array, float]:
    """Products of the inputs with what a linear fit predicts of the target, of unit energy, and its share of the weight.

    A noisy target makes columns look good that fit its noise; what is predicted has less of it. The more rows there are
    beyond those of the fit, the better the target itself tells.
    """
    d = len(plan.live)
    nothing = np.zeros((d, 0)), 0.0
    if plan.fitted is None or not basis.shape[1]:
        return nothing
    n_fitted = min(len(basis), plan.fitted.coefficients.shape[1])  # classes that appeared later were not fitted
    mixture = np.zeros((moment.p, basis.shape[1]))
    mixture[:d] = plan.fitted.coefficients[:, :n_fitted] @ basis[:n_fitted]
    product = moment.product(mixture)
    energy = float(np.sum(mixture[:d] * product[:d]))
    if energy <= 0.0:
        return nothing
    return product[:d] / np.sqrt(energy), plan.fitted.share * min(1.0, plan.fitted.n_rows / n_rows)
