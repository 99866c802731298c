"""Modes of mechanisms, against determinants that are written by hand."""

import ik_node as ik
import numpy as np
import pytest

UPRIGHT = (0, 0, 0, 1)
CORNERS = 0.5 * np.array([(1, 0), (-0.5, 0.8660254), (-0.5, -0.8660254)])
CRANK, ROD, PLATE = 0.35, 0.3, 0.15


def leg(name, base, lengths):
    """Return a planar leg of two links from a point of the base, as text."""
    text, parent, at = '', 'base', base
    for part, length in zip(('shoulder', 'elbow'), lengths, strict=True):
        text += f'<link name="{name}_{part}_link"/><joint name="{name}_{part}" type="continuous">'
        text += f'<parent link="{parent}"/><child link="{name}_{part}_link"/>'
        text += f'<axis xyz="0 0 1"/><origin xyz="{at[0]} {at[1]} 0"/></joint>'
        parent, at = f'{name}_{part}_link', (length, 0)
    return text


def five_bar():
    """Return a five-bar whose tool is where both arms meet; its shoulders have motors."""
    text = leg('left', (-0.2, 0), (0.3, 0.4)) + leg('right', (0.2, 0), (0.3, 0.4))
    robot = ik.load_robot(f'<robot name="five_bar"><link name="base"/>{text}</robot>')
    end = ((0.4, 0, 0), UPRIGHT)
    robot.add_closure('left_elbow_link', 'right_elbow_link', frame_a=end, frame_b=end)
    robot.add_goal('left_elbow_link', dof='X Y', offset=end, name='tool')
    robot.actuated = ['left_shoulder', 'right_shoulder']
    return robot


def five_bar_determinants(q):
    """Return the sine between the rods, and those of both elbows."""
    left, right = q[..., 0] + q[..., 1], q[..., 2] + q[..., 3]
    return np.stack([np.sin(right - left), np.sin(q[..., 1]), np.sin(q[..., 3])], axis=-1)


def three_rrr():
    """Return a plate on three planar legs of two links; the shoulders have motors."""
    text = ''.join(leg(f'leg{k}', CORNERS[k], (CRANK, ROD)) for k in range(3))
    text += '<link name="plate"/><joint name="plate" type="continuous">'
    text += '<parent link="leg0_elbow_link"/><child link="plate"/><axis xyz="0 0 1"/>'
    text += f'<origin xyz="{ROD} 0 0"/></joint>'
    robot = ik.load_robot(f'<robot name="rrr"><link name="base"/>{text}</robot>')
    for k in (1, 2):
        x, y = PLATE * 2 * (CORNERS[k] - CORNERS[0])
        ends = {'frame_a': ((ROD, 0, 0), UPRIGHT), 'frame_b': ((x, y, 0), UPRIGHT)}
        robot.add_closure(f'leg{k}_elbow_link', 'plate', **ends)
    robot.add_goal('plate', dof='X Y EZ', name='plate_goal')
    robot.actuated = [f'leg{k}_shoulder' for k in range(3)]
    return robot


def three_rrr_determinants(q):
    """Return the determinant of the lines of the rods, and the sines of the elbows."""
    found = []
    for row in np.atleast_2d(q):
        lines = []
        for k in range(3):
            a, b = row[2 * k], row[2 * k] + row[2 * k + 1]
            along = np.array([np.cos(b), np.sin(b)])
            tip = CORNERS[k] + CRANK * np.array([np.cos(a), np.sin(a)]) + ROD * along
            lines.append([*along, tip[0] * along[1] - tip[1] * along[0]])
        found.append([np.linalg.det(lines), *np.sin(row[[1, 3, 5]])])
    return np.array(found)


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
    _, solver, states, determinants = mechanism
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
    for q in change.q:
        errors = solver.solve_pose({}, q).closure_errors.values()
        assert max(error.position for error in errors) < 2e-6
        assert np.abs(solver.solve_pose({}, q).q - q).max() < 1e-5


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
