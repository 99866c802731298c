"""The ankle's transmission written by hand: its three forms, and the robot of the gallery."""

import ctypes

import ankle as bench
import hand_written_ankle as by_hand
from ik_node import load_robot, Solver, SolverOptions
from ik_node.description.files import description_path
import numpy as np

JOINTS = ('ankle_pitch', 'ankle_roll', 'motor_left', 'motor_right')
TIGHT = SolverOptions(translation_converge_threshold=1e-13, rotation_converge_threshold=1e-13)


def samples(count):
    dice = np.random.default_rng(5)
    position = dice.uniform((-0.8, -0.4), (0.8, 0.4), (count, 2))
    return np.hstack((position, dice.normal(size=(count, 4))))


def test_motor_angles_are_those_of_the_closed_robot():
    """The robot's loops close at the angles of the formula, and in the same assembly branch."""
    robot = load_robot(description_path('ankle.urdf'))
    solver, places = Solver(robot, TIGHT), [robot.joint_names.index(name) for name in JOINTS]
    for row in samples(40):
        solution = solver.drive(dict(zip(JOINTS[:2], row[:2].tolist(), strict=True)))
        assert solution.status.name == 'CONVERGED'
        expected = [*row[:2], *by_hand.motor_angles(row[:2])]
        np.testing.assert_allclose(solution.q[places], expected, atol=1e-10)


def test_floats_and_c_agree_with_arrays(tmp_path):
    loaded = bench.library(tmp_path)
    out, start = (ctypes.c_double * 6)(), (ctypes.c_double * 2)()
    for row in samples(40):
        motors = np.concatenate(by_hand.to_motors(row[:2], row[2:4], row[4:]))
        np.testing.assert_allclose(by_hand.fast_to_motors(*row), motors, rtol=1e-12, atol=1e-13)
        if loaded is not None:
            loaded.hand_to_motors((ctypes.c_double * 6)(*row), out)
            np.testing.assert_allclose(out, motors, rtol=1e-12, atol=1e-13)
            loaded.hand_to_ankle((ctypes.c_double * 6)(*motors), start, out)
            np.testing.assert_allclose(out, row, atol=1e-11)
