"""Robots of all kinds: what is answered solves the request by the oracle, or is no success."""

from builtin_interfaces.msg import Duration
from ik_node.solver import Solver
import numpy as np
import pytest
from support.ik_asking import arm_text, Asking, moved, parts, settings_of
from support.moveit_messages import request_for, stamped, state_of

SUCCESS, NO_SOLUTION = 1, -31


def asked(asking, matrix, link, frame_id='', seed=None):
    """Return a request with the full state as seed, and time on a busy machine."""
    state = state_of(asking.names, asking.q if seed is None else seed)
    request = request_for(link, stamped(*parts(matrix), frame_id), state)
    request.ik_request.timeout = Duration(sec=60)
    return request


def turned(dice, most):
    return tuple(dice.uniform(-most, most, 3))


@pytest.mark.parametrize('joint_count', [5, 6])
def test_arms_reach_random_reachable_poses(joint_count):
    """The poses belong to random configurations, and the seeds are random as well."""
    dice = np.random.default_rng(joint_count)
    arm, tip = Asking(arm_text(joint_count)), f'link{joint_count}'
    for _ in range(30):
        goal, seed = dice.uniform(-2.6, 2.6, (2, joint_count))
        wanted = arm.place(goal, tip)
        arm.check(arm.ask(asked(arm, wanted, tip, seed=seed)), {tip: wanted}, seed)


def test_hexapod_closes_all_legs(urdf):
    dice = np.random.default_rng(0)
    hexapod = Asking(urdf('hexapod'))
    home = hexapod.place(hexapod.q, 'platform_link')
    motors = [hexapod.names.index(f'leg{leg}') for leg in range(6)]
    lower, upper = hexapod.oracle.lower, hexapod.oracle.upper
    for _ in range(20):
        wanted = moved(home, *dice.uniform(-0.005, 0.005, 3), turned(dice, 0.1))
        seed = np.clip(hexapod.q + dice.uniform(-0.05, 0.05, len(hexapod.q)), lower, upper)
        response = hexapod.ask(asked(hexapod, wanted, 'platform_link', 'base_link', seed))
        hexapod.check(response, {'platform_link': wanted}, seed)
        assert list(response.solution.joint_state.name) == hexapod.names
        assert np.ptp(np.array(response.solution.joint_state.position)[motors]) > 0.0


def test_request_with_motors_only_moves_passive_joints(urdf):
    """The joints that a client does not name are passive and move with the loops."""
    hexapod = Asking(urdf('hexapod'))
    motors = [f'leg{leg}' for leg in range(6)]
    wanted = moved(hexapod.place(hexapod.q, 'platform_link'), 0.004, 0.002, 0.003)
    request = asked(hexapod, wanted, 'platform_link')
    request.ik_request.robot_state = state_of(motors, np.zeros(6))
    response = hexapod.ask(request)
    assert response.error_code.val == SUCCESS, response.error_code
    assert list(response.solution.joint_state.name) == motors
    legs = dict(zip(motors, response.solution.joint_state.position, strict=True))
    driven = Solver(hexapod.oracle).drive(legs)
    reached = hexapod.place(driven.q, 'platform_link')
    np.testing.assert_allclose(reached, wanted, atol=2e-6)


def test_loop_open_by_rounding_counts_as_closed(urdf):
    """A loop that stays open by 20 micrometres has the same limit as in the node."""
    text = urdf('fivebar').replace('xyz="0.24 0 0.012"', 'xyz="0.24 0 0.01202"')
    fivebar = Asking(text)
    goal = Solver(Asking(urdf('fivebar')).oracle).drive({'left_shoulder': 0.2}).q
    wanted = fivebar.place(goal, 'tool_link')
    response = fivebar.ask(asked(fivebar, wanted, 'tool_link'))
    assert response.error_code.val == SUCCESS
    naive = fivebar.at(fivebar.values(response))
    gap, turn = naive.error(fivebar.oracle.closures['pin'])
    assert 1.9e-5 < gap < 4.1e-5
    assert turn < 2e-6


# -- names


# -- what the node was told meanwhile


def test_request_does_not_change_the_robot_that_ticks(urdf):
    settings = settings_of(goal_names=('platform',), goals__platform__link='platform_link')
    hexapod = Asking(urdf('hexapod'), settings)
    goal = hexapod.robot.add_goal('platform_link', name='platform')
    hexapod.model.solver.update_structure()
    options, q = hexapod.model.solver.options, hexapod.robot.q
    placed = goal.position.copy()
    home = hexapod.place(q, 'platform_link')
    wanted = {'platform': parts(moved(home, 0.003))}
    before = hexapod.model.solver.solve_pose(wanted, q0=q).q
    for x in (0.004, 9.0):
        hexapod.ask(asked(hexapod, moved(home, x), 'platform_link'))
    assert hexapod.model.solver.options is options
    np.testing.assert_array_equal(hexapod.model.solver.solve_pose(wanted, q0=q).q, before)
    np.testing.assert_array_equal(hexapod.robot.q, q)
    np.testing.assert_array_equal(goal.position, placed)
    assert list(hexapod.robot.goals) == ['platform']
    assert [joint.name for joint in hexapod.robot.links['platform_link'].closure_joints] == [
        'platform'
    ]


def test_released_closure_is_released_for_requests(urdf):
    fivebar = Asking(urdf('fivebar'))
    pin = fivebar.robot.closures['pin']
    # Out of the closed loop's reach: the left arm stretched to the left.
    wanted = fivebar.place((1.1, 1.1, 0.0, 0.0), 'tool_link')
    for enabled, code in ((True, NO_SOLUTION), (False, SUCCESS), (True, NO_SOLUTION)):
        pin.enabled = enabled
        assert fivebar.ask(asked(fivebar, wanted, 'tool_link')).error_code.val == code


def test_locked_joint_keeps_the_value_of_the_seed():
    arm = Asking(arm_text(6))
    seed = np.array((0.3, 0.5, 0.9, 0.2, 0.6, -0.4))
    wanted = arm.place(seed + np.array((0, 0.1, -0.1, 0.1, 0.1, 0.1)), 'link6')
    turned_base = arm.place(seed + np.array((0.2, 0, 0, 0, 0, 0)), 'link6')
    arm.robot.joints['joint1'].lock()
    arm.ik_copy = type(arm.ik_copy)(arm.model)
    response = arm.ask(asked(arm, wanted, 'link6', seed=seed))
    arm.check(response, {'link6': wanted})
    assert response.solution.joint_state.position[0] == seed[0]
    locked = arm.ask(asked(arm, turned_base, 'link6', seed=seed))
    assert locked.error_code.val == NO_SOLUTION
    arm.robot.joints['joint1'].unlock()
    free = arm.ask(asked(arm, turned_base, 'link6', seed=seed))
    arm.check(free, {'link6': turned_base})


def two_arms():
    left, right = arm_text(6).replace('</robot>', ''), arm_text(6).split('<link name="base"/>')[1]
    for name in ('link', 'joint'):
        right = right.replace(f'"{name}', f'"right_{name}')
    return left + right


def test_other_joints_keep_the_values_of_the_seed():
    """The other arm stays, although the node has a joint target for it."""
    arms = Asking(two_arms())
    arms.robot.joints['right_joint2'].set_target_value('EY', 1.0)
    arms.robot.joints['right_joint3'].rest_pose_set = True
    arms.ik_copy = type(arms.ik_copy)(arms.model)
    seed = np.linspace(-0.5, 0.6, 12)
    wanted = moved(arms.place(seed, 'link6'), 0.02)
    response = arms.ask(asked(arms, wanted, 'link6', seed=seed))
    arms.check(response, {'link6': wanted})
    np.testing.assert_array_equal(response.solution.joint_state.position[6:], seed[6:])


def test_two_arms_are_solved_together():
    arms = Asking(two_arms())
    seed = np.linspace(-0.5, 0.6, 12)
    wanted = {
        link: moved(arms.place(seed, link), 0.02, -0.01) for link in ('link6', 'right_link6')
    }
    request = asked(arms, np.eye(4), '', seed=seed)
    request.ik_request.ik_link_names = list(wanted)
    request.ik_request.pose_stamped_vector = [
        stamped(*parts(matrix), 'base') for matrix in wanted.values()
    ]
    arms.check(arms.ask(request), wanted)


# -- joints that follow others


def test_coupled_base_link_holds_its_master():
    mimic = '<mimic joint="joint2"/>'
    before, after = two_arms().split('<joint name="right_joint2" type="revolute">')
    arms = Asking(f'{before}<joint name="right_joint2" type="revolute">{mimic}{after}')
    seed = np.concatenate(((0.3, 0.5, 0.9, 0.2, 0.6, -0.4),) * 2)
    goal = seed + np.concatenate((np.zeros(9), (0.3, -0.2, 0.4)))
    right = 'right_link6'
    relative = np.linalg.inv(arms.place(seed, 'right_link3')) @ arms.place(goal, right)
    response = arms.ask(asked(arms, relative, right, 'right_link3', seed))
    arms.check(response, {right: arms.place(goal, right)})
    assert not {'joint2', 'right_joint2'} & set(arms.question.movable)
    away = moved(relative, 0.02, 0.02, 0.02)
    response = arms.ask(asked(arms, away, right, 'right_link3', seed))
    assert response.error_code.val == NO_SOLUTION


def goals_of(link, *wanted):
    """Return settings of a node whose goals ask for some axes of a link, or are disabled."""
    values = {'goal_names': tuple(name for name, _ in wanted)}
    for name, fields in wanted:
        values[f'goals__{name}__link'] = link
        values.update({f'goals__{name}__{field}': value for field, value in fields.items()})
    return settings_of(**values)


@pytest.mark.parametrize('enabled', [True, False])
def test_only_axes_of_the_goal_are_constrained(urdf, enabled):
    """A delta's platform cannot turn; its goal is X Y Z, so a pose 0.1 rad off has a solution."""
    goal = {'dof': 'X Y Z', 'enabled': enabled}
    delta = Asking(urdf('delta'), goals_of('platform_link', ('platform', goal)))
    home = delta.place(delta.q, 'platform_link')
    wanted = moved(home, 0.03, -0.02, 0.01, rpy=(0.1, 0.0, 0.0))
    response = delta.ask(asked(delta, wanted, 'platform_link'))
    assert response.error_code.val == SUCCESS, response.error_code
    naive = delta.at(delta.values(response))
    reached = naive.world(delta.oracle.links['platform_link'])
    assert reached[:3, 3] == pytest.approx(wanted[:3, 3], abs=2e-6)
    for closure in delta.oracle.closures.values():
        assert max(naive.error(closure)) < 2e-6


def test_pose_is_met_within_tolerance_of_the_goal():
    """Four joints cannot turn as asked, but a goal with a tolerance for each axis is met."""
    most = (1e-3, 1e-3, 1e-3, 0.4, 0.4, 0.4)
    arm = Asking(arm_text(4), goals_of('link4', ('hand', {'tolerance': most})))
    met = arm.place([0.3, 0.5, 0.9, 0.2], 'link4')
    wanted = met.copy()
    wanted[:3, :3] = moved(np.eye(4), rpy=(0.2, -0.2, 0.2))[:3, :3] @ met[:3, :3]
    arm.q = np.full(4, 0.3)
    response = arm.ask(asked(arm, wanted, 'link4'))
    assert response.error_code.val == SUCCESS, response.error_code
    reached = arm.place(arm.values(response), 'link4')
    assert np.abs(reached[:3, 3] - wanted[:3, 3]).max() <= 1e-3
    strict = Asking(arm_text(4), goals_of('link4', ('hand', {})))
    strict.q = arm.q
    assert strict.ask(asked(strict, wanted, 'link4')).error_code.val == NO_SOLUTION


def test_is_diff_leaves_unnamed_joints_free(urdf):
    """The node's configuration replaces all values that the state does not name."""
    hexapod = Asking(urdf('hexapod'))
    wanted = moved(hexapod.place(hexapod.q, 'platform_link'), 0.003, 0.002, 0.004)
    state = state_of(['leg0'], [0.001])
    state.is_diff = True
    request = request_for('platform_link', stamped(*parts(wanted)), state)
    request.ik_request.timeout = Duration(sec=60)
    response = hexapod.ask(request)
    hexapod.check(response, {'platform_link': wanted})
    assert list(response.solution.joint_state.name) == hexapod.names
    state.is_diff = False
    assert hexapod.ask(request).error_code.val == NO_SOLUTION
