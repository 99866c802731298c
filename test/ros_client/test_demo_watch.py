"""The demo's line a second, measured and not believed."""

from ik_node import load_robot
from ik_node.ros_client.run_demo import DemoWatch
import numpy as np
import pytest

GOALS = {'platform': 'platform_link'}


@pytest.fixture
def robot(repository):
    return load_robot(repository / 'urdf' / 'hexapod.urdf')


@pytest.fixture
def watch(robot):
    return DemoWatch(robot, GOALS)


def number(line, word):
    return float(line.split(word)[1].split()[0].rstrip(','))


@pytest.mark.parametrize(
    ('dof', 'metres', 'radians'),
    [('X Y Z EX EY EZ', 5.0, 0.3), ('X Z', 3.0, 0.0), ('Y EZ', 4.0, 0.3), ('EX EY', 0.0, 0.0)],
)
def test_only_constrained_axes_are_measured(robot, dof, metres, radians):
    watch = DemoWatch(robot, GOALS, {'platform': dof})
    goal = robot.forward(robot.q, 'platform_link').copy()
    turn = [[np.cos(0.3), -np.sin(0.3), 0.0], [np.sin(0.3), np.cos(0.3), 0.0], [0.0, 0.0, 1.0]]
    goal[:3, :3] = np.array(turn) @ goal[:3, :3]
    goal[:3, 3] += (3.0, 4.0, 0.0)
    watch.sent('platform', goal)
    watch.saw_joints(robot.joint_names, robot.q.tolist())
    line = watch.line(1.0, 1.0)
    assert number(line, 'goal <= ') == pytest.approx(metres)
    assert float(line.split(' rad')[0].split()[-1]) == pytest.approx(radians)


def test_open_loop_is_measured(robot, watch):
    q = robot.q
    q[list(robot.joint_names).index('leg3')] += 0.001
    watch.saw_joints(robot.joint_names, q.tolist())
    assert number(watch.line(1.0, 1.0), 'loops <= ') == pytest.approx(1e-3, rel=0.05)
