"""The rigid bodies of a robot, and the frames that connect them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ik_node.errors import TopologyError
from ik_node.model.attributes import counted, fixed, fixed_array, FixedList, open_array
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame, frame_of
from ik_node.model.given import at_least_zero
from ik_node.model.residual import residual_rows
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Connector(Frame):
    """
    The base class of joints, goals and closures, which connect their parent with a link.

    A joint carries its link. Joints, goals and closures can also close on a link elsewhere in the
    tree: their frame and the frame of that link must then coincide.

    Parameters
    ----------
    name : str
        Name in messages and results.

    """

    is_joint = True

    dof: list[DOF] = fixed(
        'dof',
        'set_dof',
        'Its axes, in the order of DOF. A joint moves along or about them, a goal or closure '
        'constrains them.',
    )
    child: Link | None = fixed(
        'child',
        'add_child, make_closure and remove_child',
        'The link that it carries or closes on, or None.',
    )
    is_closure: bool = fixed(
        'is_closure',
        'add_child, make_closure and remove_child',
        'True if it closes on its child, False if it carries it.',
    )

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self._dof: list[DOF] = FixedList('set_dof')
        self._dof_flags = np.zeros(6, dtype=bool)
        self._child: Link | None = None
        self._is_closure = False

    @property
    def dof_flags(self) -> NDArray[np.bool_]:
        """Return True for each axis in `dof`, shape (6,); change them with `set_dof`."""
        return fixed_array(self._dof_flags)

    def _choose(self, dofs: Sequence[DOF]) -> None:
        self._dof = FixedList('set_dof', dofs)
        self._dof_flags[:] = [member in self._dof for member in DOF]
        self._count_graph_edit()

    def partners(self) -> list[Link]:
        """Return the link that it closes on; an empty list if it closes on none."""
        return [self.child] if self.is_closure and self.child is not None else []

    def make_closure(self, link: Link) -> None:
        """
        Close on a link elsewhere in the tree: its frame and this frame must coincide.

        Raises
        ------
        TopologyError
            If `link` is not a Link, or this joint already carries or closes on a link.

        Examples
        --------
        >>> import ik_node as ik
        >>> pin, rocker = ik.Closure('pin', 'hinge'), ik.Link('rocker')
        >>> pin.make_closure(rocker)
        >>> pin.child, pin.is_closure, rocker.closure_joints == [pin]
        (Link('rocker'), True, True)
        >>> [gap.tolist() for gap in pin.get_closure_error()]
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]

        """
        self._child = self._possible_child(link)
        self._is_closure = True
        list.append(link.closure_joints, self)
        self._count_graph_edit()
        link._count_graph_edit()

    def remove_child(self, child: Frame) -> None:
        """
        Remove the child link, or the closure on it.

        Raises
        ------
        TopologyError
            If this joint neither carries nor closes on the link.

        Examples
        --------
        >>> import ik_node as ik
        >>> pin, rocker = ik.Closure('pin', 'hinge'), ik.Link('rocker')
        >>> pin.make_closure(rocker)
        >>> pin.remove_child(rocker)
        >>> rocker.closure_joints
        []

        """
        if self.child is None or self.child is not child:
            raise TopologyError(
                f'{frame_of(child).name!r} is not the child of joint {self.name!r}'
            )
        if self.is_closure:
            list.remove(self.child.closure_joints, self)
            self.child._count_graph_edit()
        else:
            super().remove_child(child)
        self._child, self._is_closure = None, False
        self._count_graph_edit()

    def _possible_child(self, child: Frame) -> Link:
        if not isinstance(child, Link):
            raise TopologyError(
                f'{frame_of(child).name!r} cannot become the child of joint '
                f'{self.name!r}: only links can'
            )
        if self.child is not None:
            verb = 'closes on' if self.is_closure else 'carries'
            raise TopologyError(
                f'joint {self.name!r} cannot take {child.name!r}: it {verb} {self.child.name!r}'
            )
        return child

    def get_closure_error(self) -> tuple[Array, Array]:
        """
        Return the deviation between the frame of this closure and the frame of its link.

        Returns
        -------
        position : ndarray, shape (3,)
            p_joint - p_link [m], root frame.
        rotation : ndarray, shape (3,)
            Rotation vector log(R_joint R_link^T) [rad], root frame.

        Raises
        ------
        TopologyError
            If this joint is not a closure.

        """
        here, there = self._closing_frames()
        rows = residual_rows('frame', 'world', np.ones(6, dtype=bool), 0.0, here, there)
        return rows[:3], rows[3:]

    def _closing_frames(self) -> tuple[Array, Array]:
        """Return the poses, shape (4, 4), root frame, of the joint's and of the link's frame."""
        if not self.is_closure or self.child is None:
            raise TopologyError(f'joint {self.name!r} is not a closure: make_closure(link) first')
        return self.matrix_world, self.child.matrix_world


class Link(Frame):
    """
    A rigid body, whose children are joints, goals and closures.

    Parameters
    ----------
    name : str
        Name in messages and results.

    Examples
    --------
    >>> import ik_node as ik
    >>> base, joint, arm = ik.Link('base'), ik.Joint('hinge'), ik.Link('arm')
    >>> base.add_child(joint)
    >>> joint.add_child(arm)
    >>> base.links_below() == [base, arm]
    True
    >>> arm.mass, arm.centre_of_mass = 2.0, (0.1, 0.0, 0.0)
    >>> base.get_centre_of_mass_below().tolist(), base.closure_joints
    ([0.1, 0.0, 0.0], [])

    """

    is_link = True

    closure_joints: list[Connector] = fixed(
        'closure_joints',
        'make_closure and remove_child of these joints',
        'The joints, goals and closures that close on this link.',
    )
    mass: float = counted('mass', Frame._count_graph_edit, at_least_zero, 'Mass [kg]; 0 = none.')
    centre_of_mass: NDArray[np.float64] = open_array(
        'centre_of_mass', Frame._count_graph_edit, 'Centre of mass, shape (3,) [m], link frame.'
    )

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self._closure_joints: list[Connector] = FixedList('make_closure and remove_child')
        self._mass = 0.0
        self._centre_of_mass = np.zeros(3)

    def _facts(self) -> list[str]:
        facts = [] if self.parent is None else [f'on {self.parent.name!r}']
        return facts + [f'{self.mass:.4g} kg'] * (self.mass > 0.0)

    def partners(self) -> list[Connector]:
        """Return the joints, goals and closures that close on this link."""
        return self.closure_joints

    def links_below(self) -> list[Link]:
        """
        Return this link and all links below it in the tree.

        Examples
        --------
        >>> import ik_node as ik
        >>> links = ik.load_robot('arm6').links
        >>> [link.name for link in links['j5_link'].links_below()]
        ['j5_link', 'j6_link', 'tool_link']

        """
        return [frame for frame in self._walk() if isinstance(frame, Link)]

    def get_centre_of_mass_below(self) -> NDArray[np.float64]:
        """
        Return the centre of mass of this link and of all links below it in the tree.

        Returns
        -------
        ndarray, shape (3,)
            Centre of mass [m], root frame.

        Raises
        ------
        TopologyError
            If none of these links has a mass.

        """
        bodies = with_mass(self.name, self.links_below())
        places = [
            body.matrix_world[:3, :3] @ body.centre_of_mass + body.matrix_world[:3, 3]
            for body in bodies
        ]
        masses = [body.mass for body in bodies]
        centre: NDArray[np.float64] = np.average(places, axis=0, weights=masses)
        return centre

    def add_child(self, child: Frame) -> None:
        """
        Make a joint, goal or closure a child of this link.

        Raises
        ------
        TopologyError
            If the child is none of these, or as in `Frame.add_child`.

        Examples
        --------
        >>> import ik_node as ik
        >>> base, hinge = ik.Link('base'), ik.Joint('hinge')
        >>> base.add_child(hinge)
        >>> hinge.parent
        Link('base')

        """
        if not frame_of(child).is_joint:
            raise TopologyError(
                f'{child.name!r} cannot become a child of link {self.name!r}: only joints can'
            )
        super().add_child(child)


def with_mass(name: str, links: Iterable[Link]) -> list[Link]:
    """Return the links of something that have a mass; raise TopologyError if none has."""
    bodies = [link for link in links if link.mass > 0.0]
    if not bodies:
        raise TopologyError(
            f'{name!r} has no mass: give the links of the description an <inertial>, or set '
            'Link.mass'
        )
    return bodies
