"""Joint targets and the rest pose: from a parameter, from messages, from a service."""

from ik_node.robot import load_robot
from ik_node.ros.control.motion import RestPose
from ik_node.ros.inputs.joint_inputs import JointTargets
import pytest

ARM = """<robot name="arm"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="one" type="revolute"><parent link="a"/><child link="b"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="ball" type="ball"><parent link="b"/><child link="c"/></joint></robot>"""


@pytest.fixture
def robot():
    return load_robot(ARM)


def targets(robot):
    return {
        joint.name: [joint.get_target_value(dof) for dof in joint.dof]
        for joint in robot.joint_order
        if joint.target_set
    }


def rests(robot):
    return {
        joint.name: [joint.get_rest_pose_value(dof) for dof in joint.dof]
        for joint in robot.joint_order
        if joint.rest_pose_set
    }


def test_last_target_of_each_joint_counts(robot):
    """A message replaces the parameter's target, and the parameter that of a message."""
    wishes = JointTargets()
    wishes.configure({'one': 0.1})
    wishes.apply(robot)
    assert targets(robot) == {'one': [0.1]}
    wishes.update(['one', 'ball.EX'], [0.2, 0.3])
    wishes.configure({'one': 0.1})  # unchanged: that is no new wish
    wishes.apply(robot)
    assert targets(robot) == {'one': [0.2], 'ball': [0.3, 0.0, 0.0]}
    wishes.configure({'one': 0.4})
    wishes.apply(robot)
    assert targets(robot) == {'one': [0.4], 'ball': [0.3, 0.0, 0.0]}
    wishes.configure({})
    wishes.apply(robot)
    assert targets(robot) == {'ball': [0.3, 0.0, 0.0]}


def test_reset_keeps_the_targets_of_the_parameter(robot):
    """Targets of messages are forgotten, and names of other robots are ignored."""
    wishes = JointTargets()
    wishes.configure({'one': 0.1, 'nose': 3.0})
    wishes.update(['ball.EZ'], [0.3])
    wishes.clear(robot)
    assert targets(robot) == {'one': [0.1]}


def test_target_of_one_value_covers_the_whole_joint(robot):
    """Values of a ball joint without a target get their present values as targets."""
    robot.joints['ball'].set_dof_values(0.1, 0.2, 0.3)
    wishes, rest = JointTargets(), RestPose()
    wishes.update(['ball.EY'], [0.5])
    wishes.apply(robot)
    rest.save({'ball.EZ': 0.7})
    rest.apply(robot)
    assert targets(robot) == {'ball': [0.1, 0.5, 0.3]}
    assert rests(robot) == {'ball': [0.1, 0.2, 0.7]}


def test_last_rest_pose_replaces_the_earlier_one(robot):
    """The parameter replaces a saved rest pose, and saving replaces the parameter's."""
    rest = RestPose()
    rest.apply(robot)
    assert rests(robot) == {}
    rest.configure({'one': 0.1})
    rest.apply(robot)
    assert rests(robot) == {'one': [0.1]}
    rest.save({'one': 0.2, 'ball.EX': 0.0, 'ball.EY': 0.0, 'ball.EZ': 0.1})
    rest.configure({'one': 0.1})  # unchanged
    rest.apply(robot)
    assert rests(robot) == {'one': [0.2], 'ball': [0.0, 0.0, 0.1]}
    rest.configure({'one': 0.3})
    rest.apply(robot)
    assert rests(robot) == {'one': [0.3]}
    rest.configure({})
    rest.apply(robot)
    assert rests(robot) == {}
