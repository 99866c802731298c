# flake8: noqa: E203
"""
Arithmetic on six numbers that lie side by side, the unit in which Jacobian and matrix are kept.

Compiled, each of these is a few vector instructions (`six_compiled`), which the compiler does not
find by itself.
"""

from __future__ import annotations

from ik_node.kernels._jit import compiled
from ik_node.kernels.layout import Floats

Six = tuple[float, float, float, float, float, float]


def six(w: Floats, at: int) -> Six:
    """Return w[at:at + 6]."""
    return w[at], w[at + 1], w[at + 2], w[at + 3], w[at + 4], w[at + 5]


def put(w: Floats, at: int, a: Six) -> None:
    """Write six numbers to w[at:at + 6]."""
    w[at : at + 6] = a


def less(a: Six, share: float, b: Six) -> Six:
    """Return a - share * b."""
    a0, a1, a2, a3, a4, a5 = a
    b0, b1, b2, b3, b4, b5 = b
    return (
        a0 - share * b0,
        a1 - share * b1,
        a2 - share * b2,
        a3 - share * b3,
        a4 - share * b4,
        a5 - share * b5,
    )


def dot(a: Six, b: Six) -> float:
    """Return the scalar product."""
    return float(
        (a[0] * b[0] + a[3] * b[3]) + (a[1] * b[1] + a[4] * b[4]) + (a[2] * b[2] + a[5] * b[5])
    )


if compiled:
    from ik_node.kernels import six_compiled

    six, put = six_compiled.six, six_compiled.put
    less, dot = six_compiled.less, six_compiled.dot
