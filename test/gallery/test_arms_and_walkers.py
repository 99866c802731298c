"""What each of our arms and walkers is known for."""

from dataclasses import replace
from math import pi

from ik_node import from_dh, Solver, SolverOptions
from ik_node.gallery import gallery_item
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.gallery_motion import followed, loaded

UNIT = 0.04  # of the Denavit-Hartenberg table [m]
# d, a, alpha, theta [units, deg]
TABLE = np.array(
    [
        (5, 0, -90, 0),
        (0, 2, 90, 125),
        (0, 15, 0, -35),
        (15, 2, 90, 0),
        (0, 0, -90, 90),
        (2, 0, -90, 0),
    ]
)


def distance(robot, q, link, goal, length=1.0):
    """Return how far a link is from a goal: radians and lengths [m] squared and added."""
    pose = robot.forward(q, link)
    turn = Rotation.from_matrix(pose[:3, :3]) * Rotation.from_quat(goal[1]).inv()
    return float(np.sum((pose[:3, 3] - goal[0]) ** 2) / length**2 + turn.magnitude() ** 2)


@pytest.mark.parametrize('seed', range(2))
def test_dh_arm_agrees_with_its_table(seed):
    """Wherever the joints are, the tool is where the table has it, in a base turned upright."""
    arm = loaded('dh_arm')
    rows = TABLE * (UNIT, UNIT, 1.0, 1.0)
    rows[:, 2:] = np.radians(rows[:, 2:])
    table = from_dh(rows, convention='modified')
    upright = np.eye(4)
    upright[:3, :3] = Rotation.from_euler('x', pi / 2).as_matrix()
    q = np.random.default_rng(seed).uniform(arm.lower, arm.upper)
    found, wanted = arm.forward(q, 'tool_link'), upright @ table.forward(q, 'link6')
    np.testing.assert_allclose(found[:3, 3], wanted[:3, 3], atol=1e-5)
    # The links of the description lie along the base at zero, those of a table do not.
    home = (upright @ table.forward(np.zeros(6), 'link6'))[:3, :3]
    np.testing.assert_allclose(found[:3, :3] @ home, wanted[:3, :3], atol=1e-12)


def test_rover_arm_is_as_near_to_unreachable_goal_as_possible():
    """Six axes are one too many: nothing around the answer is nearer to the goal."""
    robot = loaded('rover_arm')
    item = gallery_item('rover_arm')
    home = robot.forward(robot.q, 'tool_link')
    dice, far = np.random.default_rng(1), 0
    for time, solution in followed(robot, 'rover_arm', np.arange(0.0, 4.0, 0.1)):
        step = item.motion(time)['tool']
        goal = (home[:3, 3] + step[0], step[1])
        length = solution.chains[0].characteristic_length
        short = distance(robot, solution.q, 'tool_link', goal, length)
        far += short > 0.1**2
        for scale in (1e-3, 1e-2, 1e-1):
            near = solution.q + scale * dice.normal(size=(8, 5))
            nearest = min(distance(robot, q, 'tool_link', goal, length) for q in near)
            assert nearest > short - 1e-9
    assert far > 20


def test_comfort_bends_elbow_and_wrist_alike():
    """All along its motion elbow and wrist bend alike, which they do not without comfort."""
    apart = {}
    for item in (
        gallery_item('gradient_arm'),
        replace(gallery_item('gradient_arm'), comfort=None),
    ):
        robot, path = loaded('gradient_arm'), []
        homes = {'tip': robot.forward(robot.q, 'tip_link')}
        robot.add_goal('tip_link', name='tip', dof='X Y Z')
        solver, q = Solver(robot, SolverOptions(**item.solver_options)), robot.q
        for time in np.arange(0.0, 5.0, 0.05):
            pose = item.poses(float(time), homes, None)['tip']
            q = solver.solve_pose({'tip': (pose[:3, 3], (0.0, 0.0, 0.0, 1.0))}, q0=q).q
            path.append(q)
        elbow, wrist = np.array(path).T[2:]
        assert np.ptp(elbow) > 0.5
        apart[item.comfort is None] = np.abs(elbow - wrist).max()
    assert apart[False] < 0.02 < 0.1 < apart[True]
