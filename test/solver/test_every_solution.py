"""All solutions of a pose or of a mechanism, against counts that are found in other ways."""

import ik_node as ik
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

UPRIGHT = (0, 0, 0, 1)
# Dietmaier (1998), The Stewart-Gough platform of general geometry can have 40 real postures.
DIETMAIER_BASE = [
    (0, 0, 0),
    (1.107915, 0, 0),
    (0.549094, 0.756063, 0),
    (0.735077, -0.223935, 0.525991),
    (0.514188, -0.526063, -0.368418),
    (0.590473, 0.094733, -0.205018),
]
DIETMAIER_PLATFORM = [
    (0, 0, 0),
    (0.542805, 0, 0),
    (0.956919, -0.528915, 0),
    (0.665885, -0.353482, 1.402538),
    (0.478359, 1.158742, 0.107672),
    (-0.137087, -0.235121, 0.353913),
]
DIETMAIER_LEGS = [1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
# Manseur & Doty (1989), A robot manipulator with 16 real inverse kinematic solution sets.
MANSEUR_DOTY = [(0, 0.3, 90), (0, 1, 1), (0.2, 0, 90), (0, 1.5, 1), (0, 0, 90), (0, 0, 1)]
MANSEUR_DOTY_POSE = [
    (-0.760117, -0.641689, 0.102262, -1.140165),
    (0.133333, 0, 0.991071, 0),
    (-0.635959, 0.766965, 0.085558, 0),
    (0, 0, 0, 1),
]
UR5 = {'d1': 0.089159, 'a2': -0.425, 'a3': -0.39225, 'd4': 0.10915, 'd5': 0.09465, 'd6': 0.0823}


def robot_of(*joints):
    """Return a robot from joints: name, type, link that carries it, position [m] and axis."""
    text = '<link name="base"/>'
    for name, kind, parent, at, axis in joints:
        (x, y, z), (ex, ey, ez) = at, axis / np.linalg.norm(axis)
        text += f'<link name="{name}"/><joint name="{name}" type="{kind}"><child link="{name}"/>'
        text += f'<parent link="{parent}"/><origin xyz="{x} {y} {z}"/>'
        text += f'<axis xyz="{ex} {ey} {ez}"/><limit lower="-9" upper="9"/></joint>'
    return ik.load_robot(f'<robot name="mechanism">{text}</robot>')


FREE = [('body', 'floating', 'base', (0, 0, 0), (0, 0, 1))]
SLIDES = [
    ('x', 'prismatic', 'base', (0, 0, 0), (1, 0, 0)),
    ('y', 'prismatic', 'x', (0, 0, 0), (0, 1, 0)),
]
PLANAR = [*SLIDES, ('body', 'continuous', 'y', (0, 0, 0), (0, 0, 1))]
SHIFTED = [*SLIDES, ('body', 'prismatic', 'y', (0, 0, 0), (0, 0, 1))]


def add_rods(robot, links, points, others, ends, lengths):
    """Add closures that hold points of links at distances from points of others."""
    for k, (link, a, other, b, length) in enumerate(
        zip(links, points, others, ends, lengths, strict=True)
    ):
        frames = {'frame_a': (tuple(a), UPRIGHT), 'frame_b': (tuple(b), UPRIGHT)}
        robot.add_closure(
            link, other, type='distance', name=f'rod{k}', distance=float(length), **frames
        )
    return robot


def body_on_legs(base, platform, lengths, joints=FREE):
    """Return a body that distances hold to points of the base."""
    legs = len(lengths)
    return add_rods(robot_of(*joints), ['body'] * legs, platform, ['base'] * legs, base, lengths)


def dh(rows, **more):
    """Return an arm from rows of d, a, alpha [degrees]."""
    return ik.from_dh([(*row, 0) for row in rows], degrees=True, **more)


def ur5(**more):
    """Return a UR5."""
    g = UR5
    rows = [(g['d1'], 0, 90), (0, g['a2'], 0), (0, g['a3'], 0), (g['d4'], 0, 90)]
    return dh([*rows, (g['d5'], 0, -90), (g['d6'], 0, 0)], **more)


def ur5_closed_form(pose):
    """Return all joint values of a UR5 (Hawkins 2013), shape (n, 6)."""
    g, found = UR5, []
    wrist = pose @ [0, 0, -g['d6'], 1]
    radius = np.hypot(wrist[0], wrist[1])
    if radius < g['d4']:
        return np.zeros((0, 6))
    for shoulder in (1, -1):
        q1 = np.arctan2(wrist[1], wrist[0]) + shoulder * np.arccos(g['d4'] / radius) + np.pi / 2
        s1, c1 = np.sin(q1), np.cos(q1)
        cosine = (pose[0, 3] * s1 - pose[1, 3] * c1 - g['d4']) / g['d6']
        if abs(cosine) > 1:
            continue
        for flip in (1, -1):
            q5 = flip * np.arccos(cosine)
            along = pose[:3, :2].T @ (s1, -c1, 0)
            q6 = np.arctan2(-along[1] / np.sin(q5), along[0] / np.sin(q5))
            # What is left are joints 2 to 4, in their plane.
            after = np.eye(4)
            for row, q in ((4, q5), (5, q6)):
                after = after @ dh_matrix(row, q)
            middle = np.linalg.inv(dh_matrix(0, q1)) @ pose @ np.linalg.inv(after)
            x, y = (middle @ [0, -g['d4'], 0, 1])[:2]
            bend = (x * x + y * y - g['a2'] ** 2 - g['a3'] ** 2) / (2 * g['a2'] * g['a3'])
            if abs(bend) > 1:
                continue
            for elbow in (1, -1):
                q3 = elbow * np.arccos(bend)
                q2 = np.arctan2(y, x) - np.arctan2(
                    g['a3'] * np.sin(q3), g['a2'] + g['a3'] * np.cos(q3)
                )
                q4 = np.arctan2(middle[1, 0], middle[0, 0]) - q2 - q3
                found.append((q1, q2, q3, q4, q5, q6))
    return np.array(found).reshape(-1, 6)


def dh_matrix(row, q):
    """Return the frame of a row of the UR5 in the one before."""
    g = UR5
    d, a, alpha = [
        (g['d1'], 0, np.pi / 2),
        (0, g['a2'], 0),
        (0, g['a3'], 0),
        (g['d4'], 0, np.pi / 2),
        (g['d5'], 0, -np.pi / 2),
        (g['d6'], 0, 0),
    ][row]
    c, s, ca, sa = np.cos(q), np.sin(q), np.cos(alpha), np.sin(alpha)
    return np.array(
        [(c, -s * ca, s * sa, a * c), (s, c * ca, -c * sa, a * s), (0, sa, ca, d), (0, 0, 0, 1)]
    )


def turned_difference(one, other):
    """Return the largest difference of angles, full turns removed."""
    return np.abs((one - other + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


def planar_assemblies(base, platform, lengths):
    """
    Return the number of assemblies of a body on three legs in the plane.

    At each angle of the body two differences of leg equations are linear in its position; the
    third equation then is a polynomial of degree six in exp(i angle), whose coefficients are those
    of a Fourier series (Gosselin, Sefrioui & Richard 1992). Its roots of modulus 1 are counted.
    """
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    c, s = np.cos(angles), np.sin(angles)
    at = [np.stack((c * x - s * y, s * x + c * y), axis=1) for x, y, _ in platform]
    offset = [p - np.asarray(b)[:2] for p, b in zip(at, base, strict=True)]
    rows = np.stack([2 * (offset[k] - offset[0]) for k in (1, 2)], axis=1)
    squares = [(o * o).sum(axis=1) - r * r for o, r in zip(offset, lengths, strict=True)]
    right = np.stack([squares[0] - squares[k] for k in (1, 2)], axis=1)
    # Multiplied by the squared determinant, so that there are no poles.
    det = rows[:, 0, 0] * rows[:, 1, 1] - rows[:, 0, 1] * rows[:, 1, 0]
    x = right[:, 0] * rows[:, 1, 1] - right[:, 1] * rows[:, 0, 1]
    y = right[:, 1] * rows[:, 0, 0] - right[:, 0] * rows[:, 1, 0]
    leg = (x + offset[0][:, 0] * det) ** 2 + (y + offset[0][:, 1] * det) ** 2
    series = np.fft.fft(leg - (lengths[0] * det) ** 2)
    roots = np.roots(np.concatenate([series[3::-1], series[:-4:-1]]))
    return int(np.sum(np.abs(np.abs(roots) - 1) < 1e-6))


def random_planar(random):
    """Return base, platform and leg lengths of a body in the plane that can be assembled."""
    base = np.c_[random.normal(size=(3, 2)), np.zeros(3)]
    platform = np.c_[0.6 * random.normal(size=(3, 2)), np.zeros(3)]
    turn = Rotation.from_euler('z', random.uniform(-3, 3)).as_matrix()
    lengths = platform @ turn.T + [*random.normal(size=2), 0] - base
    return base, platform, np.linalg.norm(lengths, axis=1)


def test_platform_of_dietmaier_has_forty_assemblies():
    """In every seed, and the legs have their lengths by independent kinematics."""
    solver = ik.Solver(body_on_legs(DIETMAIER_BASE, DIETMAIER_PLATFORM, DIETMAIER_LEGS))
    for seed in range(20):
        found = solver.solve_all(seed=seed)
        assert (len(found), found.miss, found.stopped) == (40, 0.0, 'complete')
    turns = Rotation.from_euler('xyz', found.q[:, 3:]).as_matrix()
    ends = np.einsum('nij,kj->nki', turns, DIETMAIER_PLATFORM) + found.q[:, None, :3]
    lengths = np.linalg.norm(ends - DIETMAIER_BASE, axis=2)
    np.testing.assert_allclose(lengths, np.tile(DIETMAIER_LEGS, (40, 1)), atol=1e-13)
    assert found.residual.max() < 1e-13
    # Five of them lie in one valley, where a residual of 1e-6 allows errors of 0.1 m.
    assert np.sum(found.condition < 1e-3) >= 5


def test_arm_of_manseur_and_doty_has_sixteen_answers():
    """In every seed."""
    solver, pose = ik.Solver(dh(MANSEUR_DOTY)), np.array(MANSEUR_DOTY_POSE)
    u, _, v = np.linalg.svd(pose[:3, :3])
    pose[:3, :3] = u @ v
    for seed in range(20):
        found = solver.solve_all({'link6': pose}, seed=seed)
        assert (len(found), found.miss) == (16, 0.0)


def test_all_answers_of_a_ur5_are_those_of_the_closed_form():
    """For random poses."""
    robot, random = ur5(), np.random.default_rng(0)
    solver = ik.Solver(robot)
    for _ in range(100):
        pose = robot.forward(random.uniform(-3, 3, 6), 'link6')
        known, found = ur5_closed_form(pose), solver.solve_all({'link6': pose})
        assert len(found) == len(known)
        assert turned_difference(known[:, None], found.q[None]).min(axis=1).max() < 1e-6


def test_answers_lie_within_the_limits_a_full_turn_away_if_need_be():
    """Limits narrower and wider than a turn, and beside zero."""
    limits = np.array([(-4, 1), (-3, 3), (-2.5, 2.5), (1, 7), (-3, 3), (-9, 9)])
    robot, random = ur5(limits=np.rad2deg(limits)), np.random.default_rng(1)
    solver = ik.Solver(robot)
    for _ in range(30):
        pose = robot.forward(random.uniform(*limits.T), 'link6')
        known = ur5_closed_form(pose)
        turns = 2 * np.pi * np.array([-2, -1, 0, 1, 2])[:, None, None]
        fits = ((known + turns > limits[:, 0]) & (known + turns < limits[:, 1])).any(axis=0)
        found = solver.solve_all({'link6': pose})
        assert len(found) == fits.all(axis=1).sum()
        assert ((limits[:, 0] <= found.q) & (found.q <= limits[:, 1])).all()


@pytest.mark.parametrize('miss', [0.3, 0.03])
def test_share_of_incomplete_answers_is_at_most_the_miss_probability(miss):
    """For bodies on legs in the plane, counted by roots, and for arms of general geometry."""
    random, incomplete = np.random.default_rng(2), 0
    for seed in range(100):
        base, platform, lengths = random_planar(random)
        solver = ik.Solver(body_on_legs(base, platform, lengths, PLANAR))
        found = solver.solve_all(miss=miss, seed=seed)
        assert found.miss <= miss
        incomplete += len(found) < planar_assemblies(base, platform, lengths)
        robot = dh(np.c_[random.uniform(-0.5, 0.5, (6, 2)), random.uniform(-180, 180, 6)])
        solver, pose = ik.Solver(robot), robot.forward(random.uniform(-3, 3, 6), 'link6')
        found = solver.solve_all({'link6': pose}, miss=miss, seed=seed)
        incomplete += len(found) < len(solver.solve_all({'link6': pose}, miss=1e-6))
    assert incomplete <= miss * 200


def test_search_without_end_ends_and_tells_what_it_reached(monkeypatch):
    """After a number of starts, here a small one."""
    monkeypatch.setattr('ik_node.solver.solutions.MOST_STARTS', 100)
    base, platform, lengths = random_planar(np.random.default_rng(2))
    found = ik.Solver(body_on_legs(base, platform, lengths, PLANAR)).solve_all(miss=1e-12)
    assert found.stopped == 'starts'
    assert found.starts >= 100
    assert 1e-12 < found.miss < 1e-3
    assert 'no more starts' in repr(found)


def five_bar():
    """Return a five-bar on which all joints turn freely; its tool is where both arms meet."""
    text = '<link name="base"/>'
    for side, x in (('left', -0.2), ('right', 0.2)):
        parent = 'base'
        for part, at in (('shoulder', x), ('elbow', 0.3)):
            text += f'<link name="{side}_{part}_link"/><joint name="{side}_{part}" '
            text += f'type="continuous"><parent link="{parent}"/><axis xyz="0 0 1"/>'
            text += f'<child link="{side}_{part}_link"/><origin xyz="{at} 0 0"/></joint>'
            parent = f'{side}_{part}_link'
    robot = ik.load_robot(f'<robot name="five_bar">{text}</robot>')
    end = ((0.4, 0, 0), UPRIGHT)
    robot.add_closure('left_elbow_link', 'right_elbow_link', frame_a=end, frame_b=end, name='tip')
    robot.add_goal('left_elbow_link', dof='X Y', offset=end, name='tool')
    return robot


def crank_angles(shoulder, axis, arm, point, rod):
    """Return how many angles of a crank keep the end of its arm at a distance from a point."""
    axis = axis / np.linalg.norm(axis)
    along = axis * (axis @ arm)
    u, d = arm - along, shoulder + along - point
    a, b, c = 2 * d @ u, 2 * d @ np.cross(axis, u), rod**2 - d @ d - u @ u
    return 2 if abs(c) < np.hypot(a, b) else 0


def cranks(random, joints, ends, axes):
    """
    Return a body that rods hold to the ends of cranks, and its two problems with their counts.

    The body, which `joints` move, is at rest at zero in one of the solutions.
    """
    count = len(ends)
    arms, shoulders = 0.5 * random.normal(size=(2, count, 3))
    if joints is PLANAR:
        arms[:, 2] = shoulders[:, 2] = 0
    tips = shoulders + arms
    rods = np.linalg.norm(tips - ends, axis=1)
    names = [f'crank{k}' for k in range(count)]
    rows = [
        (n, 'continuous', 'base', s, e) for n, s, e in zip(names, shoulders, axes, strict=True)
    ]
    robot = robot_of(*joints, *rows)
    add_rods(robot, ['body'] * count, ends, names, arms, rods)
    parts = zip(shoulders, axes, arms, ends, rods, strict=True)
    return robot, tips, rods, int(np.prod([crank_angles(*part) for part in parts]))


def three_rrr(random):
    """Return the problem of a plate on three planar cranks whose pose is given."""
    ends = np.c_[0.6 * random.normal(size=(3, 2)), np.zeros(3)]
    robot, _, _, ways = cranks(random, PLANAR, ends, np.tile((0, 0, 1), (3, 1)))
    return robot, [({'body': np.eye(4)}, (), ways)]


def three_rrr_assemblies(random):
    """Return the problem of a plate on three planar cranks that are held."""
    ends = np.c_[0.6 * random.normal(size=(3, 2)), np.zeros(3)]
    robot, tips, rods, _ = cranks(random, PLANAR, ends, np.tile((0, 0, 1), (3, 1)))
    return robot, [({}, CRANKS, planar_assemblies(tips, ends, rods))]


def delta(random):
    """Return problems of a body that three cranks shift: its position is given, or the cranks."""
    axes, ends = random.normal(size=(2, 3, 3))
    robot, _, _, ways = cranks(random, SHIFTED, 0.3 * ends, axes)
    return robot, [({'body': np.eye(4)}, (), ways), ({}, CRANKS, 2)]


def rssr(random):
    """Return the problem of a spatial four-bar whose first crank is held."""
    axis, arm, shoulder, end = random.normal(size=(4, 3))
    rod = np.linalg.norm(shoulder + arm - end)
    robot = robot_of(
        ('crank0', 'continuous', 'base', (0, 0, 0), (0, 0, 1)),
        ('crank1', 'continuous', 'base', shoulder, axis),
    )
    add_rods(robot, ['crank0'], [end], ['crank1'], [arm], [rod])
    return robot, [({}, CRANKS[:1], crank_angles(shoulder, axis, arm, end, rod))]


def three_rpr(random):
    """Return the problem of a body on three legs in the plane."""
    base, platform, lengths = random_planar(random)
    count = planar_assemblies(base, platform, lengths)
    return body_on_legs(base, platform, lengths, PLANAR), [({}, (), count)]


def six_three(random):
    """Return the problem of a body with three points, each on two legs from a plane."""
    base = SIX_BASE + 0.02 * random.normal(size=(6, 3)) * (1, 1, 0)
    lengths = SIX_LEGS + 0.02 * random.normal(size=6)
    robot = body_on_legs(base, np.repeat(SIX_PLATFORM, 2, axis=0), lengths)
    return robot, [({}, (), three_circles(base, SIX_PLATFORM, lengths))]


def three_circles(base, platform, lengths):
    """
    Return in how many ways three points, each on two legs, have their distances.

    Each point is on a circle. At each angle of the first, each of the others has two angles at
    its distance from it; the roots of what is left of the third distance are counted.
    """
    circles = []
    for a, b, r, s in zip(base[::2], base[1::2], lengths[::2], lengths[1::2], strict=True):
        d = np.linalg.norm(b - a)
        axis, t = (b - a) / d, (r * r - s * s + d * d) / (2 * d)
        across = np.cross(axis, (0, 0, 1)) * np.sqrt(r * r - t * t)
        circles.append((a + t * axis, across, np.cross(axis, across)))

    def at(circle, angle):
        centre, u, v = circle
        return centre + np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v

    first = at(circles[0], np.linspace(0.1, 0.1 + 2 * np.pi, 20001))
    sides, places = np.linalg.norm(platform - np.roll(platform, 1, axis=0), axis=1), []
    for circle, side in zip(circles[1:], (sides[1], sides[0]), strict=True):
        gap = circle[0] - first
        a, b = 2 * gap @ circle[1], 2 * gap @ circle[2]
        c = side**2 - (gap * gap).sum(axis=1) - circle[1] @ circle[1]
        share = c / np.hypot(a, b)
        outside = np.abs(share) > 1
        # The first one beyond the end of a branch stands for the end, where two branches meet.
        share[outside & np.roll(outside, 1) & np.roll(outside, -1)] = np.nan
        half = np.arccos(share.clip(-1, 1))
        places.append([at(circle, np.arctan2(b, a) + sign * half) for sign in (1, -1)])
    gaps = [((p - q) ** 2).sum(axis=1) - sides[2] ** 2 for p in places[0] for q in places[1]]
    return sum(int(np.sum(gap[1:] * gap[:-1] < 0)) for gap in gaps)


def five_bar_problems(_):
    """Return the problems of a five-bar."""
    motors = ('left_shoulder', 'right_shoulder')
    return five_bar(), [({'tool': (0.05, 0.4, 0)}, (), 4), ({}, motors, 2)]


CRANKS = ('crank0', 'crank1', 'crank2')
SIX_BASE = np.array(
    [
        (1.099, -0.372, 0),
        (1.138, 0.226, 0),
        (-0.326, 1.114, 0),
        (-0.839, 0.803, 0),
        (-0.796, -0.845, 0),
        (-0.268, -1.129, 0),
    ]
)
SIX_PLATFORM = np.array([(0, 0, 0), (0.466, 0, 0), (0.221, 0.403, 0)])
SIX_LEGS = np.array([1.987, 1.987, 1.903, 1.903, 1.955, 1.955])
# Problems, how many of them are tried, and the largest number of solutions among these.
KNOWN = {
    'five-bar': (five_bar_problems, 1, 4),
    '3-RPR': (three_rpr, 6, 6),
    '3-RRR, pose': (three_rrr, 6, 8),
    '3-RRR, cranks': (three_rrr_assemblies, 40, 6),
    'delta': (delta, 6, 8),
    'RSSR': (rssr, 6, 2),
    '6-3 platform': (six_three, 20, 16),
}


@pytest.mark.parametrize('name', KNOWN)
def test_number_of_solutions_is_that_of_a_polynomial_or_closed_form(name):
    """For random mechanisms; motors that are held keep their values."""
    make, tries, most = KNOWN[name]
    random, seen = np.random.default_rng(8), []
    for _ in range(tries):
        robot, problems = make(random)
        solver = ik.Solver(robot)
        q0 = {'left_shoulder': 2.0, 'right_shoulder': 1.0} if name == 'five-bar' else None
        for goals, held, count in problems:
            free = [each for each in robot.joint_names if each not in held]
            found = solver.solve_all(goals, q0, free)
            assert len(found) == count
            seen.append(count)
    assert max(seen) == most


def test_platform_far_from_its_base_has_all_assemblies():
    """Its legs are many times longer than the body; no theorem ends the search at four."""
    random = np.random.default_rng(5)
    problems = [six_three(random) for _ in range(29)]
    for robot, [(_, _, count)] in (problems[k] for k in (1, 20, 28)):
        solver = ik.Solver(robot)
        assert count == 4
        assert [len(solver.solve_all(seed=seed)) for seed in range(3)] == [4, 4, 4]


def test_theorem_follows_the_end_of_a_leg_that_is_moved():
    """With the ends of its legs in three points, a platform has sixteen assemblies at most."""
    random = np.random.default_rng(8)
    ends = SIX_BASE + 0.02 * random.normal(size=(6, 3)) * (1, 1, 0)
    lengths = SIX_LEGS + 0.02 * random.normal(size=6)
    base = np.repeat(SIX_PLATFORM, 2, axis=0)
    robot = body_on_legs(np.r_[[(0.1, 0.2, 0.3)], base[1:]], ends, lengths)
    solver = ik.Solver(robot)
    assert solver.solve_all().miss > 0.0
    robot.closures['rod0'].set_position(*base[0])
    found = solver.solve_all()
    assert (len(found), found.miss) == (16, 0.0)


@pytest.mark.parametrize(
    ('goal', 'links', 'dimension'), [('X Y', 3, 1), ('X Y', 4, 2), ('X Y EZ', 4, 1)]
)
def test_redundant_arms_have_continua_of_their_redundancy(goal, links, dimension):
    """Their samples are spread: no two answers are near each other."""
    robot = dh([(0, 0.5, 0)] * links)
    robot.add_goal(f'link{links}', dof=goal, name='goal')
    pose = robot.forward(np.full(links, 0.4), f'link{links}')
    found = ik.Solver(robot).solve_all({'goal': pose})
    assert (found.dimension, found.miss, found.stopped) == (dimension, 1.0, 'complete')
    assert len(found) == 100
    gaps = turned_difference(found.q[:, None], found.q[None]) + 9 * np.eye(100)
    assert gaps.min() > 0.005
    assert found.residual.max() < 1e-12


def test_seven_joints_reach_a_pose_in_a_continuum_of_dimension_one():
    """An arm of general geometry."""
    random = np.random.default_rng(4)
    rows = np.c_[random.uniform(0, 0.4, (7, 2)), np.tile((90, -90), 4)[:7]]
    robot = dh(rows)
    found = ik.Solver(robot).solve_all({'link7': robot.forward(random.uniform(-2, 2, 7), 'link7')})
    assert found.dimension == 1


def test_same_seed_gives_the_same_bits():
    """Another seed makes other starts."""
    solver = ik.Solver(body_on_legs(DIETMAIER_BASE, DIETMAIER_PLATFORM, DIETMAIER_LEGS))
    one, two, other = (solver.solve_all(seed=seed) for seed in (5, 5, 7))
    assert one.q.tobytes() == two.q.tobytes()
    assert one.starts == two.starts != other.starts


def test_goal_out_of_reach_has_no_answer():
    """The search ends by its statistic."""
    found = ik.Solver(ur5()).solve_all({'link6': ((0.9, 0.9, 0.3), UPRIGHT)})
    assert len(found) == len(found.mode) == 0
    assert found.q.shape == (0, 6)
    assert found.stopped == 'complete'


def test_answers_of_two_arms_combine():
    """Both have chains of their own."""
    left, right = (ik.load_robot('arm6', prefix=side) for side in ('l_', 'r_'))
    robot = ik.combine(left, right)
    goals = {
        f'{side}_{link}': robot.forward(robot.q + 0.3, f'{side}_{link}')
        for side in 'lr'
        for link in ('tool_link',)
    }
    solver = ik.Solver(robot)
    each = [len(solver.solve_all({name: pose})) for name, pose in goals.items()]
    both = solver.solve_all(goals)
    assert len(both) == each[0] * each[1] > 1
    assert all(solution.converged for solution in both)
    assert len(solver.solve_all(goals, most=3)) == 3


def test_solutions_in_contact_are_left_out_and_told():
    """Those that remain are all others, and each knows its nearest pair."""
    robot = ur5()
    pose = robot.forward([0.3, -1, 0.9, 0.4, 0.7, 0.2], 'link6')
    free = ik.Solver(robot).solve_all({'link6': pose})
    robot.collisions.add_body('link3', ik.Sphere(0.05))
    at = robot.forward(free.q, 'link3')[0, :3, 3]
    ball = robot.collisions.add_obstacle(ik.Sphere(0.1), (at, UPRIGHT))
    found = ik.Solver(robot).solve_all({'link6': pose})
    apart = np.array([not robot.collisions.contacts(q) for q in free.q])
    assert 0 < len(found) == apart.sum() < len(free)
    assert len(found.in_contact) == (~apart).sum()
    assert all(solution.converged for solution in found)
    assert 'in contact' in repr(found)
    assert len(
        ik.Solver(robot, ik.SolverOptions(avoid_collisions=False)).solve_all({'link6': pose})
    ) == len(free)
    ball.remove()
    assert len(ik.Solver(robot).solve_all({'link6': pose})) == len(free)


def test_answers_are_sorted_as_asked():
    """By distance and by condition."""
    robot = ur5()
    solver, q = ik.Solver(robot), np.array([0.3, -1, 0.9, 0.4, 0.7, 0.2])
    pose = robot.forward(q, 'link6')
    near = solver.solve_all({'link6': pose}, q0=q)
    assert turned_difference(near.q[0], q) < 1e-9
    assert (np.diff(np.linalg.norm(near.q - q, axis=1)) >= 0).all()
    best = solver.solve_all({'link6': pose}, sort='condition')
    assert (np.diff(best.condition) <= 0).all()
    assert best[0].converged
    assert 'condition' in repr(best)


@pytest.mark.parametrize(
    'wrong',
    [{'sort': 'size'}, {'miss': 0}, {'most': 0}, {'seconds': -1}, {'resolution': 2}, {'seed': -1}],
)
def test_wrong_arguments_are_refused(wrong):
    """The message names the argument."""
    with pytest.raises(ik.errors.OptionError, match=next(iter(wrong))):
        ik.Solver(ik.load_robot('arm6')).solve_all(**wrong)
