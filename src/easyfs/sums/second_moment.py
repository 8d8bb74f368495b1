"""Mergeable second moments: everything the method needs to know of the rows.

Given the scaling and the network, relevance, redundancy and both compressions need sums over rows only. A
:class:`SecondMoment` holds such sums for the columns of a matrix ``A``. While there are few rows it keeps the rows
themselves; beyond that it folds them into the Gram matrix ``A'A``. The answers are the same, and memory stays within
about ``min(2 n, p) * p`` numbers whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from easyfs.common.threads import PANEL_COLUMNS, add_gram, block_rows, block_slices, for_blocks, map_blocks
from easyfs.common.types import Array
from easyfs.sums.rows import Rows
from easyfs.sums.sparse import DENSE_BYTES, ScaledSparse, vertical

# Rows are kept while there are at most this many for each column: up to there, products with the rows cost less.
ROWS_PER_COLUMN = 2
SQUARED_ROWS = 64
# Of more columns than this there is but one Gram matrix, which all threads add to; where it has more bytes than this, rows
# are folded into it as soon as they take more memory than it does.
WIDE, LARGE_GRAM = 2048, 1 << 28


class SecondMoment:
    """Weighted count, sums and second moments of ``p`` columns, gathered by :meth:`add` and :meth:`merge`.

    All second moments are given about the mean of all rows seen.

    Parameters
    ----------
    p : int
        Number of columns.

    Attributes
    ----------
    n_rows : int
        Rows added so far.
    weight : float
        Their total weight: ``n_rows`` unless rows are weighted.
    """

    def __init__(self, p: int):
        self.p = p
        self.n_rows = 0
        self.weight = 0.0
        self.sums: Array = np.zeros(p)
        self.dtype = np.dtype(np.float64)
        self._parts: list[Rows] = []
        self._gram: Array | None = None
        self._squares: Array | None = None

    @property
    def folded(self) -> bool:
        """Whether the rows have been folded into a Gram matrix."""
        return self._gram is not None

    @property
    def mean(self) -> Array:
        """Mean of each column."""
        return self.sums / self.weight if self.weight else self.sums

    def add(self, rows: Rows) -> SecondMoment:
        """Add rows."""
        if rows.shape[1] != self.p:
            raise ValueError(f"rows have {rows.shape[1]} columns, but this second moment has {self.p}.")
        if rows.shape[0] == 0:
            return self
        rows = rows.safe()
        self._squares = None
        self.n_rows += rows.shape[0]
        self.dtype = rows.extra.dtype
        self.weight += float(rows.weights().sum())
        self.sums = self.sums + rows.sums()
        self._parts.append(rows)
        if self._gram is not None or self._too_many_rows():
            self._fold()
        return self

    def merge(self, other: SecondMoment) -> SecondMoment:
        """Add what another second moment of the same columns has seen."""
        if other.p != self.p:
            raise ValueError(f"cannot merge second moments of {self.p} and {other.p} columns.")
        if other.n_rows == 0:
            return self
        self._squares = None
        self.n_rows += other.n_rows
        self.weight += other.weight
        self.sums = self.sums + other.sums
        self.dtype = other.dtype
        self._parts = self._parts + other._parts
        if self._gram is not None or other._gram is not None:
            self._gram = _sum(self._gram, other._gram)
        if self._parts and (self._gram is not None or self._too_many_rows()):
            self._fold()
        return self

    @classmethod
    def from_gram(cls, product: Array, n_rows: int, dtype: np.dtype[Any]) -> SecondMoment:
        """From ``[A, 1]' W [A, 1]`` over ``n_rows`` rows, whose numbers were of type ``dtype``."""
        moment = cls(len(product) - 1)
        moment.n_rows, moment.weight, moment.dtype = n_rows, float(product[-1, -1]), dtype
        moment.sums = product[-1, :-1].copy()
        moment._gram = np.ascontiguousarray(product[:-1, :-1])
        return moment

    def copy(self) -> SecondMoment:
        """Another one with the same sums; rows that are kept are shared, as they are never written to."""
        other = copy(self)
        other._parts = list(self._parts)
        other._gram = None if self._gram is None else self._gram.copy()
        return other

    def placed(self, first: int, places: Array, count: int) -> SecondMoment:
        """Another one whose columns from ``first`` on stand among ``count`` others, at these places; the rest are zero."""
        other = SecondMoment(first + count)
        other.n_rows, other.weight, other.dtype = self.n_rows, self.weight, self.dtype
        order = np.concatenate([np.arange(first), first + places])
        other.sums[order] = self.sums
        for part in self._parts:
            beside = first - part.n_inputs
            extra = np.zeros((part.shape[0], beside + count), dtype=part.extra.dtype)
            extra[:, order[part.n_inputs :] - part.n_inputs] = part.extra
            other._parts.append(replace(part, extra=extra, whole=None))
        if self._gram is not None:
            other._gram = np.zeros((other.p, other.p))
            other._gram[np.ix_(order, order)] = self._gram
        return other

    def fold(self) -> SecondMoment:
        """Fold the rows into a Gram matrix, even if they are few."""
        self._fold()
        return self

    def to_arrays(self) -> dict[str, Array]:
        """All of it as plain arrays, to be stored or sent."""
        arrays = {"numbers": np.array([self.p, self.n_rows, self.weight]), "sums": self.sums}
        arrays["dtype"] = np.array(self.dtype.str)
        if self._gram is not None:
            arrays["gram"] = self._gram
        if self._parts:
            rows = self.rows()
            arrays |= {"extra": rows.extra, **({} if rows.weight is None else {"weight": rows.weight})}
            if isinstance(rows.inputs, ScaledSparse):
                S = rows.inputs.S
                arrays |= {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shift": rows.inputs.shift}
            else:
                arrays["inputs"] = rows.inputs
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> SecondMoment:
        """What :meth:`to_arrays` gave."""
        p, n_rows, weight = arrays["numbers"]
        moment = cls(int(p))
        moment.n_rows, moment.weight, moment.sums = int(n_rows), float(weight), arrays["sums"]
        moment.dtype = np.dtype(str(arrays["dtype"]))
        moment._gram = arrays.get("gram")
        if "extra" in arrays:
            inputs: Array | ScaledSparse
            if "inputs" in arrays:
                inputs = arrays["inputs"]
            else:
                shape = (len(arrays["extra"]), len(arrays["shift"]))
                stored = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
                inputs = ScaledSparse.of_scaled(stored, arrays["shift"])
            moment._parts = [Rows(inputs, arrays["extra"], arrays.get("weight"))]
        return moment

    @classmethod
    def of_classes(cls, classes: Mapping[int, SecondMoment], p: int, n_classes: int) -> SecondMoment:
        """One moment over the rows of all classes, with one more column for each class: one in its rows, else zero.

        Parameters
        ----------
        classes : mapping of int to SecondMoment
            The moment of each class, by its code; they are left as they are.
        p : int
            Columns of each of them.
        n_classes : int
            Classes that get a column, whether they have rows or not.
        """
        whole = cls(p + n_classes)
        seen = {code: classes[code] for code in sorted(classes) if classes[code].n_rows}
        for code, moment in seen.items():
            whole.n_rows += moment.n_rows
            whole.weight += moment.weight
            whole.sums[:p] += moment.sums
            whole.sums[p + code] = moment.weight
            whole.dtype = moment.dtype
        kept = {code: moment._parts for code, moment in seen.items() if moment._gram is None}
        parts = [part for some in kept.values() for part in some]
        codes = np.repeat(list(kept), [sum(part.shape[0] for part in some) for some in kept.values()])
        itemsize = whole.dtype.itemsize
        if len(kept) == len(seen) and not _too_many(parts, whole.n_rows, whole.p, len(codes) * n_classes * itemsize):
            if parts:
                rows = _stack(parts)
                indicators = (codes[:, None] == np.arange(n_classes)).astype(rows.extra.dtype)
                whole._parts = [replace(rows, extra=np.hstack([rows.extra, indicators]), whole=None)]
            return whole
        gram = whole._gram = np.zeros((p + n_classes, p + n_classes))
        for moment in seen.values():
            if moment._gram is not None:
                gram[:p, :p] += moment._gram
        _add_grams(gram[:p, :p], parts)
        for code, moment in seen.items():  # products with the column of a class are sums over its rows
            gram[p + code, :p] = gram[:p, p + code] = moment.sums
            gram[p + code, p + code] = moment.weight
        return whole

    def _too_many_rows(self) -> bool:
        return _too_many(self._parts, self.n_rows, self.p)

    def _fold(self) -> None:
        if self._gram is None:
            self._gram = np.zeros((self.p, self.p))
        _add_grams(self._gram, self._parts)
        self._parts = []

    def rows(self) -> Rows:
        """The rows kept so far, as one run (only while not :attr:`folded`)."""
        if len(self._parts) > 1:
            parts, self._parts = self._parts, []
            self._parts = [_stack(parts)]
        return self._parts[0]

    def diag(self) -> Array:
        """Sum of squares of each column about its mean."""
        if self._squares is None:
            self._squares = np.diagonal(self._gram).copy() if self._gram is not None else _squares(self.rows())
        return self._squares - self.weight * self.mean**2

    def columns(self, columns: Array) -> Array:
        """Columns of the Gram matrix about the mean, ``p`` by ``len(columns)``, float64."""
        columns = np.asarray(columns, dtype=np.intp)
        if self._gram is not None:
            raw = self._gram[:, columns]
        else:
            rows = self.rows()
            raw = _in_parts(rows, len(columns), lambda part: rows.cross(rows.take(columns[part])))
        return raw - self.weight * np.outer(self.mean, self.mean[columns])

    def gram(self) -> Array:
        """The Gram matrix about the mean, ``p`` by ``p``."""
        if self._gram is not None:
            gram = self._gram.copy()
        else:
            gram = np.zeros((self.p, self.p))
            _add_gram(gram, self.rows())
        for part in block_slices(self.p, PANEL_COLUMNS):  # beside the matrix itself, little memory
            gram[part] -= self.weight * np.outer(self.mean[part], self.mean)
        return gram

    def product(self, B: Array) -> Array:
        """The Gram matrix about the mean times ``B``, without forming it while rows are kept."""
        if self._gram is not None:
            raw = self._gram @ B
        else:
            rows, given = self.rows(), B.astype(self.dtype)
            raw = _in_parts(rows, B.shape[1], lambda part: rows.cross(rows.dot(given[:, part])))
        return raw - self.weight * np.outer(self.mean, self.mean @ B)


def _squares(rows: Rows) -> Array:
    """Sum of squares of each column."""
    w = rows.weights()

    def of_dense(values: Array) -> Array:
        def of_part(part: slice) -> Array:
            if rows.weight is None:
                return np.asarray(np.einsum("ij,ij->j", values[part], values[part]))
            return np.asarray(w[part] @ np.square(values[part], dtype=np.float64))

        # Few enough rows at a time for the precision of float32.
        return sum(map_blocks(of_part, block_slices(len(values), SQUARED_ROWS)), np.zeros(values.shape[1]))

    inputs = rows.inputs
    return np.concatenate(
        [inputs.squares(w) if isinstance(inputs, ScaledSparse) else of_dense(inputs), of_dense(rows.extra)]
    )


def _sum(left: Array | None, right: Array | None) -> Array | None:
    if left is None:
        return None if right is None else right.copy()
    return left if right is None else left + right


def _too_many(parts: list[Rows], n_rows: int, p: int, more_bytes: int = 0) -> bool:
    """Whether rows of ``p`` columns are better folded; ``more_bytes`` is what columns take that they have yet to get."""
    if any(isinstance(part.inputs, ScaledSparse) for part in parts):
        return sum(part.nbytes for part in parts) + more_bytes > 8 * p**2
    large = bool(parts) and 8 * p**2 > LARGE_GRAM and n_rows * parts[0].extra.itemsize > 8 * p
    return large or n_rows > ROWS_PER_COLUMN * p


def _add_grams(gram: Array, parts: list[Rows]) -> None:
    """Add ``A'A`` of all rows, in place: small parts together, as each product is as large as the Gram matrix."""
    batch: list[Rows] = []
    n = 0
    for part in parts:
        batch.append(part)
        n += part.shape[0]
        if n >= _gram_block(part) or part is parts[-1]:
            _add_gram(gram, _stack(batch))
            batch, n = [], 0


def _stack(parts: list[Rows]) -> Rows:
    """All rows as one run; dense ones leave the list as they are copied, so that they are not in memory twice."""
    if len(parts) == 1:
        return parts[0]
    weighted = any(part.weight is not None for part in parts)
    weight = np.concatenate([part.weights() for part in parts]) if weighted else None
    if any(isinstance(part.inputs, ScaledSparse) for part in parts):
        return Rows(vertical([part.inputs for part in parts]), np.concatenate([part.extra for part in parts]), weight)
    n, dtype = sum(part.shape[0] for part in parts), np.result_type(*(part.extra.dtype for part in parts))
    inputs, extra = (np.empty((n, width), dtype) for width in (parts[0].n_inputs, parts[0].extra.shape[1]))
    while parts:
        part = parts.pop()
        own = slice(n - part.shape[0], n)
        inputs[own], extra[own], n = part.inputs, part.extra, own.start
    return Rows(inputs, extra, weight)


def _add_gram(gram: Array, rows: Rows) -> None:
    """Add ``A' W A`` in place, or ``[A, 1]' W [A, 1]`` of dense rows where there is room for it.

    Block by block of the rows: each product is taken in the rows' own precision, their sum in float64.
    """
    n, m = rows.shape[0], len(gram)
    if isinstance(rows.inputs, ScaledSparse):
        if rows.inputs.few_products():
            _add_sparse_gram(gram, rows)
        else:
            blocks = block_slices(n, max(1, DENSE_BYTES // (8 * m)))
            add_gram(gram, (rows[block].dense()[:, :m] for block in blocks))
        return

    if m > WIDE:
        add_gram(gram, (rows[block].dense()[:, :m] for block in block_slices(n, _gram_block(rows))))
        return

    def product(block: slice) -> Array:
        A = rows[block].dense()
        return np.asarray(A.T @ A)

    for part in map_blocks(product, block_slices(n, _gram_block(rows))):
        gram += part[:m, :m]


def _add_sparse_gram(gram: Array, rows: Rows) -> None:
    """As ``_add_gram``, from the stored entries of the inputs; the columns beside them are dense."""
    inputs, d, (n, q) = rows.inputs, rows.n_inputs, rows.extra.shape
    assert isinstance(inputs, ScaledSparse)
    weight = rows.weights()
    inputs.add_gram(gram[:d, :d], weight)

    def add(columns: slice) -> None:
        product = inputs.cross(rows.extra[:, columns] * weight[:, None])
        place = slice(d + columns.start, d + columns.stop)
        gram[:d, place] += product
        gram[place, :d] += product.T

    for_blocks(add, block_slices(q, max(1, DENSE_BYTES // (8 * n))))
    blocks = block_slices(n, max(1, DENSE_BYTES // (8 * max(1, q))))
    add_gram(gram[d:, d:], (rows.extra[block] * np.sqrt(weight[block])[:, None] for block in blocks))


def _in_parts(rows: Rows, n_columns: int, product: Callable[[slice], Array]) -> Array:
    """The product of ``A'`` with some columns of all rows, few of them at a time where the rows are many and sparse."""
    width = max(1, DENSE_BYTES // (rows.shape[0] * rows.extra.itemsize))
    if not isinstance(rows.inputs, ScaledSparse) or width >= n_columns:
        return product(slice(0, n_columns))
    out = np.empty((rows.shape[1], n_columns))
    for part in block_slices(n_columns, width):
        out[:, part] = product(part)
    return out


def _gram_block(rows: Rows) -> int:
    """Rows of one product: enough that it takes longer than to add it to the others."""
    p = rows.shape[1]
    return max(block_rows(p, rows.extra.itemsize), p // 2)
