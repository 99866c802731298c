"""
Rows made orthonormal: the dense algebra beside the block factor of `factor`.

`factor` solves the damped system of a step, which is sparse and always regular. Where the rank of
a few rows is the question, as in `transmit` and `redundant`, Gram and Schmidt's method answers it.
"""

from math import sqrt

from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.layout import Floats


@kernel
def product(row: Floats, other: Floats, width: int) -> float:
    """Return the sum of products of two rows, in eight parts, which do not wait for each other."""
    a, b, c, d, v = 0.0, 0.0, 0.0, 0.0, 0
    e, f, g, h = 0.0, 0.0, 0.0, 0.0
    while v + 7 < width:
        a += row[v] * other[v]
        b += row[v + 1] * other[v + 1]
        c += row[v + 2] * other[v + 2]
        d += row[v + 3] * other[v + 3]
        e += row[v + 4] * other[v + 4]
        f += row[v + 5] * other[v + 5]
        g += row[v + 6] * other[v + 6]
        h += row[v + 7] * other[v + 7]
        v += 8
    while v < width:
        a += row[v] * other[v]
        v += 1
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@rare
def orthonormalise(rows: Floats, count: int, width: int, stride: int, nothing: float) -> int:
    """
    Make rows orthonormal in their first `width` numbers; return how many are independent.

    Gram and Schmidt's method, twice where much of a row cancels. The numbers after these undergo
    the same operations, the last one is the size of the row: of an independent row it becomes the
    share that was left. Rows that depend on others are moved to the end.
    """
    n, last = 0, count
    while n < last:
        row = rows[n * stride :]
        square = product(row, row, width)
        for _ in range(2):
            before = square
            for b in range(n):
                other = rows[b * stride :]
                along = product(row, other, width)
                if along != 0.0:
                    for v in range(stride - 1):
                        row[v] -= along * other[v]
            square = product(row, row, width)
            if square > 0.01 * before:
                break
        length = sqrt(square)
        if length > nothing * row[stride - 1]:
            row[stride - 1], scale = length / row[stride - 1], 1.0 / length
            for v in range(stride - 1):
                row[v] *= scale
            n += 1
        else:
            last -= 1
            other = rows[last * stride :]
            for v in range(stride):
                value = row[v]
                row[v] = other[v]
                other[v] = value
    return n
