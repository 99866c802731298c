"""Differences along motions of actuators with closed loops, for any robot."""

from ik_node import Solver, SolverOptions
import numpy as np
from scipy.spatial.transform import Rotation

TIGHT = SolverOptions(translation_converge_threshold=1e-13, rotation_converge_threshold=1e-13)
# Of an actuator, in radians or metres.
TURN, SLIDE = 1e-3, 1e-4


def closed_configurations(robot, reach, count, seed=7):
    """
    Yield q with closed loops, driven to random values of some joints.

    `reach` has the range of each of these joints by name.
    """
    solver, dice = Solver(robot, TIGHT), np.random.default_rng(seed)
    for _ in range(count):
        drawn = {name: float(dice.uniform(*ends)) for name, ends in reach.items()}
        yield driven(solver, drawn)


def driven(solver, values, q0=None):
    solution = solver.drive(values, q0=q0)
    assert solution.status.name == 'CONVERGED', solution.message
    return solution.q


def change(robot, joints, before, after):
    """
    Return the change of joints and links between two configurations.

    The name of a link stands for six rows: the way of its origin, and the rotation vector of its
    turn, in root axes.
    """
    rows = []
    for name in joints:
        if name in robot.joint_names:
            at = robot.joint_names.index(name)
            rows.append(after[at] - before[at])
            continue
        start, end = robot.forward(before, name), robot.forward(after, name)
        turn = Rotation.from_matrix(end[:3, :3] @ start[:3, :3].T).as_rotvec()
        rows += [*(end[:3, 3] - start[:3, 3]), *turn]
    return np.array(rows)


def difference_jacobian(robot, actuators, joints, q, scale=1.0):
    """
    Return d joint / d actuator at q by central differences of fourth order.

    Each actuator is driven by up to twice `TURN` or `SLIDE`, times `scale`; the others stay.
    """
    solver, columns = Solver(robot, TIGHT), []
    places = [robot.joint_names.index(name) for name in actuators]
    for actuator in actuators:
        (dof,) = robot.joints[actuator].dof
        step = scale * (TURN if dof.is_rotation else SLIDE)
        ends = {}
        for count in (-2, -1, 1, 2):
            values = dict(zip(actuators, q[places].tolist(), strict=True))
            values[actuator] += count * step
            ends[count] = change(robot, joints, q, driven(solver, values, q))
        column = 8.0 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])
        columns.append(column / (12.0 * step))
    return np.column_stack(columns)
