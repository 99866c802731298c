"""A robot: its description, its model and its solver behind one face."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ik_node.description.description import Description
from ik_node.description.read import read_description
from ik_node.errors import OptionError, UnknownFrameError
from ik_node.model.closure import Closure
from ik_node.model.dof import parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.kinematics import jacobian_of, pose_of
from ik_node.model.link import Link
from ik_node.model.rotation import matrix_to_quat, pose_matrix
from ik_node.solver.options import SolverOptions
from ik_node.solver.result import SolveResult
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# A singular value of the closures below this share of the largest counts as zero.
RANK_TOLERANCE = 1e-6


class Robot:
    """
    A robot with its loops.

    Made by `load_robot`. The objects behind it may be changed at any time, see `Solver`.

    Parameters
    ----------
    description : Description

    Attributes
    ----------
    description : Description
    assembly : SolveResult or None
        How the loops closed when the robot was loaded; None = not tried.

    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.assembly: SolveResult | None = None
        self._goals: dict[str, Goal] = {}
        self._solver = Solver(self, SolverOptions(restarts=20))

    # -- what there is

    @property
    def name(self) -> str:
        """Return the robot's name in its description."""
        return self.description.name

    @property
    def dialect(self) -> str:
        """Say what kind of description it was read from."""
        return self.description.dialect

    @property
    def notes(self) -> list[str]:
        """Say what was guessed, left out or found odd in the description."""
        return self.description.notes

    @property
    def actuated(self) -> list[str]:
        """Joints with a motor; empty = the description does not say."""
        return self.description.actuated

    @property
    def root(self) -> Link | Joint:
        """Return the first root of its graph."""
        return self.description.root

    @property
    def roots(self) -> list[Frame]:
        """All roots of its graph, goals included."""
        return [*self.description.roots, *self._goals.values()]

    @property
    def joint_order(self) -> list[Joint]:
        """Return the movable joints, in the description's order."""
        return self.description.joint_order

    @property
    def links(self) -> Mapping[str, Link]:
        """All links by name."""
        return self.description.links

    @property
    def joints(self) -> Mapping[str, Joint]:
        """All joints by name, fixed ones included."""
        return self.description.joints

    @property
    def closures(self) -> Mapping[str, Closure]:
        """All closures by name."""
        return self.description.closures

    @property
    def goals(self) -> Mapping[str, Goal]:
        """All goals by name."""
        return self._goals

    @property
    def joint_names(self) -> list[str]:
        """Name of every value of q."""
        return list(self._solver.joint_names)

    @property
    def lower(self) -> Array:
        """Lower limits [rad or m], in the order of q; -inf = none."""
        return np.array([joint.min_dof_limit[dof] for joint, dof in self._solver.tree.owner])

    @property
    def upper(self) -> Array:
        """Upper limits [rad or m], in the order of q; inf = none."""
        return np.array([joint.max_dof_limit[dof] for joint, dof in self._solver.tree.owner])

    @property
    def max_velocity(self) -> Array:
        """Velocity limits [rad/s or m/s], in the order of q; inf = none."""
        return np.array([joint.max_velocity[dof] for joint, dof in self._solver.tree.owner])

    @property
    def q(self) -> Array:
        """All joint values [rad or m]; a copy. Setting clamps to the limits."""
        return self._solver.q

    @q.setter
    def q(self, values: ArrayLike) -> None:
        self._solver.q = values

    # -- kinematics

    def forward(self, q: ArrayLike, link: str) -> Array:
        """
        Return the pose of a link in the root frame.

        Parameters
        ----------
        q : array_like, shape (nq,)
            [rad or m], taken as they are: mimic joints are not moved along.
        link : str
            Its name.

        Returns
        -------
        ndarray, shape (4, 4)

        Raises
        ------
        UnknownFrameError
            If there is no such link.
        ShapeError
            If q has the wrong shape or is not finite.

        """
        return pose_of(self._solver.tree, self._solver.checked_q(q), self._link(link))

    def jacobian(self, q: ArrayLike, link: str) -> Array:
        """
        Return d(position, angular velocity) / dq of a link, root axes.

        Parameters
        ----------
        q : array_like, shape (nq,)
            [rad or m]
        link : str
            Its name.

        Returns
        -------
        ndarray, shape (6, nq)
            Linear rows first; mimic joints count as free.

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `forward`.

        """
        return jacobian_of(self._solver.tree, self._solver.checked_q(q), self._link(link))

    def _link(self, name: str) -> Link:
        link = self.links.get(name)
        if link is None:
            raise UnknownFrameError(name, self.links, 'link')
        return link

    # -- goals

    def add_goal(
        self,
        link: str,
        *,
        name: str | None = None,
        dof: str = 'X Y Z EX EY EZ',
        axes: str = 'world',
        offset: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Goal:
        """
        Ask a pose of a link; the goal begins where the link is.

        A `Solver` made before must be told with `update_structure`.

        Parameters
        ----------
        link : str
            Its name.
        name : str, optional
            Of the goal; the link's by default.
        dof : str
            Axes that are asked for.
        axes : {'world', 'goal', 'link'}
            Whose axes `dof` counts in.
        offset : (position (3,) [m], quat_xyzw (4,)), optional
            The goal frame in the link.

        Raises
        ------
        UnknownFrameError
            If there is no such link.
        OptionError
            If the name is taken, or `dof` or `axes` are not allowed.

        """
        goal = Goal(name=link if name is None else name)
        if goal.name in self._goals or goal.name in self.closures:
            raise OptionError('name', goal.name, 'a name that no goal or closure has')
        goal.set_goal_dof(*parse_dofs(dof))
        goal.axes = axes
        if offset is not None:
            goal.set_offset(*offset)
        goal.make_closure(self._link(link))
        there = self._link(link).matrix_world @ pose_matrix(
            goal.offset_position, goal.offset_quaternion
        )
        goal.set_position(*there[:3, 3])
        goal.set_quaternion(*matrix_to_quat(there[:3, :3]))
        self._goals[goal.name] = goal
        return goal

    def remove_goal(self, name: str) -> None:
        """
        Take a goal away; a `Solver` made before must be told with `update_structure`.

        Raises
        ------
        UnknownFrameError
            If there is no such goal.

        """
        goal = self._goals.pop(name, None)
        if goal is None:
            raise UnknownFrameError(name, self._goals, 'goal')
        if goal.child is not None:
            goal.remove_child(goal.child)

    # -- loops

    def assemble(self) -> SolveResult:
        """
        Close all loops from the present values, within limits, and keep the result.

        Returns
        -------
        SolveResult
            Of all loops together; `closure_errors` says how far each is from closed.

        """
        self._solver.update_structure()
        solution = self._solver.solve_pose({})
        self._solver.q = solution.q
        self.assembly = SolveResult(
            status=solution.status,
            iterations=solution.iterations,
            starts=solution.starts,
            solve_time=solution.solve_time,
            goal_errors={},
            closure_errors=solution.closure_errors,
            active_limits=solution.active_limits,
        )
        return self.assembly

    @property
    def mobility(self) -> int:
        """
        Degrees of freedom at the present configuration, loops closed.

        The number of free values less the rank of the closures' Jacobian; locked joints and
        couplings count as not free.
        """
        jacobian, free = self._solver.closure_jacobian()
        if jacobian.size == 0:
            return free
        values = np.linalg.svd(jacobian, compute_uv=False)
        return free - int(np.sum(values > RANK_TOLERANCE * max(values[0], 1e-12)))


def load_robot(
    source: str | Path,
    *,
    closures: str | Path | Mapping[str, Any] | None = None,
    root: str = 'fixed',
    trim_unused: bool = False,
    assemble: bool = True,
) -> Robot:
    """
    Read a robot description with its loops.

    Parameters
    ----------
    source : str or Path
        A file, or the text itself.
    closures : str, Path or mapping, optional
        Closure annotations; they replace every loop declared in the description.
    root : {'fixed', 'floating'}
        Floating: the base moves with six degrees of freedom.
    trim_unused : bool
        Leave out branches without movable joints.
    assemble : bool
        Close the loops from the description's values: zero is usually not loop-consistent. How
        that went is in `Robot.assembly`.

    Raises
    ------
    DescriptionError
        If the description or the annotations cannot be used.
    TopologyError
        If the graph is not one that can be solved.

    """
    robot = Robot(read_description(source, closures=closures, root=root, trim_unused=trim_unused))
    if assemble and robot.closures:
        robot.assemble()
    return robot
