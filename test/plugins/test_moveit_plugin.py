"""The MoveIt plugin in a host of our own: frames, limits, other seeds, loops and refusals."""

from ik_node import load_robot, Solver, SolverOptions
import numpy as np
import pytest
from support.cpp_plugins import compile_host, Host, pose_of

SUCCESS, TIMED_OUT, OK, EMPTY, NO_SOLUTION = 1, -6, 1, 5, 8
FREE = (1.0, -1.0)  # lower above upper: no bounds
MOUNT = """<link name="world"/><joint name="mount" type="fixed"><parent link="world"/>
  <child link="base_link"/><origin xyz="0.5 -0.2 0.8" rpy="0.4 1.1 -2"/></joint></robot>"""
FAR = np.eye(7)[0] * 9.0
ARM = [f'j{n}' for n in range(1, 7)]


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp('moveit')
    return compile_host(folder, 'moveit_host', 'ik_node_moveit/src/kinematics_plugin.cpp')


@pytest.fixture
def host(program, tmp_path):
    made = Host(program, tmp_path)
    yield made
    made.end()


@pytest.fixture
def arm(repository):
    return load_robot((repository / 'urdf/arm6.urdf').read_text().replace('</robot>', MOUNT))


def open_group(host, file, base, tips, joints, bounds=FREE, variables=()):
    listed = [word for joint in joints for word in (joint, *bounds)]
    variables = variables or joints
    counted = (len(tips), *tips, len(joints), *listed, len(variables), *variables)
    return host.ask('open', file, 'arm', base, *counted)


def search(host, seed, poses, timeout=2.0, callback='none', limits=()):
    given = (len(limits), *limits, *seed, len(poses))
    code, calls, *q = host.ask('search', timeout, callback, *given, *np.ravel(poses))
    return int(code), int(calls), np.array(q, float)


def in_base(robot, q, link, base='base_link'):
    return np.linalg.inv(robot.forward(q, base)) @ robot.forward(q, link)


def test_poses_of_a_mounted_arm_are_in_the_frame_of_the_groups_base(host, arm):
    """Solutions and forward kinematics; each pose is reached from a random seed."""
    assert open_group(host, host.export(arm, ['tool_link']), 'base_link', ['tool_link'], ARM) == [
        'opened'
    ]
    rng = np.random.default_rng(3)
    for _ in range(50):
        wanted, seed = rng.uniform(arm.lower, arm.upper, (2, 6))
        pose = in_base(arm, wanted, 'tool_link')
        found = np.array(host.ask('fk', 'tool_link', wanted), float)
        np.testing.assert_allclose(found[:3], pose[:3, 3], atol=1e-12)
        code, _, q = search(host, seed, [pose_of(pose)])
        assert code == SUCCESS
        np.testing.assert_allclose(in_base(arm, q, 'tool_link'), pose, atol=1e-5)
        assert np.all((arm.lower <= q) & (q <= arm.upper))
    assert host.ask('fk', 'no_link', wanted) == ['refused']


def test_consistency_limits_and_bounds_of_the_model_are_kept(host, arm):
    file = host.export(arm, ['tool_link'])
    open_group(host, file, 'base_link', ['tool_link'], ARM, (-1.5, 1.5))
    rng = np.random.default_rng(4)
    for _ in range(30):
        wanted = rng.uniform(np.maximum(arm.lower, -1.4), np.minimum(arm.upper, 1.4))
        seed, limits = wanted + rng.uniform(-0.2, 0.2, 6), np.full(6, 0.2)
        code, _, q = search(
            host, seed, [pose_of(in_base(arm, wanted, 'tool_link'))], limits=limits
        )
        assert code == SUCCESS
        assert np.abs(q - seed).max() <= 0.2 + 1e-9
        assert np.abs(q).max() <= 1.5
    pose = pose_of(in_base(arm, seed + 0.5, 'tool_link'))
    assert search(host, seed, [pose], timeout=0.05, limits=np.full(6, 1e-3))[0] == TIMED_OUT
    assert search(host, seed + 9.0, [pose], limits=limits)[0] not in (SUCCESS, TIMED_OUT)
    assert "seed of joint 'j1' is outside its limits" in host.log


def test_rejected_solutions_are_followed_by_others_until_the_timeout(host, arm):
    """The callback decides; a pose out of reach and one that is rejected for ever time out."""
    open_group(host, host.export(arm, ['tool_link']), 'base_link', ['tool_link'], ARM)
    wanted = np.array([0.3, -0.5, 0.8, 0.2, 0.7, -0.4])
    pose = pose_of(in_base(arm, wanted, 'tool_link'))
    assert search(host, wanted, [pose], callback=5)[:2] == (SUCCESS, 6)
    code, calls, q = search(host, wanted, [pose], timeout=0.05, callback='all')
    assert (code, len(q)) == (TIMED_OUT, 0)
    assert calls > 5
    far = [pose + FAR]
    assert search(host, wanted, far, timeout=0.05)[0] == TIMED_OUT
    host.ask('options', 0, 1, 0)
    assert search(host, wanted, far, timeout=0.05)[0] == SUCCESS


def test_single_call_starts_at_the_seed_and_ends_by_itself(host, arm):
    """`getPositionIK` returns the seed if that is the solution, and an error otherwise."""
    options = SolverOptions(restarts=0)
    file = host.export(arm, ['tool_link'], options=options)
    open_group(host, file, 'base_link', ['tool_link'], ARM)
    wanted = np.array([0.3, -0.5, 0.8, 0.2, 0.7, -0.4])
    pose = pose_of(in_base(arm, wanted, 'tool_link'))
    code, _, *q = host.ask('once', wanted, pose)
    assert int(code) == OK
    np.testing.assert_allclose(np.array(q, float), wanted, atol=1e-6)
    assert host.ask('once', wanted, pose + FAR)[0] == str(NO_SOLUTION)


def test_joints_outside_the_group_stay_where_the_context_has_them(host, arm):
    """The base of the group turns with a joint outside; poses are relative to it."""
    file = host.export(arm, ['tool_link'])
    open_group(host, file, 'j1_link', ['tool_link'], ARM[1:], variables=ARM)
    wanted = np.array([1.2, -0.5, 0.8, 0.2, 0.7, -0.4])
    pose = in_base(arm, wanted, 'tool_link', 'j1_link')
    host.ask('context', 'j1', 1.2)
    code, _, q = search(host, np.zeros(5) + 0.1, [pose_of(pose)])
    assert code == SUCCESS
    np.testing.assert_allclose(
        in_base(arm, np.r_[-2.0, q], 'tool_link', 'j1_link'), pose, atol=1e-5
    )


def test_loops_of_a_palletizer_are_closed_inside(host, repository):
    """The group is the chain to the tool; the joints of its loops are not in it."""
    robot = load_robot(repository / 'urdf/palletizer.urdf')
    robot.add_goal('tool_link', dof='X Y Z EZ')
    chain = ['turn', 'shoulder', 'elbow', 'level', 'wrist']
    places = [robot.joint_names.index(name) for name in chain]
    file, solver = host.export(robot, ['tool_link']), Solver(robot)
    assert open_group(host, file, 'base_link', ['tool_link'], chain) == ['opened']
    rng = np.random.default_rng(6)
    for _ in range(20):
        motors = zip(robot.actuated, rng.uniform(-0.3, 0.3, 4), strict=True)
        wanted = solver.drive(dict(motors), robot.start).q
        pose = pose_of(robot.forward(wanted, 'tool_link'))
        code, _, q = search(host, rng.uniform(-0.3, 0.3, 5), [pose])
        assert code == SUCCESS
        np.testing.assert_allclose(q, wanted[places], atol=1e-5)


def test_two_arms_hold_a_box_at_two_tips(host, repository):
    robot = load_robot(repository / 'urdf/two_arms_one_box.urdf')
    hands = ['right_hand_link', 'left_hand_link']
    joints = [name for name in robot.joint_names if name in robot.actuated]
    places = [robot.joint_names.index(name) for name in joints]
    file = host.export(robot, hands[::-1])
    assert open_group(host, file, 'base_link', hands, joints) == ['opened']
    start, moved = robot.start, np.eye(4)
    moved[:3, 3] = 0.02, 0.01, -0.03
    poses = [moved @ robot.forward(start, hand) for hand in hands]
    code, _, found = search(host, start[places], [pose_of(pose) for pose in poses])
    assert code == SUCCESS
    q = start.copy()
    q[places] = found
    for hand, pose in zip(hands, poses, strict=True):
        np.testing.assert_allclose(robot.forward(q, hand), pose, atol=2e-6)
    assert search(host, start[places], [pose_of(poses[0])] * 1)[0] != SUCCESS
    assert 'a call needs 2 poses' in host.log


def test_file_of_another_robot_is_refused(host, arm, repository):
    """Joints and links have the same names; an axis or a length is another one."""
    text = (repository / 'urdf/arm6.urdf').read_text().replace('</robot>', MOUNT)
    file = host.export(arm, ['tool_link']).rename(host.folder / 'own.ikr')
    for old, new in (('axis xyz="0 1 0"', 'axis xyz="0 -1 0"'), ('0 0 0.478', '0 0.01 0.478')):
        other = load_robot(text.replace(old, new, 1))
        host.ask('robot', host.export(other, ['tool_link']))
        assert open_group(host, file, 'base_link', ['tool_link'], ARM) == ['refused']
        assert 'own.ikr is of another robot' in host.log
    host.ask('robot', file)
    assert open_group(host, file, 'base_link', ['tool_link'], ARM) == ['opened']


def test_each_refusal_has_a_message(host, arm):
    file = host.export(arm, ['tool_link'])
    other = host.folder / 'other.ikr'
    content = file.read_bytes()
    other.write_bytes(content[:16] + b'0123456789abcdef' + content[32:])
    tip, opened = ['tool_link'], (host, file, 'base_link')
    for words, said in (
        ((host, '-', 'base_link', tip, ARM), 'robot_description_kinematics.arm.ikr_file'),
        ((host, '/no/file', 'base_link', tip, ARM), '/no/file: the file cannot be opened'),
        ((host, other, 'base_link', tip, ARM), 'for library 0123456789abcdef, this is'),
        ((host, 'package://p/f.ikr', 'base_link', tip, ARM), "package 'p' not found"),
        ((host, file, 'nowhere', tip, ARM), "base link 'nowhere' is not in"),
        ((*opened, ['j6_link'], ARM), 'the tips (j6_link) are not the goals (tool_link)'),
        ((*opened, tip, ['j9']), "joint 'j9' is not in"),
        ((*opened, tip, ARM, (7.0, 8.0)), "limits of joint 'j1'"),
        ((*opened, tip, []), 'the group needs joints'),
    ):
        assert open_group(*words) == ['refused']
        assert said in host.log
    assert open_group(*opened, tip, ARM) == ['opened']
    for seed, pose in ((np.full(6, np.nan), [0, 0, 0, 0, 0, 0, 1]), (np.zeros(6), [0] * 7)):
        assert search(host, seed, [pose])[0] not in (SUCCESS, TIMED_OUT)
    assert "seed of joint 'j1' is not finite" in host.log
    assert 'quaternion is zero' in host.log
