"""Differences between a robot and its copy, which was written and read back."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from ik_node.mechanism import Mechanism
from ik_node.model.rotation import Array, pose_matrix
import numpy as np

# Largest difference of poses, per metre of the robot's size.
TOLERANCE = 1e-11
POSES = 5


def differences(robot: Mechanism, other: Mechanism) -> list[str]:
    """
    Return the differences between a robot and its copy that was written and read back.

    The comparison covers links, joint values, limits, couplings, motors, masses, closures, their
    frames, and the pose of every link at several configurations. The copy may have more links
    and more fixed joints.
    """
    result = _of_names(robot, other)
    if result:
        return result
    facts, others = _facts(robot), _facts(other)
    result = [what for what, fact in facts.items() if fact != others[what]]
    if not np.allclose(robot.start, other.start, rtol=TOLERANCE, atol=TOLERANCE):
        result.append('initial joint values')
    random = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    before = robot.q, other.q
    for index in range(POSES):
        q = random.uniform(lower, upper) if index else np.zeros(len(lower))
        poses, other_poses = _at(robot, q), _at(other, q)
        size = max(1.0, *(np.max(np.abs(pose), initial=0.0) for pose in poses.values()))
        result += [
            what
            for what, pose in poses.items()
            if what not in result
            and not np.allclose(pose, other_poses[what], rtol=TOLERANCE, atol=TOLERANCE * size)
        ]
    robot.q, other.q = before
    return result


def _of_names(robot: Mechanism, other: Mechanism) -> list[str]:
    """Return the first names that differ, of the robot, links, joint values and so on."""
    kept = [name for name in other.links if name in robot.links]
    lists = {
        'name': ([robot.name], [other.name]),
        'links': (list(robot.links), kept),
        'joint values': (robot.joint_names, other.joint_names),
        'closures': (list(robot.closures), list(other.closures)),
        'motors': (_values_of(robot), _values_of(other)),
    }
    result = []
    for what, names in lists.items():
        pair = next((pair for pair in zip_longest(*names) if pair[0] != pair[1]), None)
        if pair is not None:
            result.append(f'{what}: {pair[0]!r}, {pair[1]!r}')
    return result


def _values_of(robot: Mechanism) -> list[str]:
    """Return the actuated joint values, without those that follow another one alone."""
    result: list[str] = []
    for name in robot.actuated:
        joint = robot.joints.get(name)
        if joint is None:
            result.append(name)
            continue
        for value, dof in zip(joint.value_names, joint.dof, strict=True):
            if dof not in joint.couplings or joint.couplings[dof].others:
                result.append(value)
    return result


def _facts(robot: Mechanism) -> dict[str, Any]:
    """Return what a copy has exactly: limits, masses and closures."""
    limits = ('lower', 'upper', 'max_velocity', 'max_effort')
    facts: dict[str, Any] = {f'{what} of the joints': [*getattr(robot, what)] for what in limits}
    facts['couplings'] = sorted(_following(robot))
    for name, link in robot.links.items():
        facts[f'mass of link {name!r}'] = (link.mass, *link.centre_of_mass)
    for name, closure in robot.closures.items():
        for what in ('kind', 'dof', 'distance', 'tolerance', 'weight', 'enabled'):
            facts[f'{what} of closure {name!r}'] = getattr(closure, what)
        ends = [getattr(end, 'name', None) for end in (closure.child, closure.parent)]
        facts[f'links of closure {name!r}'] = ends
    return facts


def _at(robot: Mechanism, q: Array) -> dict[str, Any]:
    """Return the poses of links and of frames of closures, and the values of coupled joints."""
    robot.q = q
    poses: dict[str, Any] = {f'pose of link {n!r}': robot.forward(q, n) for n in robot.links}
    # Residuals of equal frames can differ: the rotation vector of half a turn has two signs.
    for name, closure in robot.closures.items():
        offset = pose_matrix(closure.offset_position, closure.offset_quaternion)
        carrier = np.eye(4) if closure.child is None else closure.child.matrix_world
        frames = np.stack((carrier @ offset, closure.matrix_world))
        poses[f'frames of closure {name!r}'] = frames
    poses['couplings'] = [value for _, value in sorted(_following(robot).items())]
    return poses


def _following(robot: Mechanism) -> dict[str, float]:
    """Return the value of every coupled joint that follows from its masters."""
    values = dict(zip(robot.joint_names, robot.q.tolist(), strict=True))
    return {
        joint.value_name(dof): coupling.value(
            *(values[each.master.value_name(each.master_dof)] for each in coupling.terms)
        )
        for joint in robot.joint_order
        for dof, coupling in joint.couplings.items()
    }
