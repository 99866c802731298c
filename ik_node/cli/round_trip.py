"""Whether two robots are the same, but for what was put in to write one down."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import shown
from ik_node.robot import Robot
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest difference of poses [m], residuals [m, rad]; per metre of the robot's size.
TOLERANCE = 1e-12
POSES = 5


def differences(robot: Robot, other: Robot) -> list[str]:
    """
    Return what a robot that was written and read again has different; [] = nothing.

    Compared are links, joint values, limits, couplings, motors, masses, closures, their residuals
    and the pose of every link at some configurations. The other one may have more links, and
    more joints without values.
    """
    found = _of_names(robot, other)
    if found:
        return found
    for what in ('lower', 'upper', 'max_velocity'):
        if not np.array_equal(getattr(robot, what), getattr(other, what)):
            found.append(f'{what} of the joints')
    if not np.allclose(robot.start, other.start, rtol=TOLERANCE, atol=TOLERANCE):
        found.append('values that joints begin with')
    for name, link in robot.links.items():
        twin = other.links[name]
        if link.mass != twin.mass or not np.array_equal(link.centre_of_mass, twin.centre_of_mass):
            found.append(f'mass of link {shown(name)}')
    found += _of_closures(robot, other)
    random = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    before = robot.q, other.q
    for at in range(POSES):
        q = random.uniform(lower, upper) if at else np.zeros(len(lower))
        found += [each for each in _at(robot, other, q) if each not in found]
    robot.q, other.q = before
    return found


def _of_names(robot: Robot, other: Robot) -> list[str]:
    found = []
    if robot.name != other.name:
        found.append(f'name: {shown(robot.name)}, {shown(other.name)}')
    links = [name for name in other.links if name in robot.links]
    if links != list(robot.links):
        found.append('links')
    if robot.joint_names != other.joint_names:
        found.append(f'joint values: {_first(robot.joint_names, other.joint_names)}')
    if list(robot.closures) != list(other.closures):
        found.append(f'closures: {_first(list(robot.closures), list(other.closures))}')
    motors = [_values_of(each) for each in (robot, other)]
    if motors[0] != motors[1]:
        found.append(f'motors: {_first(*motors)}')
    return found


def _first(names: list[str], others: list[str]) -> str:
    """Return the first pair that differs."""
    for at in range(max(len(names), len(others))):
        pair = [each[at] if at < len(each) else None for each in (names, others)]
        if pair[0] != pair[1]:
            return f'{shown(pair[0])}, {shown(pair[1])}'
    return ''


def _values_of(robot: Robot) -> list[str]:
    """Return the motors, joints with several values by each of them."""
    found: list[str] = []
    for name in robot.actuated:
        joint = robot.joints.get(name)
        found += [name] if joint is None else joint.value_names
    return found


def _of_closures(robot: Robot, other: Robot) -> list[str]:
    found = []
    for name, closure in robot.closures.items():
        twin = other.closures[name]
        for what in ('kind', 'dof', 'distance', 'tolerance', 'weight', 'enabled'):
            if getattr(closure, what) != getattr(twin, what):
                found.append(f'{what} of closure {shown(name)}')
        for end in ('child', 'parent'):
            ends = [getattr(getattr(each, end), 'name', None) for each in (closure, twin)]
            if ends[0] != ends[1]:
                found.append(f'links of closure {shown(name)}')
    return found


def _at(robot: Robot, other: Robot, q: Array) -> list[str]:
    """Compare poses of links, values of joints that follow others, and residuals of loops."""
    found = []
    robot.q, other.q = q, q
    size = 1.0
    for name in robot.links:
        pose, twin = robot.forward(q, name), other.forward(q, name)
        size = max(size, float(np.max(np.abs(pose))))
        if not np.allclose(pose, twin, rtol=0.0, atol=TOLERANCE * size):
            found.append(f'pose of link {shown(name)}')
    for name, closure in robot.closures.items():
        rows, twins = closure.get_residual(), other.closures[name].get_residual()
        allowed = 10.0 * TOLERANCE * size
        if rows.shape != twins.shape or not np.allclose(rows, twins, rtol=0.0, atol=allowed):
            found.append(f'residual of closure {shown(name)}')
    following = [_following(each) for each in (robot, other)]
    if following[0].keys() != following[1].keys() or not all(
        np.isclose(value, following[1][name], rtol=TOLERANCE, atol=TOLERANCE)
        for name, value in following[0].items()
    ):
        found.append('couplings')
    return found


def _following(robot: Robot) -> Mapping[str, float]:
    """Return the value of every coupled joint value that its master asks for."""
    values = dict(zip(robot.joint_names, robot.q.tolist(), strict=True))
    found = {}
    for joint in robot.joint_order:
        names = dict(zip(joint.dof, joint.value_names, strict=True))
        for dof, coupling in joint.couplings.items():
            masters = dict(zip(coupling.master.dof, coupling.master.value_names, strict=True))
            found[names[dof]] = coupling.value(values[masters[coupling.master_dof]])
    return found
