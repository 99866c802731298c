"""`solve --plot`: the picture of an answer."""

from ik_node import load_robot, Solver
from ik_node.cli.main import main
from ik_node.cli.solve import GHOST, shapes_of
import numpy as np
import pytest
from support.command_line import refusal

pytest.importorskip('matplotlib')
from matplotlib.image import imread

NEAR, FAR = (0.05, 0.3, 0.012), (0.05, 0.6, 0.012)


@pytest.fixture
def fivebar(repository):
    return repository / 'urdf' / 'fivebar.urdf'


def asked(place):
    """Return the words of the command line that ask the five-bar's tool to a place."""
    return '--goal', 'tool_link:' + ','.join(str(number) for number in place)


def answer(path, place, q=None):
    robot = load_robot(path)
    robot.add_goal('tool_link', name='tool_link', dof='X Y Z')
    poses = {'tool_link': (place, (0.0, 0.0, 0.0, 1.0))}
    start = robot.q if q is None else q
    return robot, start, poses, Solver(robot).solve_pose(poses, q0=start)


@pytest.mark.parametrize(('place', 'code'), [(NEAR, 0), (FAR, 1)])
def test_the_picture_is_written(fivebar, tmp_path, capsys, place, code):
    """Also of an answer that is none; the words and the exit code are as without it."""
    path = tmp_path / 'answer.png'
    assert main(['solve', str(fivebar), *asked(place), '--plot', str(path)]) == code
    words = capsys.readouterr().out
    assert words.startswith('CONVERGED') == (code == 0)
    image = imread(path)[..., :3]
    # The blue handle of the goal, and the purple way to it where it is not met.
    blue = (image[..., 2] > 0.6) & (image[..., 0] < 0.35) & (image[..., 1] < 0.5)
    purple = (image[..., 0] > 0.5) & (image[..., 1] < 0.3) & (image[..., 2] > 0.4)
    assert blue.sum() > 50
    assert (purple.sum() > 50) == (code == 1)


def test_picture_shows_start_solution_goals_and_loops(fivebar):
    """The links at the answer and, in grey, at the start; goals and loops once."""
    robot, start, poses, solution = answer(fivebar, NEAR)
    shapes = shapes_of(Solver(robot), start, poses, solution)
    links = [shape for shape in shapes if shape.layer == 'links']
    ghosts = [shape for shape in shapes if shape.rgba == GHOST]
    assert len(links) == len(ghosts) > 0
    assert len({shape.name for shape in shapes}) == len(shapes)
    (handle,) = [shape for shape in shapes if shape.name.startswith('goals/')][:1]
    np.testing.assert_allclose(handle.position, NEAR, atol=1e-9)
    before = {ghost.name.removeprefix('0 '): ghost for ghost in ghosts}
    moved = [np.subtract(s.position, before[s.name].position) for s in links]
    assert np.abs(moved).max() > 0.01


def test_a_picture_that_cannot_be_drawn(fivebar, tmp_path, capsys):
    for name, reason in (('a.xyz', '.png'), ('no_folder/a.png', 'can be written')):
        words = ['solve', str(fivebar), '--plot', str(tmp_path / name)]
        assert main(words) == 2
        found = refusal(capsys)
        assert '--plot' in found
        assert reason in found
