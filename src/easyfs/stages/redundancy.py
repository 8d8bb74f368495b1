"""Stage 3, redundancy: what each feature adds to the coding rate of all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from easyfs.common.threads import add_gram, block_slices, for_blocks, map_blocks
from easyfs.common.types import Array

# Columns solved for at a time: bounds the memory beside the factor itself.
SOLVE_COLUMNS = 256
# Matrices of more rows than this (34 MB) are added up in place rather than by one of their size for each thread.
LARGE_KERNEL = 2048
# Keep the factor of selected columns that include copies positive definite; the first that is enough is used.
COPY_JITTERS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def leave_one_out_gain(gram: Array, n: float, eps2: float) -> Array:
    """What the coding rate loses when each feature goes, ``Q_i = R(M) - R(M without i)`` (Eqs. redu_2 to redu_4).

    Large means that the others do not say it. With ``R(M) = 1/2 logdet(I + p / (n eps^2) M'M)`` (Eq. redu_1), all features
    at once, in closed form: ``Q_i = 1/2 [logdet(I + p/(n eps^2) M'M) - logdet G] - 1/2 log (G^-1)_ii`` with
    ``G = I + (p - 1)/(n eps^2) M'M`` (the reduced matrix has its own ``p - 1``, Eq. ap_4). The first part is the same for
    all features and is left out: the scores are min-max normalised.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        ``M'M`` of the features, centred and scaled as they are to be coded.
    n : float
        Number of rows.
    eps2 : float
        The squared precision ``eps^2``.

    Returns
    -------
    ndarray of shape (p,)
        ``-1/2 log (G^-1)_ii``.
    """
    return np.asarray(-0.5 * np.log(inverse_diagonal_primal(gram, (len(gram) - 1) / (n * eps2))))


def leave_one_out_gain_of_rows(columns: Callable[[slice], Array], shape: tuple[int, int], n: float, eps2: float) -> Array:
    """The same from fewer rows than features; ``columns`` gives columns of ``M``, whose shape is ``shape``."""
    return np.asarray(-0.5 * np.log(inverse_diagonal_dual(columns, shape, (shape[1] - 1) / (n * eps2))))


def inverse_diagonal_primal(gram: Array, alpha: float) -> Array:
    """Diagonal of ``(I + alpha M'M)^-1`` from ``M'M``: column sums of squares of the inverse Cholesky factor.

    The factor is lower triangular, so each block of columns only needs the rows below it. Where rounding (of a table of
    single precision with nearly dependent columns) has left ``I + alpha M'M`` without one, its eigenvalues are taken,
    none below 1.
    """
    p = len(gram)
    factor = gram * alpha
    factor[np.diag_indices(p)] += 1.0
    try:
        factor = _factor(factor)
    except LinAlgError:
        values, vectors = eigh(gram)
        return np.asarray(vectors**2 @ (1.0 / (1.0 + alpha * np.maximum(values, 0.0))))
    diagonal = np.empty(p)
    parts = block_slices(p, SOLVE_COLUMNS)

    def solve(place: int) -> None:
        # Forward, block of rows by block of rows: LAPACK would copy what it is given of the factor.
        first = parts[place]
        solved = np.zeros((p - first.start, first.stop - first.start))
        solved[np.diag_indices(first.stop - first.start)] = 1.0
        for part in parts[place:]:
            rows = slice(part.start - first.start, part.stop - first.start)
            if part is not first:
                np.matmul(factor[part, first.start : part.start], solved[: rows.start], out=solved[rows])
                np.negative(solved[rows], out=solved[rows])
            solved[rows] = solve_triangular(factor[part, part], solved[rows], lower=True, check_finite=False)
        diagonal[first] = np.einsum("ij,ij->j", solved, solved)

    for_blocks(solve, range(len(parts)))
    return diagonal


def inverse_diagonal_dual(columns: Callable[[slice], Array], shape: tuple[int, int], alpha: float) -> Array:
    """Diagonal of ``(I + alpha M'M)^-1`` from few rows: ``1 - alpha colsum(V * V)``, ``V = chol(I + alpha MM')^-1 M``.

    ``columns`` gives columns of ``M``, so that a sparse matrix is made dense a few columns at a time.
    """
    n, p = shape
    factor = np.zeros((n, n))
    parts = block_slices(p, SOLVE_COLUMNS)
    if n > LARGE_KERNEL:
        add_gram(factor, (columns(part).T for part in parts))
    else:
        for product in map_blocks(lambda part: (M := columns(part)) @ M.T, parts):
            factor += product
    factor *= alpha
    factor[np.diag_indices(n)] += 1.0
    factor = _factor(factor)
    diagonal = np.empty(p)

    def solve(part: slice) -> None:
        V = solve_triangular(factor, columns(part), lower=True, check_finite=False)
        diagonal[part] = 1.0 - alpha * np.einsum("ij,ij->j", V, V)

    for_blocks(solve, parts)
    return diagonal


def coded_shares(gram_rows: Array, selected: list[int], energy: Array) -> Array:
    """What each selected column says of every column beyond those before it.

    Parameters
    ----------
    gram_rows : ndarray of shape (k, d)
        ``X_S'X``: products of the selected columns with all columns.
    selected : list of int
        The selected columns, in order.
    energy : ndarray of shape (d,)
        Sum of squares of each column.

    Returns
    -------
    ndarray of shape (k, d), float32
        ``V`` with ``sum_{q < t} V_qj^2`` the share of column ``j`` that the first ``t`` selected columns explain.
    """
    root = np.sqrt(np.where(energy > 0, energy, 1.0))
    correlation = gram_rows / root[selected, None] / root
    for jitter in COPY_JITTERS:
        correlation[np.arange(len(selected)), selected] = 1.0 + jitter
        try:
            factor = cholesky(correlation[:, selected], lower=True, check_finite=False)
            break
        except LinAlgError:
            if jitter == COPY_JITTERS[-1]:
                raise
    return np.asarray(solve_triangular(factor, correlation, lower=True, check_finite=False), dtype=np.float32)


def explained_by_selected(shares: Array, selected: Array, source: Array | None = None) -> Array:
    """Share of each column that the selected ones explain; for a selected column, that the *other* selected ones do.

    Columns of one ``source`` are one to the user: they are not counted among the others.
    """
    explained = np.einsum("ij,ij->j", shares, shares, dtype=np.float64)
    if len(shares):
        factor = np.tril(shares[:, selected].T).astype(np.float64)
        solved = solve_triangular(factor, np.eye(len(shares)), lower=True, check_finite=False)
        explained[selected] = 1.0 - 1.0 / np.einsum("ij,ij->j", solved, solved)
        origin = selected if source is None else source[selected]
        for one in () if source is None else np.unique(origin):
            members = np.flatnonzero(origin == one)
            if len(members) > 1:  # what the others leave of them: the inverse of their block of the precision matrix
                precision = solved[:, members].T @ solved[:, members]
                explained[selected[members]] = 1.0 - np.diagonal(np.linalg.inv(precision))
    return np.asarray(np.clip(explained, 0.0, 1.0))


def _factor(matrix: Array) -> Array:
    """The lower Cholesky factor in place of a symmetric matrix: LAPACK takes its columns for rows."""
    return np.asarray(cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False))
