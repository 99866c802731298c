"""Parameters that name joints, and a base that is set afloat."""

import numpy as np
import pytest
from std_srvs.srv import Trigger


@pytest.fixture(scope='module')
def fivebar(lasting_graph, urdf):
    graph = lasting_graph
    graph.fivebar = graph.knows(urdf('fivebar'))
    graph.start_node(
        *('-p', 'goal_names:=[tool]', '-p', 'goals.tool.link:=tool_link'),
        *('-p', 'goals.tool.dof:=X Y'),
    )
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    graph.home = graph.fivebar.robot.forward(graph.fivebar.robot.q, 'tool_link')[:3, 3]
    return graph


@pytest.fixture(autouse=True)
def at_start(fivebar):
    clean = {'locked_joints': [''], 'rest_pose': '', 'joint_targets': ''}
    assert fivebar.set_parameters(**clean, root='fixed') == ''
    fivebar.wait(lambda: list(fivebar.joint_states[-1].name) == fivebar.fivebar.names, 'it')
    fivebar.call(Trigger, 'ik_node/reset', Trigger.Request())
    fivebar.catch_up()
    fivebar.wait(lambda: np.abs(fivebar.joint_states[-1].position).max() < 1e-6, 'the start')


def send(graph, offset):
    graph.send_goal('tool', graph.home + offset)


def test_locked_joint_stays_until_it_is_unlocked(fivebar):
    send(fivebar, np.array([0.02, 0.01, 0.0]))
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder')) > 0.01, 'a motion')
    fivebar.says('CONVERGED')
    fivebar.catch_up()
    locked = fivebar.value('left_shoulder')
    assert fivebar.set_parameters(locked_joints=['left_shoulder']) == ''
    send(fivebar, np.array([-0.02, 0.0, 0.0]))
    fivebar.wait(lambda: not fivebar.last_status().startswith('CONVERGED'), 'what it cannot do')
    fivebar.catch_up()
    assert fivebar.value('left_shoulder') == locked
    assert fivebar.set_parameters(locked_joints=['']) == ''
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder') - locked) > 1e-3, 'a motion')
    fivebar.says('CONVERGED')


def test_joint_target_of_the_parameter_is_met(fivebar):
    assert fivebar.set_parameters(joint_targets='{left_shoulder: 0.2}') == ''
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder') - 0.2) < 1e-6, 'the wish')
    fivebar.call(Trigger, 'ik_node/reset', Trigger.Request())
    fivebar.spin(10)
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder') - 0.2) < 1e-6, 'the wish')


def test_robot_drifts_to_the_configured_or_saved_rest_pose(fivebar):
    assert fivebar.set_parameters(rest_pose='{left_shoulder: 0.3, right_shoulder: 0.1}') == ''
    fivebar.wait(lambda: abs(fivebar.value('left_shoulder') - 0.3) < 1e-2, 'the rest pose')
    send(fivebar, np.array([-0.05, 0.0, 0.0]))
    fivebar.wait(lambda: fivebar.value('left_shoulder') < 0.25, 'another place')
    fivebar.says('CONVERGED')
    fivebar.catch_up()
    saved = fivebar.value('left_shoulder')
    answer = fivebar.call(Trigger, 'ik_node/save_rest_pose', Trigger.Request())
    assert (answer.success, answer.message) == (
        True,
        'the present configuration was saved as the rest pose',
    )
    fivebar.call(Trigger, 'ik_node/reset', Trigger.Request())
    fivebar.catch_up()
    there = pytest.approx(saved, abs=1e-2)
    fivebar.wait(lambda: fivebar.value('left_shoulder') == there, 'the rest pose')
    fivebar.spin(50)
    assert fivebar.value('left_shoulder') == there


@pytest.mark.parametrize(
    ('name', 'value', 'words'),
    [
        ('locked_joints', ['nose'], "locked_joints: 'nose'"),
        ('rest_pose', '{nose: 1}', "rest_pose: 'nose'"),
        ('rest_pose', '{left_shoulder: fast}', 'finite numbers'),
        ('rest_pose', '{left_shoulder', 'not valid YAML'),
        ('joint_targets', '{nose: 1}', "joint_targets: 'nose'"),
        ('joint_targets', '[1, 2]', 'YAML mapping'),
        ('root', 'loose', 'fixed or floating'),
    ],
)
def test_bad_values_are_refused(fivebar, name, value, words):
    from rcl_interfaces.srv import GetParameters

    good = {'rest_pose': '{left_shoulder: 0.1}', 'joint_targets': '{right_shoulder: 0.1}'}
    assert fivebar.set_parameters(**good) == ''
    assert words in fivebar.set_parameters(**{name: value})
    kept = fivebar.call(
        GetParameters, 'ik_node/get_parameters', GetParameters.Request(names=list(good))
    )
    assert [each.string_value for each in kept.values] == list(good.values())


def test_unsuitable_solve_method_is_refused(fivebar):
    """A method that moves single joints opens loops: the former method stays."""
    assert "'pin' would not stay closed" in fivebar.set_parameters(solver__method='ccd')
    send(fivebar, np.array([0.01, 0.0, 0.0]))
    fivebar.spin(5)
    fivebar.says('CONVERGED')


def test_root_can_become_floating_at_run_time(fivebar, urdf):
    """The base has six values and a pose in the world, and a missing tf2 is logged."""
    fivebar.knows(urdf('fivebar'), root='floating')
    assert fivebar.set_parameters(root='floating') == ''
    fivebar.wait(lambda: len(fivebar.joint_states[-1].name) == 10, 'ten values')
    send(fivebar, np.array([0.5, 0.0, 0.0]))
    fivebar.wait(lambda: fivebar.value('__world_joint__.X') > 0.1, 'a base that moves')
    try:
        import tf2_ros  # noqa: F401
    except ImportError:
        fivebar.wait(lambda: 'the package tf2_ros is not installed' in fivebar.log(), 'the log')
        assert fivebar.log().count('tf2_ros is not installed') == 1
    assert fivebar.set_parameters(root='fixed') == ''
    fivebar.wait(lambda: len(fivebar.joint_states[-1].name) == 4, 'four values')
