"""The loop-closing constraint between two links."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.model.attributes import counted
from ik_node.model.constraint import Constraint
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.given import one_of

# Type name -> kind and constrained axes in frame B.
CLOSURE_TYPES: dict[str, tuple[str, str]] = {
    'weld': ('frame', 'X Y Z EX EY EZ'),
    'fixed': ('frame', 'X Y Z EX EY EZ'),
    'point': ('frame', 'X Y Z'),
    'spherical': ('frame', 'X Y Z'),
    'ball': ('frame', 'X Y Z'),
    'hinge': ('frame', 'X Y Z EX EY'),  # free about z
    'revolute': ('frame', 'X Y Z EX EY'),
    'continuous': ('frame', 'X Y Z EX EY'),
    'slider': ('frame', 'X Y EX EY EZ'),  # free along z
    'prismatic': ('frame', 'X Y EX EY EZ'),
    'planar': ('frame', 'Z EX EY'),  # free along x and y and about z
    'floating': ('frame', ''),  # constrains no axis
    'universal': ('universal', 'X Y Z'),  # free about frame B's x and frame A's y
    'distance': ('distance', ''),
}


class Closure(Constraint):
    """
    A constraint that closes a loop: two frames must coincide on certain axes of frame B.

    Frame B is the closure itself. Frame A is on the link given to `make_closure`.

    Parameters
    ----------
    name : str
        Name in messages and results.
    type_name : str
        A key of `CLOSURE_TYPES`. Alternatively choose the axes with `set_dof`.

    Attributes
    ----------
    rounding : sequence of float or None
        Root mean square of the rounding errors of the positions [m] and rotations [rad] of all
        frames, which follow from the digits of the description; None = from the digits of the
        joints' positions.

    Examples
    --------
    >>> import ik_node as ik
    >>> rocker, coupler = ik.Link('rocker'), ik.Link('coupler')
    >>> pin = ik.Closure('pin', 'hinge')
    >>> coupler.add_child(pin)
    >>> pin.make_closure(rocker)
    >>> pin.get_residual().tolist(), pin.axes
    ([0.0, 0.0, 0.0, 0.0, 0.0], 'goal')

    """

    axes: str = counted(
        'axes',
        Frame._count_graph_edit,
        lambda what, value: one_of(what, value, ('goal',)),
        "'goal': the axes of a closure are always those of frame B.",
    )
    rounding: Sequence[float] | None = None
    _internal = (*Constraint._internal, 'rows_of_type', 'rounding')

    def __init__(self, name: str = '', type_name: str = 'weld') -> None:
        kind, dofs = self.rows_of_type(type_name)
        super().__init__(name, kind)
        self.set_dof(*dofs)

    @staticmethod
    def rows_of_type(type_name: str) -> tuple[str, tuple[DOF, ...]]:
        """Return kind and constrained axes of a closure type; raise OptionError if it is none."""
        kind, dofs = CLOSURE_TYPES[one_of('closure type', type_name, CLOSURE_TYPES)]
        return kind, parse_dofs(dofs)
