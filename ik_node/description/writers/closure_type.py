"""What a closure's type is called in files."""

from __future__ import annotations

from ik_node.errors import shown, TopologyError
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import parse_dofs
from ik_node.model.link import Link

# The names that other tools read, where there are several for one set of axes.
URDF_TYPES = (
    *('fixed', 'spherical', 'revolute', 'prismatic'),
    *('planar', 'floating', 'universal', 'distance'),
)
# Ours, in closure annotations.
OWN_TYPES = ('weld', 'point', 'hinge', 'slider', 'planar', 'universal', 'distance')


def closure_type(closure: Closure, names: tuple[str, ...]) -> str | None:
    """Return which of some types a closure is; None = only its axes say."""
    for name in names:
        kind, dofs = CLOSURE_TYPES[name]
        if closure.kind == kind and (kind != 'frame' or parse_dofs(dofs) == tuple(closure.dof)):
            return name
    return None


def ends_of(closure: Closure) -> tuple[Link, Link]:
    """
    Return the links of frame_a and frame_b.

    Raises
    ------
    TopologyError
        If it is not between two links, or of a kind that no file can say.

    """
    if not isinstance(closure.child, Link) or not isinstance(closure.parent, Link):
        raise TopologyError(f'the closure {shown(closure.name)} does not tie two links')
    if closure.kind not in ('frame', 'universal', 'distance'):
        raise TopologyError(
            f'the closure {shown(closure.name)} is of kind {shown(closure.kind)}, which '
            f'no file can say'
        )
    return closure.child, closure.parent
