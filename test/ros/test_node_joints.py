"""Parameters and messages that name joints, and a base that is set afloat."""

import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger


@pytest.fixture(scope='module')
def fivebar(lasting_graph, urdf):
    graph = lasting_graph
    goals = {'tool': ('tool_link', 'X Y')}
    graph.fivebar = graph.start_robot(urdf('fivebar'), goals=goals)
    return graph


@pytest.fixture(autouse=True)
def at_start(fivebar):
    """Begin each test at the start, without targets of joints."""
    clean = {'locked_joints': [''], 'rest_pose': '', 'joint_targets': ''}
    assert fivebar.set_parameters(**clean, root='fixed', state_source='solution') == ''
    fivebar.wait(lambda: list(fivebar.joint_states[-1].name) == fivebar.fivebar.names, 'it')
    reset(fivebar)
    fivebar.wait(lambda: np.abs(fivebar.joint_states[-1].position).max() < 1e-6, 'the start')


def reset(graph):
    graph.call(Trigger, 'ik_node/reset', Trigger.Request())
    graph.catch_up()


def send(graph, *offset):
    """Send the tool so far from its start."""
    graph.send_goal('tool', graph.fivebar.place('tool_link', offset))


def reaches(graph, value, tolerance=1e-6):
    """Wait until the left shoulder is at a value [rad]."""
    graph.wait(lambda: abs(graph.value('left_shoulder') - value) < tolerance, f'{value}')


def test_locked_joint_stays_until_it_is_unlocked(fivebar):
    send(fivebar, 0.02, 0.01, 0.0)
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder')) > 0.01, 'a motion')
    fivebar.says('CONVERGED')
    fivebar.catch_up()
    locked = fivebar.value('left_shoulder')
    assert fivebar.set_parameters(locked_joints=['left_shoulder']) == ''
    send(fivebar, -0.02, 0.0, 0.0)
    fivebar.wait(lambda: not fivebar.last_status().startswith('CONVERGED'), 'what it cannot do')
    fivebar.catch_up()
    assert fivebar.value('left_shoulder') == locked
    assert fivebar.set_parameters(locked_joints=['']) == ''
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder') - locked) > 1e-3, 'a motion')
    fivebar.says('CONVERGED')


def test_joint_targets_of_parameter_and_topic_are_met(fivebar):
    """After a reset that of the parameter counts again."""
    assert fivebar.set_parameters(joint_targets='{left_shoulder: 0.2}') == ''
    reaches(fivebar, 0.2)
    for name in ('nose', 'left_shoulder'):
        message = JointState(name=[name], position=[0.25])
        fivebar.publish(JointState, 'ik_node/joint_targets', message)
    reaches(fivebar, 0.25, 1e-4)
    reset(fivebar)
    reaches(fivebar, 0.2)


def test_robot_drifts_to_the_configured_or_saved_rest_pose(fivebar):
    assert fivebar.set_parameters(rest_pose='{left_shoulder: 0.3, right_shoulder: 0.1}') == ''
    reaches(fivebar, 0.3, 1e-2)
    send(fivebar, -0.05, 0.0, 0.0)
    fivebar.wait(lambda: fivebar.value('left_shoulder') < 0.25, 'another place')
    fivebar.says('CONVERGED')
    fivebar.catch_up()
    saved = fivebar.value('left_shoulder')
    answer = fivebar.call(Trigger, 'ik_node/save_rest_pose', Trigger.Request())
    assert answer.success
    assert 'saved as the rest pose' in answer.message
    reset(fivebar)
    reaches(fivebar, saved, 1e-2)
    fivebar.spin(50)
    assert fivebar.value('left_shoulder') == pytest.approx(saved, abs=1e-2)


def test_bad_values_of_joints_are_refused_and_the_old_ones_stay(fivebar):
    good = {'rest_pose': '{left_shoulder: 0.1}', 'joint_targets': '{right_shoulder: 0.1}'}
    assert fivebar.set_parameters(**good) == ''
    for name, value, words in (
        ('locked_joints', ['nose'], "locked_joints: 'nose'"),
        ('rest_pose', '{nose: 1}', "rest_pose: 'nose'"),
        ('rest_pose', '{left_shoulder', 'not valid YAML'),
        ('joint_targets', '{nose: 1}', "joint_targets: 'nose'"),
        ('root', 'loose', 'fixed or floating'),
        # A method that moves single joints opens loops.
        ('solver__method', 'ccd', "'pin' would not stay closed"),
    ):
        assert words in fivebar.set_parameters(**{name: value})
    request = GetParameters.Request(names=list(good))
    kept = fivebar.call(GetParameters, 'ik_node/get_parameters', request)
    assert [each.string_value for each in kept.values] == list(good.values())


def test_root_can_become_floating_at_run_time(fivebar, urdf):
    """The base has six values and a pose in the world, and a missing tf2 is logged."""
    fivebar.knows(urdf('fivebar'), root='floating')
    assert fivebar.set_parameters(root='floating') == ''
    fivebar.wait(lambda: len(fivebar.joint_states[-1].name) == 10, 'ten values')
    send(fivebar, 0.5, 0.0, 0.0)
    fivebar.wait(lambda: fivebar.value('__world_joint__.X') > 0.1, 'a base that moves')
    try:
        import tf2_ros  # noqa: F401
    except ImportError:
        fivebar.wait(lambda: 'the package tf2_ros is not installed' in fivebar.log(), 'the log')
        assert fivebar.log().count('tf2_ros is not installed') == 1
    assert fivebar.set_parameters(root='fixed') == ''
    fivebar.wait(lambda: len(fivebar.joint_states[-1].name) == 4, 'four values')
