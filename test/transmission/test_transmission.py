"""Which joints a transmission connects, its prepared calls, and positions that cannot be had."""

from ik_node.errors import OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.solver.status import Status
from ik_node.transmission.state import joint_bounds
import numpy as np
import pytest
from support.building import Mechanism
from support.transmissions import gallery_robot, places_of


def test_error_says_why_actuators_and_joints_do_not_belong_together():
    """Each of them would leave a zero, an undetermined or an impossible row."""
    for robot, actuators, joints, said in [
        ('fivebar', [], None, 'no actuators'),
        ('fivebar', ['left_shoulder'], ['left_elbow'], 'do not determine'),
        ('excavator', ['boom_cylinder'], ['swing'], 'moves nothing'),
        ('excavator', ['boom_cylinder', 'arm_cylinder'], ['boom', 'swing'], 'in no loop'),
        ('fivebar', ['left_shoulder', 'left_shoulder'], None, 'twice'),
        ('fivebar', ['left_shoulder'], [], 'moves nothing'),
        ('fivebar', ['left_shoulder', 'right_shoulder'], ['left_elbow'] * 2, 'twice'),
        ('gripper', ['left_crank', 'right_crank'], None, 'two actuators move the same'),
    ]:
        with pytest.raises(TopologyError, match=said):
            gallery_robot(robot).transmission(actuators, joints)


@pytest.mark.parametrize('value', [1e4, -1e30])
def test_value_far_away_ends_the_way_after_a_bounded_number_of_parts(value):
    """A joint without limits would otherwise walk for hours, and a node with it."""
    transmission = gallery_robot('strandbeest').transmission(['crank'])
    state = transmission.to_joints([value])
    assert state.status is Status.STALLED
    assert 10.0 < abs(state.actuator_position[0]) < 1000.0
    assert 'steps are spent' in state.message
    assert repr(state).startswith('TransmissionState(STALLED, actuators [')
    assert repr(transmission).startswith('Transmission(actuators: crank; joints: ')
    assert transmission.prepare_to_joints()([value]).status is Status.STALLED


def test_single_number_is_a_position_beside_velocity_and_effort():
    prepared = gallery_robot('strandbeest').transmission(['crank']).prepare_to_joints()
    one, row = prepared(0.1, 1.0, 2.0), prepared([0.1], [1.0], [2.0])
    np.testing.assert_allclose(one.velocity, row.velocity, atol=1e-9)
    np.testing.assert_allclose(one.joint_effort, row.joint_effort, atol=1e-9)


def test_follower_by_a_polynomial_is_a_motor_or_a_joint_like_others():
    """Its master is found by Newton's method."""
    robot = gallery_robot('arm6')
    robot.joints['j2'].couple('EY', robot.joints['j1'], 'EZ', [0.0, 1.0, 0.5])
    state = robot.transmission(['j1'], ['j1', 'j2']).to_joints(0.2, 1.0)
    np.testing.assert_allclose(state.joint_velocity, [1.0, 1.2], atol=1e-12)
    robot.joints['j3'].couple('EY', robot.joints['j1'], 'EZ', [0.1])
    with pytest.raises(TopologyError, match='moves nothing'):
        robot.transmission(['j3'], ['j1'])
    between = robot.transmission(['j1'], ['j2'])
    found = (
        between.to_actuators(0.22, 1.2),
        robot.transmission(['j2'], ['j1']).to_joints(0.22, 1.2),
    )
    for state in found:
        assert state.converged
        assert state.q[:2] == pytest.approx([0.2, 0.22], abs=1e-9)
        assert state.velocity[:2] == pytest.approx([1.0, 1.2], abs=1e-9)


def test_unknown_names_are_errors():
    """The message lists joints and links."""
    robot = gallery_robot('fivebar')
    with pytest.raises(UnknownFrameError, match='did you mean'):
        robot.transmission(['left_shoulders'])
    with pytest.raises(UnknownFrameError, match='joint or link'):
        robot.transmission(None, ['tool'])


def test_wrong_argument_is_refused():
    """A prepared call works again afterwards."""
    robot = gallery_robot('fivebar')
    transmission = robot.transmission(joints=['left_elbow', 'right_elbow'])
    prepared = transmission.prepare_to_joints()
    right = robot.q[places_of(transmission)]
    for call in (
        transmission.to_joints,
        transmission.to_actuators,
        prepared,
        lambda effort: transmission.actuator_effort(robot.q, effort),
    ):
        for wrong in (None, 'x', [1.0], [[0.0, 1.0]], [0.0, np.nan], np.inf):
            with pytest.raises((ShapeError, OptionError)):
                call(wrong)
            assert prepared(right).converged


def test_open_loop_is_an_error_that_names_it():
    """A Jacobian there would be that of another mechanism."""
    robot = gallery_robot('fivebar')
    q = robot.q + np.array((0.0, 0.1, 0.0, 0.0))
    with pytest.raises(OptionError, match='is open by'):
        robot.transmission().jacobian(q)


@pytest.mark.parametrize('name', ['ankle', 'hexapod', 'excavator'])
def test_prepared_calls_follow_a_path_and_agree_with_plain_calls(name):
    """Both directions, in their assembly, with velocities and efforts."""
    robot = gallery_robot(name)
    transmission = robot.transmission()
    own = places_of(transmission)
    forward, back = transmission.prepare_to_joints(), transmission.prepare_to_actuators()
    random = np.random.default_rng(0)
    way = 0.01 * random.uniform(-1.0, 1.0, len(own))
    middle = np.clip(robot.q, robot.lower + 0.02, robot.upper - 0.02)[own]
    for share in np.sin(np.linspace(0.1, 6.0, 40)):
        rates = random.uniform(-1.0, 1.0, (2, len(own)))
        state = forward(middle + share * way, *rates)
        plain = transmission.to_joints(middle + share * way, *rates)
        assert state.status is plain.status is Status.CONVERGED
        for what in ('q', 'velocity', 'joint_effort', 'joint_velocity', 'actuator_effort'):
            assert np.abs(getattr(state, what) - getattr(plain, what)).max() <= 1e-8, what
        there = back(state.joint_position, state.joint_velocity, state.joint_effort)
        assert np.abs(there.actuator_position - state.actuator_position).max() <= 1e-9
        assert np.abs(there.actuator_velocity - rates[0]).max() <= 1e-8
        assert np.abs(there.actuator_effort - rates[1]).max() <= 1e-8


def test_prepared_call_follows_changes_of_the_robot():
    """A longer arm moves farther from the next call on."""
    robot = gallery_robot('ankle')
    prepared = robot.transmission(joints=['ankle_pitch', 'ankle_roll']).prepare_to_joints()
    before = prepared((0.1, 0.1), (1.0, 1.0)).joint_velocity.copy()
    ball = robot.closures['rod_left_ball']
    x, y, z = ball.position
    ball.set_position(x - 0.005, y, z)
    robot.assemble()
    prepared.start()
    after = prepared((0.1, 0.1), (1.0, 1.0)).joint_velocity
    assert np.abs(after - before).max() > 1e-6


def test_position_beyond_limits_stalls_at_the_nearest():
    """The message names the joint that stopped; the loops are closed there."""
    robot = gallery_robot('ankle')
    transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    state = transmission.to_actuators((2.0, 0.0))
    assert state.status is Status.STALLED
    assert 'ankle_pitch' in state.message
    pitch = robot.joint_names.index('ankle_pitch')
    assert state.q[pitch] == pytest.approx(robot.upper[pitch], abs=1e-6)
    assert transmission.solver.solve_pose({}, state.q).converged
    assert np.abs(transmission.solver.solve_pose({}, state.q).q - state.q).max() <= 1e-6


def cranks(count):
    """Return slider-cranks side by side: a crank of 0.1 m, a rod of 0.3 m and a piston each."""
    m = Mechanism('cranks')
    m.root('base')
    for k in range(count):
        crank = m.joint(f'crank{k}', 'base', 'EZ', xyz=(0, k, 0))
        rod = m.joint(f'rod{k}', f'crank{k}_link', 'EZ', xyz=(0.1, 0, 0))
        piston = m.joint(f'piston{k}', 'base', 'X', xyz=(0, k, 0))
        crank.set_dof_values(np.pi / 2)
        height = np.sqrt(0.3**2 - 0.1**2)
        rod.set_dof_values(-np.pi / 2 - np.arctan2(0.1, height))
        piston.set_dof_values(height)
        m.closure(f'pin{k}', f'rod{k}_link', f'piston{k}_link', dof='X Y', xyz=(0.3, 0, 0))
    return m


@pytest.mark.parametrize('count', [1, 6])
def test_nearness_means_the_same_for_any_number_of_motors(count):
    """A piston drives its crank to 1e-6 rad before a dead centre, beside other cranks."""
    from ik_node.transmission.transmission import Transmission

    m = cranks(count)
    solver = m.solver()
    between = Transmission(solver, [f'piston{k}' for k in range(count)])
    regular = between.singularity(solver.q)
    assert regular.nearness == pytest.approx(1.0 / np.hypot(1.0, regular.ratio_2))
    assert 0.3 < regular.nearness < 0.95
    assert regular.warning(0.05, solver.joint_names, between.joints) == ''
    q = solver.drive({'crank0': 1e-6}).q
    near = between.singularity(q)
    # d piston / d crank = r sin(angle) (1 + r / l) there; the rod turns by (1 + r / l) of it.
    length = between._units[solver.joint_names.index('piston0')]
    wanted = length / (0.1 * 1e-6 * (1.0 + 0.1 / 0.3)) * (1.0 + 0.1 / 0.3)
    assert near.ratio_2 == pytest.approx(wanted, rel=1e-3)
    assert near.nearness == pytest.approx(1.0 / wanted, rel=1e-3)
    said = near.warning(0.05, solver.joint_names, between.joints)
    assert 'type II' in said
    assert 'crank0' in said
    back = Transmission(solver, ['crank0'], ['piston0']).singularity(q)
    assert back.nearness < 1e-5
    assert 'type I ' in back.warning(0.05, solver.joint_names, ['piston0'])


def test_bounds_contain_what_actuators_can_do_and_nothing_else():
    """Against samples of the actuators' box, for velocity and effort."""
    robot = gallery_robot('ankle')
    for name in robot.actuated:
        joint = robot.joints[name]
        joint.max_velocity[joint.dof[0]] = 3.0
        joint.max_effort[joint.dof[0]] = 40.0
    transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    q = transmission.to_actuators((0.2, 0.1)).q
    bounds, ratio = transmission.joint_bounds(q), transmission.jacobian(q)
    random = np.random.default_rng(0)
    for signs in random.uniform(-1.0, 1.0, (200, 2)):
        assert bounds.velocity.contains(ratio @ (3.0 * signs))
        assert bounds.effort.contains(np.linalg.solve(ratio.T, 40.0 * signs))
    for corner in bounds.velocity.vertices:
        assert np.abs(np.linalg.solve(ratio, corner)).max() == pytest.approx(3.0)
        assert not bounds.velocity.contains(1.01 * corner)
    for corner in bounds.effort.vertices:
        assert np.abs(ratio.T @ corner).max() == pytest.approx(40.0)
    assert len(bounds.velocity.vertices) == len(bounds.effort.vertices) == 4
    for polytope in (bounds.velocity, bounds.effort):
        low, high = polytope.inner
        for share in random.uniform(0.0, 1.0, (50, 2)):
            assert polytope.contains(low + share * (high - low))
        assert np.abs(polytope.vertices).max(axis=0) == pytest.approx(polytope.upper)


def test_bounds_are_exact_if_motors_are_fewer_weak_or_without_limits():
    """A flat polytope has its two ends as corners; an actuator of limit 0 leaves a line."""
    ratio = np.array([[0.3], [0.7], [-0.1]])
    speeds, efforts = joint_bounds(ratio, np.array([2.0]), np.array([5.0]))
    assert speeds.upper == pytest.approx([0.6, 1.4, 0.2])
    assert sorted(speeds.vertices[:, 0]) == pytest.approx([-0.6, 0.6])
    assert speeds.vertices[:, 1] / speeds.vertices[:, 0] == pytest.approx(7.0 / 3.0)
    assert efforts.vertices is None
    assert np.isinf(efforts.upper).all()
    assert efforts.alone == pytest.approx([5.0 / 0.3, 5.0 / 0.7, 50.0])
    ratio = np.array([[1.0, 0.3], [0.2, 0.7]])
    speeds, efforts = joint_bounds(ratio, np.array([0.0, 2.0]), np.array([np.inf, 0.0]))
    assert np.abs(speeds.vertices) == pytest.approx(np.array([[0.6, 1.4]] * 2))
    assert efforts.vertices is None
    assert np.isinf(efforts.upper).all()
    assert not efforts.contains(np.array((0.1, 0.1)))


def free_five_bar():
    """Return a five-bar without limits, with a transmission to both joints of its left leg."""
    robot = gallery_robot('fivebar')
    for joint in robot.joint_order:
        joint.set_limits(joint.dof[0], -9.0, 9.0)
    return robot, robot.transmission(joints=['left_shoulder', 'left_elbow'])


def test_way_into_a_singularity_of_type_two_ends_with_a_warning():
    """The elbows go apart until the forearms are in one line, which no motor can hold."""
    robot, transmission = free_five_bar()
    prepared, start = transmission.prepare_to_joints(), robot.q[places_of(transmission)]
    last, warned = robot.q, ''
    for turn in np.linspace(0.0, 0.8, 400):
        state = prepared(start + turn * np.array((1.0, -1.0)), (1.0, -1.0), (1.0, 1.0))
        for values in (state.q, state.velocity, state.joint_effort, state.actuator_effort):
            assert np.isfinite(values).all()
        assert np.abs(state.q - last).max() <= 0.3
        last = state.q
        if state.status is Status.STALLED:
            break
        warned = transmission.singularity(last).warning(
            0.2, robot.joint_names, transmission.joints
        )
    assert state.status is Status.STALLED
    # In one line at 2 * 0.24 m = 0.16 m + 2 * 0.18 m * cos(60 degrees - turn).
    assert turn == pytest.approx(np.pi / 3.0 - np.arccos(0.32 / 0.36), abs=0.01)
    assert 'singularity of type II' in warned
    assert 'elbow' in warned
    for _ in range(20):
        again = prepared(start + np.array((0.8, -0.8)), (1.0, -1.0), (1.0, 1.0))
        assert np.abs(again.q - last).max() <= 0.1
        assert np.isfinite(again.joint_effort).all()


def test_motors_pass_a_singularity_of_type_one():
    """The right leg is stretched: the tool stands still while its motor turns."""
    robot, transmission = free_five_bar()
    back = transmission.prepare_to_actuators()
    here = transmission.to_joints(robot.q[places_of(transmission)]).joint_position
    warned = ''
    for turn in np.linspace(0.0, 1.5, 400):
        state = back(here + np.array((turn, 0.0)), (1.0, 0.0), (1.0, 1.0))
        assert np.isfinite(state.actuator_velocity).all()
        assert np.isfinite(state.actuator_effort).all()
        if state.status is Status.STALLED:
            break
        warned = transmission.singularity(state.q).warning(
            0.1, robot.joint_names, transmission.joints
        )
    assert state.status is Status.STALLED
    assert 'singularity of type I ' in warned
    motors = state.actuator_position.copy()
    elbow = robot.joint_names.index('right_elbow')
    forward, elbows = transmission.prepare_to_joints(), []
    forward.start(state.q)
    for turn in np.linspace(0.0, 0.2, 40):
        beyond = [
            forward(motors + np.array((0.0, side * turn)), (0.0, 1.0)) for side in (1.0, -1.0)
        ]
        assert all(each.converged for each in beyond)
        elbows += [each.q[elbow] for each in beyond]
        assert np.isfinite(beyond[0].joint_velocity).all()
    assert max(elbows) - min(elbows) > 0.2
