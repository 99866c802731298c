"""Random configurations with closed loops, within limits, with locked joints fixed."""

import math

from ik_node.robot import load_robot
from ik_node.solver import Solver
from ik_node.solver.states import closed_samples
import numpy as np
import pytest


@pytest.mark.parametrize('name', ['gripper', 'delta'])
def test_samples_close_loops_and_respect_limits(repository, name):
    """Most draws give a sample, and no two are equal."""
    robot = load_robot(repository / 'urdf' / f'{name}.urdf')
    here = robot.q
    samples = closed_samples(Solver(robot), 50)
    assert 25 <= len(samples) <= 50
    assert (samples >= robot.lower).all()
    assert (samples <= robot.upper).all()
    assert len(np.unique(samples.round(6), axis=0)) == len(samples)
    np.testing.assert_array_equal(robot.q, here)
    for q in samples[:10]:
        robot.q = q
        for closure in robot.closures.values():
            assert np.abs(closure.get_closure_error()[0]).max() < 1e-5


def test_seed_determines_samples(repository):
    """Same seed, same samples; another seed, others."""
    robot = load_robot(repository / 'urdf' / 'fivebar.urdf')
    one = closed_samples(Solver(robot), 20, seed=3)
    np.testing.assert_array_equal(one, closed_samples(Solver(robot), 20, seed=3))
    assert not np.array_equal(one, closed_samples(Solver(robot), 20, seed=4))


def test_samples_keep_locked_values_and_bound_unlimited_joints(repository):
    """An unlimited joint stays within half a turn to either side."""
    robot = load_robot(repository / 'docs' / 'robots' / 'arm6.urdf')
    first, *_, last = robot.joint_order
    first.lock()
    last.min_dof_limit[:], last.max_dof_limit[:] = -math.inf, math.inf
    samples = closed_samples(Solver(robot), 100)
    names = robot.joint_names
    assert (samples[:, names.index(first.name)] == robot.q[names.index(first.name)]).all()
    free = samples[:, names.index(last.name)]
    assert np.abs(free).max() <= np.pi
    assert np.ptp(free) > 5.0
