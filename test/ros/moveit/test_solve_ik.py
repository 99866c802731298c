"""Requests and their answers: which link, which frame, which joints, which code."""

import math

from builtin_interfaces.msg import Duration
import ik_node as ik
from ik_node.solver import Solver
import numpy as np
import pytest
from support.ik_asking import arm_text, Asking, moved, parts, settings_of
from support.moveit_messages import request_for, stamped, state_of
from support.naive import pose

SUCCESS, TIMED_OUT, BAD_GOAL, BAD_STATE = 1, -6, -16, -17
BAD_LINK, BAD_FRAME, NO_SOLUTION = -18, -21, -31
BENT = np.array((0.3, 0.5, 0.9, 0.2, 0.6, -0.4))


@pytest.fixture
def arm():
    asking = Asking(arm_text(6))
    asking.q = BENT.copy()
    return asking


@pytest.fixture
def near(arm):
    return moved(arm.place(BENT, 'link6'), 0.03, -0.02, 0.01, (0.1, 0.05, -0.1))


def asked(arm, matrix, link='link6', frame_id='base', names=None, values=None):
    """Return a request for a link, with the full state as seed and time on a busy machine."""
    state = state_of(arm.names if names is None else names, arm.q if values is None else values)
    request = request_for(link, stamped(*parts(matrix), frame_id), state)
    request.ik_request.timeout = Duration(sec=60)
    return request


def refused(response, code, *words):
    assert response.error_code.val == code, response.error_code
    for word in words:
        assert word in response.error_code.message
    assert list(response.solution.joint_state.name) == []
    assert list(response.solution.joint_state.position) == []


# -- what the plugin sends


def test_answer_has_the_names_of_the_request(arm, near):
    """Every name of MoveIt's request comes back in order, and the link reaches its pose."""
    response = arm.ask(asked(arm, near))
    arm.check(response, {'link6': near})
    assert list(response.solution.joint_state.name) == arm.names
    assert 'no bodies to check' in response.error_code.message
    assert response.error_code.source == 'ik_node'


def test_answer_without_collisions_keeps_away_from_obstacles():
    """With avoid_collisions a pose inside an obstacle has no answer; without, it has one."""
    ball = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'
    arm = Asking(arm_text(6).replace('<link name="link6"/>', f'<link name="link6">{ball}</link>'))
    arm.q = BENT.copy()
    wanted = arm.place(BENT, 'link6')
    request = asked(arm, wanted)
    obstacles = arm.model.robot.collisions
    wall = obstacles.add_obstacle(ik.Sphere(0.05), tuple(wanted[:3, 3]), 'wall')
    refused(arm.ask(request), NO_SOLUTION, 'wall')
    wall.set_pose((3.0, 0.0, 0.0))
    arm.check(arm.ask(request), {'link6': wanted})
    wall.set_pose(tuple(wanted[:3, 3]))
    request.ik_request.avoid_collisions = False
    arm.check(arm.ask(request), {'link6': wanted})


def test_nearest_of_several_solutions_is_returned(arm):
    """If the solve from the seed fails, the solution nearest to the seed is returned."""
    seed = np.array((0.3, -0.5, 0.9, 0.2, 0.6, -0.4))  # the wrist is over the first axis
    wanted = moved(arm.place(seed, 'link6'), 0.03, -0.02, 0.01, (0.1, 0.05, -0.1))
    response = arm.ask(asked(arm, wanted, values=seed))
    arm.check(response, {'link6': wanted})
    away = np.abs(np.array(response.solution.joint_state.position) - seed).max()
    assert away == pytest.approx(1.395, abs=1e-3)


@pytest.mark.parametrize('choice', ['limits', 'condition'])
def test_choice_of_the_answer_is_a_parameter(arm, near, choice):
    """The answer is the first of all solutions in that order, whatever the seed."""
    arm.settings = settings_of(solve_ik_choice=choice)
    answers = []
    for seed in (BENT, -BENT):
        response = arm.ask(asked(arm, near, values=seed))
        arm.check(response, {'link6': near})
        answers.append(response.solution.joint_state.position)
    solver = Solver(arm.robot)
    best = solver.solve_all({'link6': near}, sort=choice).q[0]
    np.testing.assert_allclose(answers, [best, best], atol=1e-5)


@pytest.mark.parametrize('choice', ['limits', 'mode'])
def test_choice_is_made_among_answers_without_contact(choice):
    """The first solution has its elbow in an obstacle, so the next free one is the answer."""
    ball = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    arm = Asking(arm_text(6).replace('<link name="link3"/>', f'<link name="link3">{ball}</link>'))
    arm.q, arm.settings = BENT.copy(), settings_of(solve_ik_choice=choice)
    solver, around = Solver(arm.robot), arm.model.robot.collisions
    seed = np.array((-1.0, 0.4, -1.1, 0.5, -0.7, 0.9))
    near = moved(arm.place(seed, 'link6'), 0.03, -0.02, 0.01, (0.1, 0.05, -0.1))
    mode, sort = solver.mode_of(seed, ['link6']), 'distance' if choice == 'mode' else choice

    def solutions():
        found = solver.solve_all({'link6': near}, seed, sort=sort)
        return found.q[found.mode == mode] if choice == 'mode' else found.q

    first = solutions()
    around.add_obstacle(ik.Sphere(0.02), tuple(arm.place(first[0], 'link3')[:3, 3]), 'wall')
    free = solutions()
    assert len(free) < len(first)
    if choice == 'mode' and not len(free):
        refused(
            arm.ask(asked(arm, near, values=seed)), NO_SOLUTION, f'no solution is in mode {mode}'
        )
        return
    for start in (seed,) if choice == 'mode' else free:
        response = arm.ask(asked(arm, near, values=start))
        arm.check(response, {'link6': near})
        answer = response.solution.joint_state.position
        np.testing.assert_allclose(answer, free[0], atol=1e-5)


def test_answer_can_be_in_the_mode_of_the_seed(arm, near):
    """It is the solution in this mode that is nearest to the seed; or none, and the modes."""
    arm.settings = settings_of(solve_ik_choice='mode')
    solver, known = Solver(arm.robot), 0
    found = solver.solve_all({'link6': near})
    for seed in (BENT, *np.random.default_rng(2).uniform(-1.5, 1.5, (6, 6))):
        mode, response = solver.mode_of(seed, ['link6']), arm.ask(asked(arm, near, values=seed))
        own = found.q[found.mode == mode]
        if not len(own):
            refused(response, NO_SOLUTION, mode, found.mode[0])
            continue
        known += 1
        arm.check(response, {'link6': near})
        answer = np.array(response.solution.joint_state.position)
        assert solver.mode_of(answer, ['link6']) == mode
    assert known >= 2


def test_solve_starts_at_the_seed(arm):
    """The pose of the seed gives the seed, whatever the node's configuration."""
    seed = np.array((-1.0, 0.4, -1.1, 0.5, -0.7, 0.9))
    response = arm.ask(asked(arm, arm.place(seed, 'link6'), values=seed))
    np.testing.assert_allclose(response.solution.joint_state.position, seed, atol=1e-5)


def test_unnamed_joints_do_not_move(arm):
    """The answer would not contain their motion, so the named joints must reach the pose."""
    goal = BENT + np.array((0, 0, 0, 0.3, -0.2, 0.4))
    wanted = arm.place(goal, 'link6')
    names = arm.names[3:]
    response = arm.ask(asked(arm, wanted, names=names, values=arm.q[3:]))
    assert list(response.solution.joint_state.name) == names
    arm.check(response, {'link6': wanted})
    far = arm.place(BENT + np.array((0.5, 0, 0, 0, 0, 0)), 'link6')
    response = arm.ask(asked(arm, far, names=names, values=arm.q[3:]))
    refused(response, NO_SOLUTION, 'does not name', 'joint1')


# -- seeds


def several(links, count):
    def change(request):
        asked = request.ik_request
        asked.ik_link_names, asked.pose_stamped_vector = links, [asked.pose_stamped] * count

    return change


def constrained(kind):
    def change(request):
        getattr(request.ik_request.constraints, f'{kind}_constraints').append(object())

    return change


def placed(position, turn=(0, 0, 0, 1)):
    return lambda request: setattr(request.ik_request, 'pose_stamped', stamped(position, turn))


REFUSED = [
    ({'values': [*BENT[:5], math.nan]}, BAD_STATE, 'joint6', 'finite'),
    ({'values': BENT[:5]}, BAD_STATE, '5 numbers', '6 names'),
    ({'names': ['a', 'b'], 'values': [0, 0]}, BAD_STATE, 'no joint of robot', 'a, b'),
    ({'link': 'hand'}, BAD_LINK, "'hand'", 'link6'),
    ({'frame_id': 'moon'}, BAD_FRAME, "'moon'", 'no transform'),
    (several(['link6', 'link5'], 1), BAD_LINK, '2 links for 1 poses'),
    (several([], 2), BAD_LINK, '0 links for 2 poses'),
    (several(['link6', 'link6'], 2), BAD_LINK, "'link6' is named twice"),
    (placed((math.nan, 0, 0)), BAD_GOAL, 'link6', 'position.x'),
    (placed((0, 0, 0), (0, 0, 0, 0)), BAD_GOAL, 'link6', 'zero quaternion'),
    (placed((9.0, 0, 0)), NO_SOLUTION, 'link6'),
    *[
        (constrained(kind), BAD_GOAL, f'{kind} constraints')
        for kind in ('joint', 'position', 'orientation', 'visibility')
    ],
]


def test_unusable_request_is_refused_with_its_code_and_the_reason(arm, near):
    """The error names what is wrong: state, link, frame, pose, or constraints that would break."""
    for change, code, *words in REFUSED:
        request = asked(arm, near, **(change if isinstance(change, dict) else {}))
        if callable(change):
            change(request)
        refused(arm.ask(request), code, *words)


# -- links


def test_empty_link_means_the_link_of_the_goals(near, arm):
    named = settings_of(
        goal_names=('a', 'b'), goals__a__link='link6', goals__b__link='link6', goals__b__dof='X'
    )
    one = Asking(arm_text(6), named)
    one.q = arm.q
    response = one.ask(asked(one, near, link=''))
    one.check(response, {'link6': near})


def test_ambiguous_empty_link_is_refused(arm, near):
    refused(arm.ask(asked(arm, near, link='')), BAD_LINK, 'ik_link_name is empty', 'no goal')
    named = settings_of(goal_names=('a', 'b'), goals__a__link='link6', goals__b__link='link5')
    several = Asking(arm_text(6), named)
    response = several.ask(asked(several, near, link=''))
    refused(response, BAD_LINK, 'ik_link_name is empty', 'link5, link6')


# -- frames


def test_empty_frame_means_the_base_frame(arm, near):
    arm.check(arm.ask(asked(arm, near, frame_id='')), {'link6': near})
    based = Asking(arm_text(6), settings_of(base_frame='table'))
    based.q = arm.q
    shift = pose((0.1, 0.2, 0.3), (0, 0, 0.6, 0.8))
    based.lookup = lambda target, source: {('base', 'table'): shift}[target, source]
    response = based.ask(asked(based, np.linalg.inv(shift) @ near, frame_id=''))
    based.check(response, {'link6': near})


def test_base_link_of_a_relative_pose_does_not_move(arm):
    """The relative pose stays valid, because MoveIt applies the joints of its group only."""
    goal = BENT + np.array((0, 0, 0, 0.3, -0.2, 0.4))
    relative = np.linalg.inv(arm.place(BENT, 'link3')) @ arm.place(goal, 'link6')
    response = arm.ask(asked(arm, relative, frame_id='link3'))
    arm.check(response, {'link6': arm.place(goal, 'link6')})
    np.testing.assert_array_equal(response.solution.joint_state.position[:3], arm.q[:3])
    far = pose((0.6, 0, 0), (0, 0, 0, 1))
    refused(arm.ask(asked(arm, far, frame_id='link3')), NO_SOLUTION, 'joints that move link3')


def test_a_foreign_frame_is_looked_up(arm, near):
    shift = pose((0.1, 0.2, 0.3), (0, 0, 0.6, 0.8))
    seen = []

    def lookup(target, source):
        seen.append((target, source))
        return shift

    arm.lookup = lookup
    response = arm.ask(asked(arm, np.linalg.inv(shift) @ near, frame_id='table'))
    arm.check(response, {'link6': near})
    assert seen == [('base', 'table')]


# -- what is not honoured, and time


def test_spent_budget_is_reported(arm):
    request = asked(arm, pose((9.0, 0, 0), (0, 0, 0, 1)))
    request.ik_request.timeout = Duration(nanosec=1)
    refused(arm.ask(request), TIMED_OUT)
