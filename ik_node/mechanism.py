"""A description with its solver: values, limits, goals, closures and kinematics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ik_node.description.description import Description, WORLD
from ik_node.description.visuals import collision_geometry
from ik_node.display import public_names
from ik_node.errors import merge_alike, OptionError, TopologyError
from ik_node.model.attributes import fixed_array
from ik_node.model.collisions import Collisions
from ik_node.model.constraint import Closure, Goal
from ik_node.model.dof import parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link
from ik_node.model.link_goals import LinkGoals
from ik_node.model.redundancy import Redundancy
from ik_node.model.rotation import pose_inverse
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import names_in, Values
from ik_node.solver.solver import Solver
from ik_node.solver.states import closed_samples
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Mechanism(LinkGoals):
    """
    The part of `Robot` that its analysis, its transmissions and its pictures use.

    Parameters and errors are those of `Robot`.
    """

    def __init__(self, source: Description | Frame | Iterable[Frame], name: str = 'robot') -> None:
        goals: list[Goal] = []
        if isinstance(source, Description):
            description = source
        elif isinstance(source, (str, bytes, Path)):
            raise OptionError('source', source, 'frames; load_robot(source) reads a description')
        else:
            from ik_node.description.combine import from_objects

            description, goals = from_objects(source, name)
        self.description = description
        super().__init__(description.links, description.closures)
        self._goals.update({goal.name: goal for goal in goals})
        self._poses: TreePoses | None = None
        try:
            self._solver = Solver(self, SolverOptions(restarts=20, avoid_collisions=False))
            read = partial(collision_geometry, description)
            sample = partial(closed_samples, self._solver)
            self._collisions = Collisions(self._solver, read, sample)
            notes = self._solver.follow_masters()
        except OptionError as error:  # a coupling that the limits do not allow
            raise description.located(error) from None
        notes += [
            f'joint {name!r} has a motor in the description and follows '
            f'{self._master_of(name)!r}: it does not count as actuated'
            for name in description.actuated
            if self._master_of(name) is not None
        ]
        description.notes += notes
        merge_alike(description.notes)
        self._start = dict(zip(self.joint_names, self.q.tolist(), strict=True))

    __dir__ = public_names

    # -- properties

    @property
    def name(self) -> str:
        """Return the name of the robot in its description."""
        return self.description.name

    @property
    def dialect(self) -> str:
        """Return the format and notations of the description."""
        return self.description.dialect

    @property
    def notes(self) -> list[str]:
        """
        Return what was assumed, left out or corrected, and how open loops are in the file's pose.

        A note that begins with "warning: " is about a fault that is likely in the file.
        """
        return self.description.notes

    @property
    def actuated(self) -> list[str]:
        """
        Return the names of joints, or values such as NAME.EZ, with a motor; empty = none is known.

        A joint that follows one other has no motor of its own, whatever the description says. The
        list can be set; an unknown name raises UnknownFrameError, such a follower OptionError.
        """
        return [name for name in self.description.actuated if self._master_of(name) is None]

    @actuated.setter
    def actuated(self, names: Iterable[str]) -> None:
        chosen = names_in('actuated', names)
        self._solver.arrays_for(())[1].places(chosen)
        for name in chosen:
            master = self._master_of(name)
            if master is not None:
                allowed = f'a joint that follows no other, such as {master!r}, its master'
                raise OptionError('actuated', name, allowed)
        self.description.actuated = list(dict.fromkeys(chosen))

    def _master_of(self, name: str) -> str | None:
        """Return the joint that a joint or value follows, if it follows one alone."""
        joint = self.joints.get(name) or self.joints.get(name.rpartition('.')[0])
        if joint is None or not joint.couplings:
            return None
        axes = [d for d in joint.dof if name in (joint.name, joint.value_name(d))]
        followed = [joint.couplings[d] for d in axes if d in joint.couplings]
        if len(followed) < len(axes) or any(each.others for each in followed):
            return None
        return followed[0].master.name

    @property
    def root(self) -> Link | Joint:
        """Return the first root of the graph."""
        return self.description.root

    @property
    def roots(self) -> list[Frame]:
        """Return all roots of the graph, including goals."""
        return [*self.description.roots, *self.goals.values()]

    @property
    def joint_order(self) -> list[Joint]:
        """Return the movable joints, in the description's order."""
        return self.description.joint_order

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Return all joints by name, including fixed ones."""
        return self.description.joints

    @property
    def joint_names(self) -> list[str]:
        """Return the names of the joint values, in the order of q."""
        return list(self._solver.joint_names)

    @property
    def lower(self) -> Array:
        """Return the lower limits [rad or m], in the order of q; -inf = none; read-only."""
        return fixed_array(self._solver.limits()[0])

    @property
    def upper(self) -> Array:
        """Return the upper limits [rad or m], in the order of q; inf = none; read-only."""
        return fixed_array(self._solver.limits()[1])

    @property
    def max_velocity(self) -> Array:
        """Return the velocity limits [rad/s or m/s], in the order of q; inf = none; read-only."""
        return fixed_array(self._solver.tree.max_velocity)

    @property
    def max_effort(self) -> Array:
        """Return the effort limits [N m or N], in the order of q; inf = none; read-only."""
        efforts = [joint._max_effort[dof] for joint, dof in self._solver.tree.owner]
        return fixed_array(np.array(efforts))

    @property
    def q(self) -> Array:
        """
        Return a copy of all joint values [rad or m].

        Setting clamps to the limits; a mapping of joint names to values sets these joints only.
        """
        return self._solver.q

    @q.setter
    def q(self, values: Values) -> None:
        self._solver.q = values

    @property
    def start(self) -> Array:
        """Return the values [rad or m] of the description, before the loops were closed."""
        return np.array([self._start.get(name, 0.0) for name in self.joint_names])

    # -- collisions

    @property
    def collisions(self) -> Collisions:
        """Return the bodies of robot and obstacles, and the pairs whose distance counts."""
        return self._collisions

    # -- closures

    def add_closure(
        self,
        link_a: str,
        link_b: str,
        *,
        type: str = 'point',  # noqa: A002
        frame_a: Any = None,
        frame_b: Any = None,
        name: str | None = None,
        dof: str | None = None,
        distance: float | None = None,
        tolerance: float | Sequence[float] | None = None,
        weight: float = 1.0,
        enabled: bool = True,
    ) -> Closure:
        """
        Add a closure between two links; without frames, it is closed at the present values.

        With frames that do not coincide, call `assemble` to close the loop.

        Parameters
        ----------
        link_a, link_b : str
            Names of the links. 'world' is the fixed world, even if the description has no such
            link.
        type : str
            weld, point, hinge, slider, universal, planar or distance, see `CLOSURE_TYPES` in
            `ik_node.model.constraint`. A hinge turns about z of frame B, a slider moves along it.
        frame_a, frame_b : (position (3,) [m], quat_xyzw (4,)), or another form, optional
            Poses of the two frames in their links. None = the place where the other frame is at
            present; if neither is given, frame A is that of link_a.
        name : str, optional
            Name of the closure; by default the names of both links.
        dof : str, optional
            Constrained axes of frame B, such as 'X Y Z EX', instead of those of the type.
        distance : float, optional
            For the type distance [m]; None = the present one of the two frames. Then `frame_b` is
            that of link_b if it is not given.
        tolerance : float or sequence of float, optional
            Residuals that count as closed, [m] and [rad], see `Constraint.tolerance`.
        weight : float
            Weight of its rows if not all loops can be closed.
        enabled : bool
            Whether it takes part in solves.

        Returns
        -------
        Closure

        Raises
        ------
        UnknownFrameError
            If there is no such link.
        OptionError
            If the links are the same, the type is unknown, or the name is taken.
        ShapeError
            If a frame has none of the forms.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.combine(
        ...     ik.load_robot('arm6', prefix='l_'), ik.load_robot('arm6', prefix='r_')
        ... )
        >>> free = int(robot.mobility)
        >>> loop = robot.add_closure('l_j6_link', 'r_j6_link', type='weld')
        >>> free - int(robot.mobility)
        6

        """
        if link_a == link_b:
            raise OptionError('link_b', link_b, f'another link than {link_a!r}')
        closure = Closure(f'{link_a}_{link_b}' if name is None else name, type)
        self._check_name(closure.name)
        a, b = (self._link_or_world(each) for each in (link_a, link_b))
        if dof is not None:
            closure.set_dof(*parse_dofs(dof))
        given = [_matrix_of(frame) for frame in (frame_a, frame_b)]
        there = a.matrix_world if given[0] is None else a.matrix_world @ given[0]
        here = b.matrix_world if given[1] is None else b.matrix_world @ given[1]
        if given[0] is None and given[1] is not None and closure.kind != 'distance':
            there = here
        if given[1] is None and closure.kind != 'distance':
            here = there
        if closure.kind == 'distance':
            present = float(np.linalg.norm(there[:3, 3] - here[:3, 3]))
            closure.distance = present if distance is None else distance
        elif distance is not None:
            raise OptionError('distance', distance, f'none for the type {type}')
        closure.tolerance, closure.weight, closure.enabled = tolerance, weight, enabled
        closure.rounding = self.description.rounding
        offset = Frame()
        offset.set_pose(pose_inverse(a.matrix_world) @ there)
        closure.set_offset(offset.position, offset.quaternion)
        closure.set_pose(pose_inverse(b.matrix_world) @ here)
        b.add_child(closure)
        closure.make_closure(a)
        self.description.closures[closure.name] = closure
        return closure

    def remove_closure(self, name: str) -> None:
        """
        Remove a closure.

        Raises
        ------
        UnknownFrameError
            If there is no such closure.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('gripper')
        >>> robot.remove_closure(list(robot.closures)[0])

        """
        closure = self.closures[name]
        for link, part in ((closure.child, closure), (closure, closure.parent)):
            if part is not None and link is not None:
                part.remove_child(link)
        del self.description.closures[name]

    def _link_or_world(self, name: str) -> Link:
        if name == WORLD and name not in self.links:
            self.description.links[name] = Link(name)
            self.description.roots.append(self.links[name])
        return self.links[name]

    # -- kinematics

    def _kinematics(self) -> TreePoses:
        """Return the forward kinematics of the present tree."""
        poses, tree = self._poses, self._solver.tree
        if poses is None or poses.tree is not tree:
            poses = self._poses = TreePoses(tree)
        return poses

    def __getstate__(self) -> dict[str, Any]:
        # A copy has a tree of its own.
        return {**self.__dict__, '_poses': None}

    def forward(self, q: Values, link: str) -> Array:
        """
        Return the pose of a link in the root frame, at one configuration or at many.

        Parameters
        ----------
        q : array_like, shape (nq,) or (n, nq), or mapping of str to float
            [rad or m], taken as they are: mimic joints are not moved along. By name, the other
            joints have their present values.
        link : str
            Its name.

        Returns
        -------
        ndarray, shape (4, 4) or (n, 4, 4)

        Raises
        ------
        UnknownFrameError
            If there is no such link.
        ShapeError
            If q has the wrong shape or is not finite.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.forward(robot.q, 'tool_link')[:3, 3].round(2).tolist()  # its position
        [0.58, 0.05, 0.6]
        >>> robot.forward([robot.q, robot.lower], 'tool_link').shape
        (2, 4, 4)

        """
        rows = self._solver.checked_rows(q)
        if rows is not None:
            return self._kinematics().poses(rows, self.links[link])
        return self._kinematics().pose(self._solver.checked_q(q), self.links[link])

    def jacobian(self, q: Values, link: str) -> Array:
        """
        Return the geometric Jacobian of a link's origin, root axes.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            [rad or m], as in `forward`.
        link : str
            Its name.

        Returns
        -------
        ndarray, shape (6, nq)
            Linear rows first, [m] and [rad] per [rad or m]; couplings are not applied.

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `forward`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.jacobian(robot.q, 'tool_link')[:2, 0].round(2).tolist()  # by joint 1
        [-0.05, 0.58]

        """
        return self._kinematics().jacobian(self._solver.checked_q(q), self.links[link])

    # -- masses

    @property
    def mass(self) -> float:
        """Return the mass of all links [kg]; 0 = the description has no masses."""
        return float(sum(link.mass for link in self.links.values()))

    def centre_of_mass(self, q: Values, link: str | None = None) -> Array:
        """
        Return the centre of mass in the root frame.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            [rad or m], taken as they are: mimic joints are not moved along. By name, the other
            joints have their present values.
        link : str, optional
            Name of a link: the result is for it and all links below it. None = the whole robot.

        Returns
        -------
        ndarray, shape (3,)
            [m]

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `forward`.
        TopologyError
            If no link has a mass.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.centre_of_mass(robot.q).round(3).tolist()
        [0.08, 0.013, 0.412]

        """
        kinematics, checked = self._kinematics(), self._solver.checked_q(q)
        links = self.links.values() if link is None else self.links[link].links_below()
        bodies = [body for body in links if body.mass > 0.0]
        if not bodies:
            raise TopologyError(
                f'{link or self.name!r} has no mass, so no centre of mass: give the '
                f'links of the '
                'description an <inertial>, or set Link.mass'
            )
        poses = kinematics.of_columns(kinematics.values(checked))
        return kinematics.centre_of_mass(poses, bodies)

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return the closures with redundant rows that agree only up to rounding."""
        return self._solver.redundancies

    @property
    def rounding(self) -> float:
        """Return the largest disagreement of redundant rows of closures [m or rad]."""
        return max((each.largest for each in self.redundancies), default=0.0)

    # -- output

    def to_urdf(self, *, loops: bool = True) -> str:
        """
        Return the robot as URDF, which reads back to an equal robot with its loops.

        For a robot that was read from a URDF, shapes, inertia and materials are carried over.

        Parameters
        ----------
        loops : bool
            Whether to write closures as <loop_joint>; if False, use `to_closures`.

        Raises
        ------
        TopologyError
            If the robot cannot be written, for example because of a name with control characters
            or a closure without two links.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('gripper')
        >>> list(ik.load_robot(robot.to_urdf()).closures) == list(robot.closures)
        True

        """
        from ik_node.description.writers.urdf import to_urdf

        return to_urdf(self.description, self._start, loops=loops)

    def to_closures(self) -> str:
        """
        Return the closures as YAML, to complement `to_urdf(loops=False)`.

        Raises
        ------
        TopologyError
            If a closure does not connect two links.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('gripper')
        >>> 'closures:' in robot.to_closures()
        True

        """
        from ik_node.description.writers.urdf import to_closures

        return to_closures(self.description)


def _matrix_of(pose: Any) -> Array | None:
    """Return a pose of any form as a matrix (4, 4); None = not given."""
    if pose is None:
        return None
    frame = Frame('frame of a closure')
    frame.set_pose(pose)
    return frame.matrix
