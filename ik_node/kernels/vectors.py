"""
Arithmetic on vectors of six numbers, the rows of Jacobian and matrix, and of four.

Compiled, each function is a few vector instructions (`numba_ext.vectors` and `numba_ext.sines`),
which the compiler does not find by itself. A product and the following sum may be rounded once.
"""

from __future__ import annotations

from math import cos, sin

from ik_node.kernels.decorators import compiling
from ik_node.kernels.layout import Floats

Vector = tuple[float, ...]
Four = tuple[float, ...]
Six = tuple[float, ...]

# Larger angles [rad] lose digits in the range reduction of `sines_cosines`; its caller uses sin
# and cos for them.
LARGEST_ANGLE = 1.5e6


def pack(x: float, y: float, z: float, p: float) -> Four:
    """Return the vector (x, y, z, p)."""
    return x, y, z, p


def four(w: Floats, index: int) -> Four:
    """Return w[index:index + 4]."""
    return w[index], w[index + 1], w[index + 2], w[index + 3]


def six(w: Floats, index: int) -> Six:
    """Return w[index:index + 6]."""
    return w[index], w[index + 1], w[index + 2], w[index + 3], w[index + 4], w[index + 5]


def six_of(a: float, b: float, c: float, d: float, e: float, f: float) -> Six:
    """Return the vector (a, b, c, d, e, f)."""
    return a, b, c, d, e, f


def placed(a: Six, index: int, number: float) -> Six:
    """Return the vector a with component `index` replaced."""
    return tuple(number if k == index else x for k, x in enumerate(a))


def after(a: Six, index: int) -> Six:
    """Return the vector a with zeros in components 0 to `index`."""
    return tuple(x if k > index else 0.0 for k, x in enumerate(a))


def before(a: Six, index: int) -> Six:
    """Return the vector a with zeros from component `index` on."""
    return tuple(x if k < index else 0.0 for k, x in enumerate(a))


def put(w: Floats, index: int, a: Vector) -> None:
    """Write a vector to w[index] and the places after it."""
    w[index : index + len(a)] = a


def times(a: Vector, b: Vector) -> Vector:
    """Return the componentwise product of two vectors."""
    return tuple(x * y for x, y in zip(a, b, strict=True))


def plus(a: Vector, b: Vector) -> Vector:
    """Return the sum of two vectors."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def more(a: Vector, share: float, b: Vector) -> Vector:
    """Return a + share * b."""
    return tuple(x + share * y for x, y in zip(a, b, strict=True))


def less(a: Vector, share: float, b: Vector) -> Vector:
    """Return a - share * b."""
    return tuple(x - share * y for x, y in zip(a, b, strict=True))


def dot(a: Six, b: Six) -> float:
    """Return the scalar product."""
    return float(
        (a[0] * b[0] + a[3] * b[3]) + (a[1] * b[1] + a[4] * b[4]) + (a[2] * b[2] + a[5] * b[5])
    )


def sines_cosines(angles: Floats, sines: Floats, cosines: Floats, index: int) -> None:
    """
    Write sines and cosines of angles[index:index + 4] to the same places of the others.

    Accurate to two units in the last place for angles up to LARGEST_ANGLE [rad]; wrong beyond.
    """
    for k in range(index, index + 4):
        angle = angles[k] if abs(angles[k]) <= LARGEST_ANGLE else 0.0
        sines[k], cosines[k] = sin(angle), cos(angle)


if compiling:
    from ik_node.kernels.numba_ext import sines as sines_compiled
    from ik_node.kernels.numba_ext import vectors as vectors_compiled

    sines_cosines = sines_compiled.sines_cosines
    pack, four, six = vectors_compiled.pack, vectors_compiled.four, vectors_compiled.six
    put, six_of, placed = vectors_compiled.put, vectors_compiled.six_of, vectors_compiled.placed
    after, before = vectors_compiled.after, vectors_compiled.before
    times, plus, dot = vectors_compiled.times, vectors_compiled.plus, vectors_compiled.dot
    more, less = vectors_compiled.more, vectors_compiled.less
