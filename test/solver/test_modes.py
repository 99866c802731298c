"""Modes of mechanisms, against determinants that are written by hand."""

import itertools

import ik_node as ik
import numpy as np
import pytest
from support.planar_legs import five_bar, five_bar_determinants, three_rrr, three_rrr_determinants

MECHANISMS = {
    'five-bar': (five_bar, five_bar_determinants),
    '3-RRR': (three_rrr, three_rrr_determinants),
}


@pytest.fixture(params=MECHANISMS)
def mechanism(request):
    """Return a robot, its solver, configurations with closed loops, and its determinants."""
    make, determinants = MECHANISMS[request.param]
    robot = make()
    return robot, ik.Solver(robot), robot.sample(200, seed=3), determinants


def test_labels_are_the_signs_of_the_determinants(mechanism):
    """Each sign of a label is that of one determinant, or its opposite, everywhere."""
    _, solver, states, determinants = mechanism
    signs = np.sign(determinants(states)).astype(int)
    labels = np.array(
        [[{'+': 1, '-': -1}[c] for c in solver.mode_of(q).replace('/', '')] for q in states]
    )
    assert labels.shape == signs.shape
    agreement = np.abs(labels.T @ signs)
    assert (np.sort(agreement.max(axis=0)) == len(states)).all()
    assert len({int(row.argmax()) for row in agreement}) == labels.shape[1]


def test_solutions_have_the_modes_of_their_configurations(mechanism):
    """All answers to one pose differ in their modes."""
    robot, solver, states, _ = mechanism
    goal = next(iter(robot.goals))
    link = robot.goals[goal].child.name
    pose = robot.forward(states[0], link)
    if goal == 'tool':
        pose = pose @ np.array([(1, 0, 0, 0.4), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)])
    found = solver.solve_all({goal: pose})
    assert len(set(found.mode.tolist())) == len(found) >= 2
    assert found.mode[0] == solver.mode_of(found.q[0])


def test_path_to_another_mode_keeps_loops_closed_and_motors_in_control(mechanism):
    """No step is long, every loop is closed, and the direct determinant keeps its sign."""
    robot, solver, states, determinants = mechanism
    start = max(states, key=lambda q: np.abs(determinants(q)).min())
    own = solver.mode_of(start)
    direct, _, inverse = own.partition('/')
    flipped = inverse[:-1] + {'+': '-', '-': '+'}[inverse[-1]]
    change = solver.change_mode(f'{direct}/{flipped}', start)
    assert change, change.message
    assert solver.mode_of(change.q[-1]) == f'{direct}/{flipped}'
    np.testing.assert_array_equal(change.q[0], start)
    assert np.abs(np.diff(change.q, axis=0)).max() < 0.5
    values = determinants(change.q).reshape(len(change.q), -1)
    assert (np.sign(values[:, 0]) == np.sign(values[0, 0])).all()
    for q, after in itertools.pairwise(change.q):
        errors = solver.solve_pose({}, q).closure_errors.values()
        assert max(error.position for error in errors) < 2e-6
        assert np.abs(solver.solve_pose({}, q).q - q).max() < 1e-5
        # Half way between two of them too, with the loops closed at the motors' values.
        middle = dict(zip(robot.joint_names, 0.5 * (q + after), strict=True))
        between = solver.drive({name: middle[name] for name in robot.actuated}, q)
        assert between.converged
        assert np.sign(determinants(between.q).reshape(-1)[0]) == np.sign(values[0, 0])


def test_direct_singularity_separates_modes(mechanism):
    """The message names the determinant; without another mode there is no path either."""
    _, solver, states, _ = mechanism
    own = solver.mode_of(states[0])
    direct, _, inverse = own.partition('/')
    change = solver.change_mode({'+': '-', '-': '+'}[direct] + '/' + inverse, states[0])
    assert not change
    assert 'type II' in change.message
    assert not solver.change_mode(own, states[0])
    with pytest.raises(ik.errors.OptionError, match='mode'):
        solver.change_mode('+', states[0])


def test_drive_stops_before_the_mode_changes(mechanism):
    """Only with `stay_in_mode`, and where the way leaves the mode; elsewhere it arrives."""
    robot, solver, states, determinants = mechanism
    start = max(states, key=lambda q: np.abs(determinants(q)).min())
    motor, stopped, arrived = robot.actuated[0], 0, 0
    at = robot.joint_names.index(motor)
    for way in (0.02, 1.0, 2.0, -1.0, -2.0):
        result = solver.drive({motor: start[at] + way}, start, stay_in_mode=True)
        assert solver.mode_of(result.q) == solver.mode_of(start)
        arrived += result.converged
        stopped += 'mode' in result.message
    assert arrived >= 1
    assert stopped >= 1


def test_answer_is_the_nearest_one_in_a_mode(mechanism):
    """Each mode of a solution has that solution; others are told."""
    robot, solver, states, _ = mechanism
    goal = next(iter(robot.goals))
    link = robot.goals[goal].child.name
    pose = robot.forward(states[0], link) @ robot.goals[goal].offset_matrix
    found = solver.solve_all({goal: pose}, states[0])
    for q, mode in zip(found.q, found.mode.tolist(), strict=True):
        answer = solver.solve_pose({goal: pose}, states[0], mode=mode)
        assert answer.converged
        np.testing.assert_allclose(answer.q, q, atol=1e-9)
    missing = solver.solve_pose({goal: pose}, states[0], mode='0/0')
    assert not missing.converged
    assert found.mode[0] in missing.message


@pytest.mark.parametrize('kind', ['direct', 'inverse'])
def test_nearest_singularity_is_singular_and_none_is_seen_nearer(mechanism, kind):
    """Its determinant vanishes; the sign of none changes between states that are nearer."""
    _, solver, states, determinants = mechanism
    start = max(states, key=lambda q: np.abs(determinants(q)).min())
    found = solver.nearest_singularity(start, kind)
    values = determinants(found.q).reshape(-1)
    own = values[:1] if kind == 'direct' else values[1:]
    assert np.abs(own).min() < 1e-4
    gaps = solver.solve_pose({}, found.q).closure_errors.values()
    assert max(gap.position for gap in gaps) < 2e-6
    np.testing.assert_allclose(np.linalg.norm(found.q - start), found.distance, rtol=1e-6)
    ways = np.linalg.norm((states - start + np.pi) % (2 * np.pi) - np.pi, axis=1)
    near = np.concatenate([start[None], states[ways < 0.9 * found.distance]])
    signs = np.sign(determinants(near).reshape(len(near), -1))
    signs = signs[:, :1] if kind == 'direct' else signs[:, 1:]
    assert (signs == signs[0]).mean() > 0.95


def test_path_says_where_it_leaves_its_mode():
    """A line through a type II curve: where the sine between the rods changes its sign."""
    robot = five_bar()
    solver, states = ik.Solver(robot), robot.sample(400, seed=1)
    values = five_bar_determinants(states)
    start = states[np.abs(values).min(axis=1).argmax()]
    own = np.sign(five_bar_determinants(start))
    tips = robot.forward(states, 'tip')[:, :3, 3]
    here = robot.forward(start, 'tip')[:3, 3]
    other = (np.sign(values) == own * (-1, 1, 1)).all(axis=1) & (np.abs(values) > 0.3).all(axis=1)
    order = np.argsort(np.linalg.norm(tips - here, axis=1))
    there = tips[order[other[order]][0]]
    line = here + np.linspace(0, 1, 60)[:, None] * (there - here)
    path = solver.solve_path({'tool': line}, start, stay_in_mode=True)
    assert path.converged.all()
    changed = np.sign(five_bar_determinants(path.q)) != own
    assert (path.left_mode == np.logical_or.accumulate(changed.any(axis=1))).all()
    assert (path.solved == ~path.left_mode).all()
    assert 0 < path.left_mode.sum() < 60
    assert f'leaves mode {solver.mode_of(start)}' in path.message
    assert not solver.solve_path({'tool': line}, start).left_mode.any()


@pytest.mark.parametrize('name', ['palletizer', 'fivebar'])
def test_nearest_singularity_is_nearer_than_states_of_other_modes(name):
    """Also where a goal has more axes than the robot, and where limits hide those beside it."""
    robot = ik.load_robot(name)
    solver, states = ik.Solver(robot), robot.sample(300, seed=3)
    modes = solver.modes()
    signs = np.sign(modes.values(states, modes.inverse))
    for start, own in zip(states[:4], signs, strict=False):
        found = solver.nearest_singularity(start, 'inverse')
        values = modes.values(found.q[None], modes.inverse)[0]
        assert abs(values[found.block]) < 1e-7
        others = states[(signs != own).any(axis=1)]
        assert found.distance < np.linalg.norm(others - start, axis=1).min()
