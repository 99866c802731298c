"""Joints of several axes in requests: a floating base under MoveIt's name, a planar joint."""

import math

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Transform
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.ik_asking import arm_text, Asking, moved, parts
from support.moveit_messages import GetPositionIK, request_for, stamped, state_of
from support.naive import motion, pose

SUCCESS, BAD_STATE, NO_SOLUTION = 1, -17, -31
BENT = np.array((0.3, 0.5, 0.9, 0.2, 0.6, -0.4))
BASE = np.array((1.0, -2.0, 0.5, 0.1, -0.2, 2.5))  # x y z, roll pitch yaw
WORLD = '__world_joint__'
PLANAR = (
    '<robot name="cart"><link name="floor"/><joint name="cart" type="planar">'
    '<parent link="floor"/><child link="body"/><axis xyz="0 0 1"/></joint><link name="body"/>'
    '</robot>'
)


@pytest.fixture
def floating():
    asking = Asking(arm_text(6), root='floating')
    assert asking.names[:6] == [f'{WORLD}.{axis}' for axis in ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')]
    asking.q = np.concatenate((BASE, BENT))
    return asking


def transform_of(position, quat_xyzw):
    message = Transform()
    move, turn = message.translation, message.rotation
    move.x, move.y, move.z = map(float, position)
    turn.x, turn.y, turn.z, turn.w = map(float, quat_xyzw)
    return message


def matrix_of(message):
    move, turn = message.translation, message.rotation
    return pose((move.x, move.y, move.z), (turn.x, turn.y, turn.z, turn.w))


def asked(matrix, frame_id, base=BASE, name='virtual_joint', link='link6'):
    """Return a request as MoveIt fills it for a robot whose SRDF has a floating virtual joint."""
    state = state_of([f'joint{at}' for at in range(1, 7)], BENT)
    if name:
        several = state.multi_dof_joint_state
        several.header.frame_id = 'odom'
        several.joint_names = [name]
        several.transforms = [transform_of(*parts(motion(base)))]
    request = request_for(link, stamped(*parts(matrix), frame_id), state)
    request.ik_request.timeout = Duration(sec=60)
    return request


def values_of(asking, response):
    """Return every joint's value of an answer, the base's from its transform."""
    values = asking.values(response)
    for matrix in map(matrix_of, response.solution.multi_dof_joint_state.transforms):
        angles = Rotation.from_matrix(matrix[:3, :3]).as_euler('xyz')
        numbers = [*matrix[:3, 3], *angles]
        values.update(zip(asking.names[:6], numbers, strict=True))
    return values


@pytest.mark.parametrize('name', ['virtual_joint', WORLD])
def test_pose_in_the_base_frame_does_not_move_the_base(floating, name):
    """The base stays, because MoveIt moves only its group, whose base frame is the base link."""
    goal = BENT + 0.1
    relative = np.linalg.inv(floating.place(floating.q, 'base')) @ floating.place(
        np.concatenate((BASE, goal)), 'link6'
    )
    other = BASE + 0.3  # where the seed has it, not the node
    response = floating.ask(asked(relative, 'base', other, name))
    assert response.error_code.val == SUCCESS, response.error_code
    several = response.solution.multi_dof_joint_state
    assert (several.joint_names, several.header.frame_id) == ([name], 'odom')
    np.testing.assert_allclose(matrix_of(several.transforms[0]), motion(other), atol=1e-12)
    values = values_of(floating, response)
    np.testing.assert_allclose([values[f'joint{at}'] for at in range(1, 7)], goal, atol=1e-4)


def test_other_frame_is_looked_up_from_that_of_the_base(floating):
    shift = pose((0.1, 0.2, 0.3), (0, 0, 0.6, 0.8))
    seen = []

    def lookup(target, source):
        seen.append((target, source))
        return shift

    floating.lookup = lookup
    wanted = floating.place(floating.q, 'link6')
    for frame in ('map', 'world'):
        response = floating.ask(asked(np.linalg.inv(shift) @ wanted, frame))
        assert response.error_code.val == SUCCESS, response.error_code
        reached = floating.place(values_of(floating, response), 'link6')
        np.testing.assert_allclose(reached, wanted, atol=5e-6)
    assert seen == [('odom', 'map'), ('odom', 'world')]


def test_unnamed_base_does_not_move(floating):
    near = floating.place(np.concatenate((BASE, BENT + 0.1)), 'link6')
    response = floating.ask(asked(near, '', name=''))
    floating.check(response, {'link6': near})
    assert list(response.solution.multi_dof_joint_state.joint_names) == []
    response = floating.ask(asked(moved(near, 3.0), '', name=''))
    assert response.error_code.val == NO_SOLUTION
    assert f'{WORLD}.X' in response.error_code.message


@pytest.mark.parametrize(
    ('transforms', 'words'),
    [
        ([], '1 names need as many transforms, not 0'),
        ([transform_of((math.nan, 0, 0), (0, 0, 0, 1))], 'virtual_joint'),
        ([transform_of((0, 0, 0), (0, math.inf, 0, 1))], 'virtual_joint'),
        ([transform_of((0, 0, 0), (0, 0, 0, 0))], 'zero quaternion'),
    ],
)
def test_invalid_transform_is_refused(floating, transforms, words):
    request = asked(np.eye(4), '')
    request.ik_request.robot_state.multi_dof_joint_state.transforms = transforms
    response = floating.ask(request)
    assert response.error_code.val == BAD_STATE
    assert words in response.error_code.message
    assert response.solution == GetPositionIK.Response().solution


def test_planar_joint_is_read_and_written():
    cart = Asking(PLANAR)
    wanted = motion((0.5, -0.3, 0, 0, 0, 2.0))
    state = state_of([], [])
    several = state.multi_dof_joint_state
    several.joint_names = ['cart']
    several.transforms = [transform_of(*parts(motion((0.1, 0.2, 0, 0, 0, 0.3))))]
    response = cart.ask(request_for('body', stamped(*parts(wanted), 'floor'), state))
    assert response.error_code.val == SUCCESS
    (found,) = response.solution.multi_dof_joint_state.transforms
    np.testing.assert_allclose(matrix_of(found), wanted, atol=2e-6)
    several.transforms = [transform_of((0.1, 0.2, 0.01), (0, 0, 0, 1))]
    response = cart.ask(request_for('body', stamped(*parts(wanted), 'floor'), state))
    assert response.error_code.val == BAD_STATE
    assert 'X Y EZ only' in response.error_code.message
