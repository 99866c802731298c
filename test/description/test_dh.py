"""Denavit-Hartenberg tables against the product of four motions a row, written out."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.errors import OptionError, ShapeError
from ik_node.robot import from_dh, load_robot
import numpy as np
import pytest
from support.source_arms import DH_ROWS

# Universal Robots' table of the UR5e, the same order, in radians.
UR5E = (
    (0.1625, 0, np.pi / 2, 0),
    (0, -0.425, 0, 0),
    (0, -0.3922, 0, 0),
    (0.1333, 0, np.pi / 2, 0),
    (0.0997, 0, -np.pi / 2, 0),
    (0.0996, 0, 0, 0),
)


def turn(axis, angle):
    """Return the (4, 4) rotation about x (0) or z (2)."""
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.eye(4)
    i, j = (1, 2) if axis == 0 else (0, 1)
    matrix[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return matrix


def slide(axis, way):
    """Return the (4, 4) translation along x (0) or z (2)."""
    matrix = np.eye(4)
    matrix[axis, 3] = way
    return matrix


def frames(rows, q, joints, convention):
    """Return the poses of frames 0 to n of a table [d, a, alpha, theta], in radians."""
    found = [np.eye(4)]
    for (d, a, alpha, theta), value, kind in zip(rows, q, joints, strict=True):
        d, theta = (d, theta + value) if kind == 'R' else (d + value, theta)
        about_z, about_x = turn(2, theta) @ slide(2, d), slide(0, a) @ turn(0, alpha)
        step = about_z @ about_x if convention == 'standard' else about_x @ about_z
        found.append(found[-1] @ step)
    return found


def check(robot, rows, q, joints, convention):
    """Compare every link with the product."""
    for i, wanted in enumerate(frames(rows, q, joints, convention)):
        np.testing.assert_allclose(robot.forward(q, f'link{i}'), wanted, atol=1e-12)


@st.composite
def tables(draw):
    """Draw rows, values and kinds of joints."""
    count = draw(st.integers(1, 8))
    length, angle = st.floats(-2, 2), st.floats(-np.pi, np.pi)
    rows = [
        (draw(length), draw(length), draw(angle), draw(angle), draw(angle)) for _ in range(count)
    ]
    joints = ''.join(draw(st.lists(st.sampled_from('RP'), min_size=count, max_size=count)))
    return [row[:4] for row in rows], [row[4] for row in rows], joints


@pytest.mark.parametrize('convention', ['standard', 'modified'])
@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_any_table_agrees_with_its_formula(convention, table):
    """Every link is where the product of its rows puts it, turning and sliding joints mixed."""
    rows, q, joints = table
    check(from_dh(rows, convention=convention, joints=joints), rows, q, joints, convention)


def test_names_and_joints():
    """Links link0 to linkn, joints joint1 to jointn, one value each and no loop."""
    robot = from_dh(DH_ROWS, degrees=True)
    assert list(robot.links) == [f'link{i}' for i in range(7)]
    assert robot.joint_names == [f'joint{i}' for i in range(1, 7)]
    assert robot.root.name == 'link0'
    assert robot.dialect == 'DH table, standard'
    assert robot.lower.tolist() == [-np.inf] * 6
    assert robot.mobility == 6
    assert robot.assembly is None


@pytest.mark.parametrize(
    'order', ['theta d a alpha', 'a, alpha, d, theta', ('alpha', 'theta', 'd', 'a')]
)
def test_any_order_of_columns_is_read(order):
    """Columns are found by the order that is said."""
    names = order.replace(',', ' ').split() if isinstance(order, str) else order
    shuffled = [[row[('d', 'a', 'alpha', 'theta').index(n)] for n in names] for row in UR5E]
    q = [0.3, -0.4, 0.5, 1.2, -0.7, 2.0]
    check(from_dh(shuffled, order=order), UR5E, q, 'R' * 6, 'standard')


def test_ur5e_is_the_ur5e(shared):
    """The maker's table and the maker's URDF agree, from the frame `base` to `tool0`."""
    urdf = load_robot(shared / 'models' / 'ur5e' / 'ur5e.urdf')
    table = from_dh(UR5E)
    for q in np.random.default_rng(3).uniform(-3, 3, (20, 6)):
        base, tool = urdf.forward(q, 'base'), urdf.forward(q, 'tool0')
        there = np.linalg.inv(base) @ tool
        np.testing.assert_allclose(table.forward(q, 'link6'), there, atol=1e-9)


def test_limits_are_set():
    """Degrees for what turns, metres for what slides, infinite for none; q = 0 is clamped."""
    limits = [(-90, 90), (0.1, 0.4), (-np.inf, np.inf)]
    rows = np.zeros((3, 4))
    robot = from_dh(rows, limits=limits, degrees=True, joints='RPR')
    np.testing.assert_allclose(robot.lower, [-np.pi / 2, 0.1, -np.inf])
    np.testing.assert_allclose(robot.upper, [np.pi / 2, 0.4, np.inf])
    assert robot.q.tolist() == [0.0, 0.1, 0.0]
    unlimited = from_dh(rows[:1], limits=[(-1e16, 1e16)])
    assert np.isinf(unlimited.lower).all()
    assert "'joint1': -1e+16, 1e+16: taken as no limit" in unlimited.notes[0]
    plain = from_dh(rows, limits=limits)
    assert plain.lower.tolist() == [-90, 0.1, -np.inf]
    assert limits[0] == (-90, 90)


@pytest.mark.parametrize(
    ('rows', 'options', 'error', 'reason'),
    [
        ([], {}, ShapeError, r'rows: expected shape \(n, 4\)'),
        (np.zeros((0, 4)), {}, ShapeError, 'rows: expected one row a joint or more'),
        ([1, 2, 3, 4], {}, ShapeError, r'got shape \(4,\)'),
        ([[1, 2, 3]], {}, ShapeError, r'd a alpha theta, got shape \(1, 3\)'),
        ([[1, 2, 3, 4], [1, 2]], {}, ShapeError, 'rows: expected'),
        ([['a', 2, 3, 4]], {}, ShapeError, 'rows: expected'),
        ([[np.nan, 2, 3, 4]], {}, ShapeError, 'rows: expected .* finite numbers, got .*nan'),
        ([[1, np.inf, 3, 4]], {}, ShapeError, 'finite'),
        ([[1, 2, 3, 4]], {'convention': 'craig'}, OptionError, "convention: 'craig'.*modified"),
        ([[1, 2, 3, 4]], {'order': 'd a alpha'}, OptionError, 'order: .*each once'),
        ([[1, 2, 3, 4]], {'order': 'd d alpha theta'}, OptionError, 'order: .*in any order'),
        ([[1, 2, 3, 4]], {'order': ('d', 1, 2, 3)}, OptionError, 'order'),
        ([[1, 2, 3, 4]], {'joints': 'RP'}, OptionError, 'joints: .*each of the 1 rows'),
        ([[1, 2, 3, 4]], {'joints': 'x'}, OptionError, "joints: 'x'"),
        ([[1, 2, 3, 4]], {'limits': [1, 2]}, ShapeError, r'limits: expected shape \(1, 2\)'),
        ([[1, 2, 3, 4]], {'limits': [(0, 1)] * 2}, ShapeError, 'limits: expected'),
        ([[1, 2, 3, 4]], {'limits': [(0, np.nan)]}, ShapeError, 'limits: .*without NaN'),
        ([[1, 2, 3, 4]], {'limits': [(2, 1)]}, OptionError, "limits of 'joint1'.*lower <= upper"),
    ],
)
def test_invalid_dh_rows_are_refused(rows, options, error, reason):
    """What was found and what is allowed is said."""
    with pytest.raises(error, match=reason):
        from_dh(rows, **options)


@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_sign_turns_joints_against_the_table(convention):
    """A joint with -1 has the pose of the table at its negative value, and keeps its limits."""
    rows, signs, q = UR5E, np.array((1, -1, -1, 1, -1, 1)), np.linspace(-0.9, 1.4, 6)
    limits = np.column_stack((np.full(6, -1.0), np.full(6, 2.0)))
    robot = from_dh(rows, convention=convention, joints='RRPRPR', limits=limits, signs=signs)
    for i, wanted in enumerate(frames(rows, signs * q, 'RRPRPR', convention)):
        np.testing.assert_allclose(robot.forward(q, f'link{i}'), wanted, atol=1e-12)
    np.testing.assert_array_equal(robot.upper, limits[:, 1])
    check(load_robot(robot.to_urdf()), rows, np.zeros(6), 'RRPRPR', convention)
    for wrong in (1, [1, 1], [1, 1, 0, 1, 1, 1], 'x'):
        with pytest.raises((OptionError, ShapeError), match='signs'):
            from_dh(rows, signs=wrong)
