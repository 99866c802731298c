"""Copy of a robot as a free graph, and transfer of joint values by name."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from copy import deepcopy
from typing import Any

from ik_node.description.description import Description
from ik_node.description.tree import trim_unused as trim_branches
from ik_node.description.tree import WORLD_JOINT
from ik_node.errors import OptionError, TopologyError, UnknownFrameError
from ik_node.model.dof import DOF
from ik_node.model.frame import find_roots, Frame
from ik_node.model.given import finite
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import matrix_to_euler, matrix_to_quat, pose_inverse, pose_matrix
from ik_node.model.tree import build_tree, Tree
from ik_node.robot import Robot
from ik_node.solver.pose import check_mapping, unit_pose
from ik_node.solver.problem.joint_table import JointTable
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROOT = 'root'  # key of the root's pose
WORLD_LINK = '__world_link__'


def robot_to_ik_root(robot: Robot, trim_unused: bool = False) -> Joint:
    """
    Return a copy of a robot below a free joint, which can be changed independently of the robot.

    The copy contains the links, the joints with their values, limits, locks, targets, rest poses
    and couplings, the closures and the goals.

    Parameters
    ----------
    robot : Robot
        The robot, which is not changed.
    trim_unused : bool
        Whether to remove branches that neither move nor have a closure or goal; their masses are
        added to the links that carried them.

    Returns
    -------
    Joint
        A joint named `__world_joint__` with all six axes, at zero. A robot loaded with
        root='floating' has that joint already. If the robot has several roots, the joint carries
        all of them.

    Raises
    ------
    TopologyError
        If the robot has several roots and one of them is `__world_joint__`.

    Examples
    --------
    >>> import ik_node as ik
    >>> root = ik.robot_to_ik_root(ik.load_robot('arm6'))
    >>> root.name
    '__world_joint__'

    """
    if not isinstance(robot, Robot):
        raise OptionError('robot', robot, 'a Robot; load_robot returns one')
    roots, links, joints = deepcopy(
        (list(robot.description.roots), dict(robot.links), dict(robot.joints))
    )
    if trim_unused:
        trim_branches(Description(robot.name, roots=roots, links=links, joints=joints))
    if any(root.name == WORLD_JOINT for root in roots):
        if len(roots) > 1 or not isinstance(roots[0], Joint):
            names = ', '.join(repr(root.name) for root in roots)
            raise TopologyError(
                f'a robot with the roots {names} cannot have one {WORLD_JOINT!r}: load it '
                "with root='fixed'"
            )
        return roots[0]
    world = Joint(WORLD_JOINT)
    world.set_dof(*DOF)
    if len(roots) == 1 and isinstance(roots[0], Link):
        world.add_child(roots[0])
        return world
    carrier = Link(WORLD_LINK)
    world.add_child(carrier)
    for root in roots:
        if isinstance(root, Link):  # only joints hang on links
            connector = Joint(f'{WORLD_JOINT}:{root.name}')
            connector.add_child(root)
            root = connector
        carrier.add_child(root)
    return world


def set_ik_from_urdf(ik_root: Frame, values: Mapping[str, Any]) -> None:
    """
    Set joint values of a graph by the names of a robot description.

    Parameters
    ----------
    ik_root : Frame
        The result of `robot_to_ik_root`, or any frame of a graph.
    values : mapping
        Joint values [rad or m] by joint name: a number, or an array for a joint with several axes,
        or a number for each of 'NAME.X', 'NAME.EZ' and so on, as in `Robot.joint_names`. Unless a
        joint has the name 'root', the key 'root' sets the pose of the root joint in the root
        frame: (position (3,) [m], quat_xyzw (4,)), or a (4, 4) matrix. Joints without an entry
        keep their values. A coupled joint follows its master and ignores its own entry. Values
        are clamped to the limits of the joint and of its followers.

    Raises
    ------
    UnknownFrameError
        If a name is not that of a movable joint. After any of these errors, no value has changed.
    ShapeError
        If a value has the wrong shape or is not finite.
    TopologyError
        If 'root' is given, and `ik_root` is not a joint with all six axes.

    Examples
    --------
    >>> import ik_node as ik
    >>> root = ik.robot_to_ik_root(ik.load_robot('arm6'))
    >>> ik.set_ik_from_urdf(root, {'j1': 0.2})

    """
    tree = _tree(ik_root, 'set_ik_from_urdf(ik_root, values)')
    check_mapping('values', values, 'joint: value')
    places = _places(tree)
    q = np.array([joint._dof_values[dof] for joint, dof in tree.owner])
    for name, value in values.items():
        if name in places:
            q[places[name]] = finite(name, value, len(places[name]))
        elif name == ROOT:
            q[places[_free(ik_root).name]] = _motion_to(_free(ik_root), value)
        else:
            raise UnknownFrameError(name, [*places, ROOT], 'movable joint')
    table = JointTable(tree)
    q = np.clip(q, table.lower, table.upper)
    table.follow(q)
    for number, (joint, dof) in zip(q.tolist(), tree.owner, strict=True):
        joint.set_dof_value(dof, number)


def set_urdf_from_ik(values: MutableMapping[str, Any], ik_root: Frame) -> None:
    """
    Write the joint values of a graph to a mapping, by the names of a robot description.

    Parameters
    ----------
    values : mutable mapping
        The values of all movable joints are written in the format of `set_ik_from_urdf`: one
        number, or one for each of 'NAME.X', 'NAME.EZ' and so on. If the mapping has the name of a
        joint with several axes as a key, the value is an array. 'root' gets the (position,
        quat_xyzw) of a free root joint. Other keys do not change.
    ik_root : Frame
        The result of `robot_to_ik_root`, or any frame of a graph.

    Examples
    --------
    >>> import ik_node as ik
    >>> root, values = ik.robot_to_ik_root(ik.load_robot('arm6')), {}
    >>> ik.set_urdf_from_ik(values, root)
    >>> 'j1' in values
    True

    """
    tree = _tree(ik_root, 'set_urdf_from_ik(values, ik_root)')
    if not isinstance(values, MutableMapping):
        raise OptionError('values', values, 'a dict; the call is (values, ik_root)')
    if _is_free(ik_root):
        pose = ik_root.matrix_world
        values[ROOT] = (pose[:3, 3].copy(), matrix_to_quat(pose))
    for name, (joint, dof) in zip(tree.names, tree.owner, strict=True):
        if len(joint.dof) > 1 and joint.name in values:
            values[joint.name] = joint._dof_values[joint.dof]
        elif joint is not ik_root or not _is_free(ik_root) or name in values:
            values[name] = float(joint._dof_values[dof])


def _tree(ik_root: Frame, call: str) -> Tree:
    """Return the tree of all frames that are connected with a frame."""
    if not isinstance(ik_root, Frame):
        raise OptionError('ik_root', type(ik_root).__name__, f'a frame; the call is {call}')
    return build_tree(find_roots(ik_root))


def _places(tree: Tree) -> dict[str, list[int]]:
    """Return indices in q by joint name and by value name."""
    places: dict[str, list[int]] = {}
    for index, (joint, _) in enumerate(tree.owner):
        places.setdefault(joint.name, []).append(index)
    for index, name in enumerate(tree.names):
        places.setdefault(name, [index])
    return places


def _is_free(frame: Frame) -> bool:
    return isinstance(frame, Joint) and len(frame.dof) == len(DOF) and not frame.is_closure


def _free(ik_root: Frame) -> Joint:
    if isinstance(ik_root, Joint) and _is_free(ik_root):
        return ik_root
    raise TopologyError(
        f'{ik_root.name!r} is not a joint with all six axes, so its pose cannot be set; '
        'robot_to_ik_root returns such a joint'
    )


def _motion_to(joint: Joint, pose: Any) -> Array:
    """Return the six values of a free joint for a pose in the root frame."""
    above = np.eye(4) if joint.parent is None else joint.parent.matrix_world
    moved = pose_inverse(above @ joint.matrix) @ _pose(pose)
    return np.concatenate((moved[:3, 3], matrix_to_euler(moved)))


def _pose(pose: Any) -> Array:
    """Return a pose as a matrix (4, 4)."""
    numbers = unit_pose(ROOT, pose)
    return pose_matrix(numbers[:3], numbers[3:])
