# flake8: noqa: E203
"""`reach`: the points of a slice against closed formulas, the table, the picture, exit codes."""

import csv
import io
import re
import signal
import sys

from command_line import refusal
from ik_node.cli.main import main
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
import numpy as np
import pytest

UPPER, FORE = 0.5, 0.3
ARM = """<robot name="two_r">
<link name="base"/><link name="upper"/><link name="fore"/><link name="tip"/>
<joint name="shoulder" type="{kind}"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/>{shoulder}</joint>
<joint name="elbow" type="{kind}"><parent link="upper"/><child link="fore"/>
  <origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>{elbow}</joint>
<joint name="end" type="fixed"><parent link="fore"/><child link="tip"/>
  <origin xyz="0.3 0 0.1"/></joint>
</robot>"""
FREE = ARM.format(kind='continuous', shoulder='', elbow='')
LIMIT = '<limit lower="{}" upper="{}" effort="1" velocity="1"/>'
# Of fivebar.urdf: half the way between the motors, the bars, and the angles at zero.
HALF, CRANK, ROD = 0.08, 0.18, 0.24
CRANK_AT, ROD_AT, MOST = 2.0943951023932, -1.3107330535954, 1.2


@pytest.fixture
def arm(tmp_path):
    """Return the path of an arm of two joints without limits."""
    path = tmp_path / 'arm.urdf'
    path.write_text(FREE)
    return path


@pytest.fixture
def fivebar(repository):
    """Return the path of the five-bar."""
    return repository / 'urdf' / 'fivebar.urdf'


@pytest.fixture
def run(tmp_path, capsys):
    """Return how to run the command; gives the exit code, both outputs and the table."""
    out = tmp_path / 'out.csv'

    def call(robot, *words):
        code = main(['reach', str(robot), '-o', str(out), *map(str, words)])
        printed = capsys.readouterr()
        rows = list(csv.DictReader(io.StringIO(out.read_text()))) if out.is_file() else []
        return code, printed.out, printed.err, rows

    call.out = out
    return call


def wrapped(angle):
    """Return the same angle from -pi to pi."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def two_bars(x, y, first, second):
    """Return the angles of both ways in which two bars come to points; NaN where none does."""
    square = (x**2 + y**2 - first**2 - second**2) / (2.0 * first * second)
    with np.errstate(invalid='ignore'):
        bend = np.arccos(square)
    for bent in (bend, -bend):
        yield (
            np.arctan2(y, x) - np.arctan2(second * np.sin(bent), first + second * np.cos(bent)),
            bent,
        )


def in_annulus(x, y):
    """Return where the free arm comes to."""
    return (np.hypot(x, y) <= UPPER + FORE) & (np.hypot(x, y) >= UPPER - FORE)


def in_limits(x, y):
    """Return where the arm comes to whose shoulder and elbow have limits of their own."""
    found = np.zeros(np.shape(x), dtype=bool)
    for shoulder, elbow in two_bars(x, y, UPPER, FORE):
        found |= (np.abs(wrapped(shoulder)) <= 1.1) & (elbow >= -2.0) & (elbow <= 2.6)
    return found


def in_fivebar(x, y):
    """Return where the five-bar comes to: both arms within limits, each for itself."""
    sides = []
    for sign in (-1.0, 1.0):  # the right arm is the left one in a mirror
        here = np.zeros(np.shape(x), dtype=bool)
        for crank, rod in two_bars(-sign * x + HALF, y, CRANK, ROD):
            here |= (np.abs(wrapped(crank - CRANK_AT)) <= MOST) & (
                np.abs(wrapped(rod - ROD_AT)) <= MOST
            )
        sides.append(here)
    return sides[0] & sides[1]


def judge(rows, inside, cell):
    """Compare every point with a formula, but those with the border within half a cell."""
    x, y = (np.array([float(row[axis]) for row in rows]) for axis in 'xy')
    reached = np.array([row['status'] == 'CONVERGED' for row in rows])
    wanted = inside(x, y)
    near = np.zeros(len(x), dtype=bool)
    for angle in np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False):
        for way in (0.25 * cell, 0.5 * cell):
            near |= inside(x + way * np.cos(angle), y + way * np.sin(angle)) != wanted
    np.testing.assert_array_equal(reached[~near], wanted[~near])
    return int(reached.sum()), int(near.sum())


def test_annulus(arm, run):
    """A free arm of two bars comes to all between two circles, and nowhere else."""
    code, out, err, rows = run(
        arm, '--link', 'tip', '--extent', -0.9, 0.9, -0.9, 0.9, '--grid', 61
    )
    assert (code, err) == (0, '')
    assert len(rows) == 61 * 61
    reached, near = judge(rows, in_annulus, 0.03)
    assert 1500 < reached < 2800
    assert near < 0.2 * len(rows)
    assert out.startswith(f'{reached} of 3721 points reached, ')
    area = float(re.search(r'([0-9.]+) m\^2', out)[1])
    assert area == pytest.approx(np.pi * (0.8**2 - 0.2**2), rel=1e-3)
    assert {row['z'] for row in rows} == {'0.1'}


def test_limits_and_both_ways_to_bend(tmp_path, run):
    """Where only one way to bend the elbow is within limits, it is found."""
    path = tmp_path / 'limited.urdf'
    limits = {'shoulder': LIMIT.format(-1.1, 1.1), 'elbow': LIMIT.format(-2.0, 2.6)}
    path.write_text(ARM.format(kind='revolute', **limits))
    extent = ('--extent', -0.5, 0.9, -0.9, 0.9)
    code, _, _, rows = run(path, '--link', 'tip', *extent, '--grid', 73)
    assert code == 0
    assert len(rows) == 73 * 57
    reached, near = judge(rows, in_limits, 0.025)
    assert 1000 < reached < 3000
    assert near < 0.25 * len(rows)


def test_loops(fivebar, run):
    """A five-bar comes to where both of its arms do, limits and all; the frame finds itself."""
    code, _, _, rows = run(fivebar, '--link', 'tool_link', '--grid', 80)
    assert code == 0
    x, y = (np.unique([float(row[axis]) for row in rows]) for axis in 'xy')
    reached, _ = judge(rows, in_fivebar, x[1] - x[0])
    assert reached > 1000
    fine = np.meshgrid(np.linspace(-0.5, 0.5, 2001), np.linspace(-0.5, 0.5, 2001))
    inside = in_fivebar(*fine)
    for values, grid in zip((x, y), fine, strict=True):
        least, most = grid[inside].min(), grid[inside].max()
        room = 0.06 * (fine[0][inside].max() - fine[0][inside].min())
        assert values[0] == pytest.approx(least - room, abs=1.5e-3)
        assert values[-1] == pytest.approx(most + room, abs=1.5e-3)


def test_conditioning_of_the_arm(arm, run):
    """It is that of the Jacobian in closed form."""
    _, _, _, rows = run(arm, '--link', 'tip', '--grid', 30, '--joints')
    reached = [row for row in rows if row['status'] == 'CONVERGED']
    assert len(reached) > 300
    for row in reached[::20]:
        a, b = float(row['shoulder']), float(row['shoulder']) + float(row['elbow'])
        fore = FORE * np.array((-np.sin(b), np.cos(b)))
        jacobian = np.column_stack((UPPER * np.array((-np.sin(a), np.cos(a))) + fore, fore))
        wanted = 1.0 / np.linalg.cond(jacobian)
        assert float(row['conditioning']) == pytest.approx(wanted, abs=1e-6)
    assert {row['conditioning'] for row in rows if row['status'] != 'CONVERGED'} == {''}


def test_conditioning_counts_the_motors(fivebar, run):
    """That of a five-bar is by its two cranks, as differences of the closed formula give it."""
    _, _, _, rows = run(fivebar, '--link', 'tool_link', '--grid', 30, '--joints')
    looked_at = 0
    for row in [row for row in rows if row['status'] == 'CONVERGED'][::10]:
        x, y = float(row['x']), float(row['y'])
        way = 1e-6
        rates = np.empty((2, 2))
        for side, sign in enumerate((-1.0, 1.0)):
            joint = float(row[('left_shoulder', 'right_shoulder')[side]])
            here = list(two_bars(-sign * x + HALF, y, CRANK, ROD))
            bend = int(abs(wrapped(here[1][0] - CRANK_AT + sign * joint)) < 1e-5)
            for k, step in enumerate(((way, 0.0), (0.0, way))):
                after, before = (
                    list(two_bars(-sign * (x + s * step[0]) + HALF, y + s * step[1], CRANK, ROD))[
                        bend
                    ][0]
                    for s in (1.0, -1.0)
                )
                rates[side, k] = wrapped(after - before) / (2.0 * way)
        if np.isfinite(rates).all():
            looked_at += 1
            assert float(row['conditioning']) == pytest.approx(
                1.0 / np.linalg.cond(rates), abs=1e-4
            )
    assert looked_at > 20


def test_the_table(fivebar, run):
    """Joint values that lead there, loops closed, within limits; nearest ones where none do."""
    _, _, _, rows = run(fivebar, '--link', 'tool_link', '--grid', 25, '--joints')
    robot = load_robot(fivebar)
    assert list(rows[0])[:8] == [
        *('x', 'y', 'z', 'status', 'position_error', 'orientation_error', 'starts'),
        'conditioning',
    ]
    assert list(rows[0])[8:] == robot.joint_names
    for row in rows:
        q = np.array([float(row[name]) for name in robot.joint_names])
        assert (q >= robot.lower).all()
        assert (q <= robot.upper).all()
        ends = [robot.forward(q, link) for link in ('left_fore_link', 'right_fore_link')]
        pins = [pose @ (0.24, 0.0, up, 1.0) for pose, up in zip(ends, (0.012, 0.0), strict=True)]
        np.testing.assert_allclose(*pins, atol=1e-5)
        tool = robot.forward(q, 'tool_link')[:3, 3]
        off = np.linalg.norm(tool - [float(row[axis]) for axis in 'xyz'])
        assert float(row['position_error']) == pytest.approx(off, abs=1e-6)
        assert (off < 2e-6) == (row['status'] == 'CONVERGED')
        assert int(row['starts']) >= 1


def test_threads_do_not_matter(repository, run):
    """The same table to the last digit."""
    words = (repository / 'urdf' / 'delta.urdf', '--link', 'platform_link', '--grid', 20)
    run(*words, '--threads', 1)
    one = run.out.read_text()
    run(*words, '--threads', 2)
    assert run.out.read_text() == one
    assert one.splitlines()[1].split(',')[1] == '0.0', 'upright, through where the platform is'


def test_a_screen(repository, run):
    """Without the third axis all is projected: further than in any one slice."""
    robot = repository / 'docs' / 'robots' / 'arm6.urdf'
    words = ('--link', 'hand', '--plane', 'xy', '--grid', 20)
    _, sliced, _, _ = run(robot, *words, '--at', 0.9)
    _, projected, _, rows = run(robot, *words, '--dof', 'X Y')
    assert 'plane z = 0.9 m' in sliced
    assert 'projection along z' in projected
    areas = [float(re.search(r'([0-9.]+) m\^2', text)[1]) for text in (sliced, projected)]
    assert areas[1] > 1.2 * areas[0]
    assert {row['z'] for row in rows} == {''}


def test_a_turn_that_is_held(arm, run):
    """With the orientation asked for, a slide of two axes stays as it is; an arm has none left."""
    code, _, err, rows = run(arm, '--link', 'tip', '--dof', 'X Y EZ')
    assert (code, rows) == (2, [])
    assert 'one that can be moved along X Y EZ at will; this one keeps to a curve' in err


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['--link', 'tipp'], "no link 'tipp'; did you mean 'tip'?"),
        (['--link', 'nose'], "no link 'nose'; known: base, upper, fore, tip"),
        (['--link', 'base'], 'moves in a plane; this one does not move'),
        (['--link', 'fore'], 'this one keeps to a curve'),
        (['--plane', 'xz'], "'xz' is not allowed; allowed: xy"),
        (['--plane', 'ab'], "'ab' is not allowed; allowed: xy"),
        (['--at', '0.3'], '0.1: tip never leaves that plane'),
        (['--at', 'nan'], 'a finite number'),
        (['--extent', '1', '0', '0', '1'], 'MIN below MAX'),
        (['--extent', '0', '1', '0', 'inf'], 'MIN below MAX'),
        (['--grid', '1'], 'a whole number from 2'),
        (['--dof', 'X EZ'], 'axes with X and Y among them'),
        (['--dof', 'Q'], 'some of X Y Z'),
        (['--restarts', '-1'], 'restarts: -1'),
        (['--threads', '0'], 'threads: 0'),
        (['--start', 'knee=1'], "'knee'"),
        (['--plot', 'a.guess'], 'a file that ends in .'),
        (['--plot', 'nowhere/a.png'], 'a file that can be written'),
        (['-o', 'nowhere/a.csv'], 'a file that can be written'),
        (['--closures', 'no_such_file.yaml'], 'no_such_file.yaml'),
    ],
)
def test_unusable_input(arm, tmp_path, capsys, monkeypatch, words, reason):
    """Exit code 2, one line that says what and where, and no file is begun."""
    monkeypatch.chdir(tmp_path)
    link = [] if '--link' in words else ['--link', 'tip']
    assert main(['reach', str(arm), *link, *words]) == 2
    assert reason in refusal(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ['arm.urdf']


def test_nothing_is_reached(arm, run, tmp_path):
    """It ran, and the answer is no; the files say so."""
    picture = tmp_path / 'a.png'
    words = ('--extent', 2, 3, 2, 3, '--grid', 5, '--plot', picture)
    code, out, _, rows = run(arm, '--link', 'tip', *words)
    assert code == 1
    assert out.startswith('0 of 25 points reached, 0 m^2, plane z = 0.1 m')
    assert {row['status'] for row in rows} == {'STALLED'}
    corner = [row for row in rows if (row['x'], row['y']) == ('2.0', '2.0')]
    assert float(corner[0]['position_error']) == pytest.approx(np.hypot(2, 2) - 0.8, abs=1e-5)
    assert picture.stat().st_size > 0


def test_loops_that_stay_open(fivebar, tmp_path, run):
    """It ran, and the answer is no: no file is written."""
    path = tmp_path / 'torn.urdf'
    text = fivebar.read_text()
    torn = text.replace(
        'link2 link="right_fore_link" xyz="0.24', 'link2 link="right_fore_link" xyz="0.9'
    )
    assert torn != text
    path.write_text(torn)
    code, out, err, rows = run(path, '--link', 'tool_link')
    assert (code, out, rows) == (1, '', [])
    assert 'the loops are open at the start' in err


def pixels(path):
    """Return a picture as integers (rows, columns, 3)."""
    from matplotlib.image import imread

    return np.round(255.0 * imread(path)[..., :3]).astype(int)


def test_the_picture(fivebar, tmp_path, monkeypatch, capsys):
    """By the names of robot and link both files are written; the map has its colours."""
    pytest.importorskip('matplotlib')
    monkeypatch.chdir(tmp_path)
    assert main(['reach', str(fivebar), '--link', 'tool_link', '--grid', '40']) == 0
    assert 'fivebar_tool_link_reach.csv, fivebar_tool_link_reach.png' in capsys.readouterr().out
    assert len((tmp_path / 'fivebar_tool_link_reach.csv').read_text().splitlines()) > 1000
    shown = pixels(tmp_path / 'fivebar_tool_link_reach.png')
    height, width, _ = shown.shape
    assert width > height > 700
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 1000
    tool = np.all(shown == (0xF0, 0x50, 0x2D), axis=2)
    assert 20 < tool.sum() < 2000
    # Coloured by the map, between blue and yellow, is about the share that it has of the picture.
    coloured = np.ptp(shown, axis=2) > 60
    assert 0.1 < coloured.mean() < 0.6


def test_where_a_picture_ends(arm, tmp_path):
    """What is reached is coloured up to the border, and nothing beyond it."""
    pytest.importorskip('matplotlib')
    path = tmp_path / 'a.png'
    words = ['--link', 'tip', '--grid', '40', '--plot', str(path)]
    assert main(['reach', str(arm), *words]) == 0
    shown = pixels(path)
    ground = np.all(shown == (0xF2, 0xF4, 0xF7), axis=2)
    columns, rows = (np.flatnonzero(ground.sum(axis=axis) > 50) for axis in (0, 1))
    left, right, top, bottom = columns[0], columns[-1], rows[0], rows[-1]
    scale = (right - left) / (2.0 * (0.8 + 0.06 * 1.6))
    middle = 0.5 * (left + right), 0.5 * (top + bottom)
    y, x = np.mgrid[top : bottom + 1, left : right + 1]
    radius = np.hypot(x - middle[0], y - middle[1]) / scale
    part = shown[top : bottom + 1, left : right + 1]
    coloured = np.ptp(part, axis=2) > 60
    assert coloured[(radius > 0.25) & (radius < 0.75)].mean() > 0.9
    assert not coloured[radius > 0.83].any()


def test_a_table_needs_no_matplotlib(arm, run, monkeypatch):
    """One line says what to install for a picture; without one none is needed."""
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    code, _, err, rows = run(arm, '--link', 'tip', '--plot', run.out.with_name('a.png'))
    assert (code, rows) == (2, [])
    assert 'pip install matplotlib' in err
    code, _, _, rows = run(arm, '--link', 'tip', '--grid', 5)
    assert (code, len(rows)) == (0, 25)


def test_stopped(arm, run, tmp_path, monkeypatch):
    """After Ctrl-C what is known is written."""
    solve, calls = Solver.solve_batch, []

    def interrupted(self, *args, **chosen):
        if chosen.get('threads') == 2:
            calls.append(1)
            if len(calls) == 5:
                signal.raise_signal(signal.SIGINT)
        return solve(self, *args, **chosen)

    monkeypatch.setattr(Solver, 'solve_batch', interrupted)
    picture = tmp_path / 'a.png'
    words = ('--link', 'tip', '--grid', 40, '--threads', 2, '--plot', picture)
    code, out, err, rows = run(arm, *words)
    assert (code, out) == (130, '')
    assert 0 < len(rows) < 1600
    assert re.search(r'stopped; \d+ of \d+ points reached \(of 1600 in all\).*out\.csv', err)
    assert picture.stat().st_size > 0


def test_stopped_at_once(arm, run, monkeypatch):
    """Where nothing is known, nothing is written."""

    def interrupted(self, *args, **chosen):
        raise KeyboardInterrupt

    monkeypatch.setattr('ik_node.cli.reach_map.ReachMap.fill', interrupted)
    code, out, _, rows = run(arm, '--link', 'tip')
    assert (code, out, rows) == (130, '', [])
    assert not run.out.exists()


def test_progress(arm, run, monkeypatch):
    """Where somebody looks at it, standard error tells how far it has come."""

    class Terminal(io.StringIO):
        """A standard error that somebody looks at."""

        def isatty(self):
            """Say so."""
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, 'stderr', screen)
    run(arm, '--link', 'tip', '--grid', 60)
    shown = [int(done) for done in re.findall(r'\] (\d+) of 3600', screen.getvalue())]
    assert len(shown) > 5
    assert shown == sorted(shown)
    assert screen.getvalue().endswith('\r')


def test_help(capsys):
    """It says what comes out."""
    with pytest.raises(SystemExit):
        main(['reach', '--help'])
    text = capsys.readouterr().out
    for word in ('--link', '--plane', '--extent', '--grid', '--plot', 'conditioning', 'Ctrl-C'):
        assert word in text


def test_the_page(repository, capsys):
    """Options of docs/reach.md are options, and what it shows is there."""
    text = (repository / 'docs' / 'reach.md').read_text()
    with pytest.raises(SystemExit):
        main(['reach', '--help'])
    known = capsys.readouterr().out
    options = set(re.findall(r'(--[a-z]+)', text))
    assert options >= {'--link', '--dof', '--plot'}
    assert {option for option in options if option not in known} == set()
    for target in re.findall(r'\]\(([\w./]+)\)', text):
        assert (repository / 'docs' / target).is_file()
    assert 'docs/reach.md' in (repository / 'README.md').read_text()
