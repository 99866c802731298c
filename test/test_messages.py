"""Messages name the mistake that users make most often."""

import ik_node as ik
from ik_node.errors import IkError
import numpy as np
import pytest

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def test_unreached_goal_names_the_likely_mistake():
    """Millimetres, the order of a quaternion, a link that is fixed; also of `solve`."""
    for name, link, pose, hint in [
        ('arm6', 'tool_link', ((500.0, 0.0, 300.0), IDENTITY), 'in millimetres?'),
        ('hexapod', 'platform_link', ((5.0, 0.0, 90.0), IDENTITY), 'in millimetres?'),
        ('hexapod', 'platform_link', ((0.0, 0.0, 0.09), (1, 0, 0, 0)), 'is this one w x y z?'),
        ('hexapod', 'platform_link', ((0, 0, 0.09), (0.999, 0, 0, 0.04)), 'is this one w x y z?'),
        ('arm6', 'base_link', ((0.0, 0.0, 1.0), IDENTITY), 'its link does not move'),
        ('hexapod', 'base_link', ((0.0, 0.0, 0.1), IDENTITY), 'its link does not move'),
    ]:
        robot = ik.load_robot(name)
        solution = ik.Solver(robot).solve_pose({link: pose})
        assert not solution
        assert hint in solution.message
        goal = robot.add_goal(link)
        goal.set_pose(pose)
        assert hint in max(result.message for result in ik.Solver(robot).solve() if not result)


def test_unreached_goal_without_a_mistake_has_no_hint():
    """Out of reach by a metre, or turned too far."""
    solver = ik.Solver(ik.load_robot('arm6'))
    for pose in (((1.5, 0, 1.5), IDENTITY), ((0.3, 0, -2.0), (0, 0.9, 0, 0.4))):
        assert '(' not in solver.solve_pose({'tool_link': pose}).message


def test_wrong_argument_names_what_was_meant():
    """Names, axes, quaternions, choices."""
    for call, message in [
        (lambda s: s.solve_pose({'tool_link': ((0, 0, 1), (0, 0, 90, 0))}), 'length 90'),
        (lambda s: s.solve_batch({'tool_link': ([(0, 0, 1)], [(45, 0, 90, 0)])}), 'row 0.*length'),
        (lambda s: s.solve_pose({'tol_link': np.eye(4)}), "did you mean 'tool_link'"),
        (lambda s: s.solve_pose({'tool_link': np.eye(4)}, joints=['J7']), "did you mean 'j6'"),
        (lambda s: s.drive({'J1': 0.1}), "did you mean 'j1'"),
        (lambda s: s.solve_pose({'tool_link': np.eye(4)})['j_1'], "did you mean 'j1'"),
        (lambda s: ik.SolverOptions(method='dsl'), "did you mean 'dls'"),
        (lambda s: ik.Closure('tie', 'sperical'), "did you mean 'spherical'"),
        (lambda s: ik.load_robot('arm6', root='flaoting'), "did you mean 'floating'"),
    ]:
        with pytest.raises(IkError, match=message):
            call(ik.Solver(ik.load_robot('arm6')))


def test_driven_joint_beyond_its_limits_names_them():
    """With their unit, so that degrees and millimetres show."""
    hexapod, arm = (ik.Solver(ik.load_robot(name)) for name in ('hexapod', 'arm6'))
    driven = hexapod.drive({'leg0': 30})
    assert ' (limits [-0.02, 0.03] m), not 30; at limits: ' in driven.message
    assert ' (limits [-3.1416, 3.1416] rad), not 30' in arm.drive({'j1': 30}).message
