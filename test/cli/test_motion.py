"""`motion`: key points from files, through a mapping, to joint values, bags and pictures."""

from ik_node import load_robot
from ik_node.cli.main import main
from ik_node.description.files import description_path
from ik_node.motion.mapping import read_map
from ik_node.motion.read import read_motion
import numpy as np
import pytest
from support.command_line import refusal
from support.motions import FRAMES, RATE, written
from support.naive import naive_of

HUMANOID = description_path('humanoid.urdf')
# The body of the small motion is the pelvis, its hand the left hand, which is too far away.
MAP = """
up: Y
scale: 0.008
root: body
links:
  pelvis_link: {point: body, dof: X Y Z EX EY EZ, weight: 3}
  left_hand_link: {point: hand, scale: 8, offset: {xyz: [0, 0.5, 0]}}
  right_foot_link: {point: body, offset: {xyz: [0, -0.1, -0.6]}}
"""


@pytest.fixture
def run(tmp_path, capsys):
    """Return how to run the command on motions; gives the exit code and both outputs."""
    mapping = tmp_path / 'map.yaml'
    mapping.write_text(MAP)

    def call(*words, mapped=True, robot=HUMANOID):
        map_words = ['--map', str(mapping)] if mapped else []
        code = main(['motion', str(robot), *map_words, *map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_conflicting_goals_give_joint_values_with_closed_loops(run, tmp_path):
    motion, out = written(tmp_path, '.npz'), tmp_path / 'new' / 'out.npz'
    code, said, _ = run('--motion', motion, '-o', out)
    assert code == 0
    assert f'{FRAMES} of {FRAMES} frames solved' in said
    robot = load_robot(HUMANOID)
    with np.load(out) as file:
        assert file['joint_names'].tolist() == robot.joint_names
        np.testing.assert_allclose(file['times'], np.arange(FRAMES) / RATE, atol=1e-9)
        assert file['left_hand_link.error'][:, 0].min() > 0.1
        q = file['q']
    wanted = read_map(tmp_path / 'map.yaml').poses(read_motion(motion))
    for row in q:
        there = naive_of(robot, row)
        assert max(max(there.error(loop)) for loop in robot.closures.values()) < 1e-6
        assert there.limit_excess() <= 0.0
    # The heavier pelvis is nearer to its goal than the hand.
    pelvis = [robot.forward(row, 'pelvis_link')[:3, 3] for row in q]
    assert np.abs(pelvis - wanted['pelvis_link'][0]).max() < 0.1


def test_exact_goals_out_of_reach_are_failures(run, tmp_path):
    table = tmp_path / 'answers.csv'
    code, said, told = run('--motion', written(tmp_path, '.csv'), '--exact', '-o', table)
    assert code == 1
    assert len(table.read_text().splitlines()) == 1 + FRAMES
    assert f'0 of {FRAMES} frames solved' in said
    assert told.startswith(f'small.csv: frames 0 to {FRAMES - 1}: ')


def test_folder_of_motions_is_solved_to_a_folder_of_files(run, tmp_path):
    """One file and one bag for each, with its own number of frames and its own times."""
    pytest.importorskip('rosbags')
    clips = tmp_path / 'clips'
    clips.mkdir()
    written(clips, '.csv')
    with np.load(written(tmp_path, '.npz')) as file:
        arrays = dict(file)
    short = {name: array[:5] for name, array in arrays.items()}
    np.savez(clips / 'short.npz', **{**short, 'times': 0.2 * np.arange(5)})
    np.savez(clips / 'uneven.npz', **{**short, 'times': np.arange(5.0) ** 2})
    (clips / 'notes.txt').touch()
    words = ('--motion', clips, '-o', tmp_path / 'out', '--bag', tmp_path / 'bags')
    code, said, _ = run(*words)
    assert code == 0
    assert said.startswith(f'3 motions: {FRAMES + 10} of {FRAMES + 10} frames solved')
    times = {}
    for name in ('small', 'short', 'uneven'):
        assert (tmp_path / 'bags' / name / 'metadata.yaml').is_file()
        with np.load(tmp_path / 'out' / f'{name}.npz') as file:
            times[name] = file['times']
    np.testing.assert_allclose(np.diff(times['small']), 1.0 / RATE, atol=1e-9)
    np.testing.assert_allclose(np.diff(times['short']), 0.2, atol=1e-9)
    np.testing.assert_allclose(times['uneven'], np.arange(5.0) ** 2, atol=1e-9)


@pytest.mark.parametrize(('words', 'step'), [(('--dt', '0.5'), 0.5), (('--fps', '4'), 0.25)])
def test_option_replaces_times_of_the_file(run, tmp_path, words, step):
    out = tmp_path / 'out.npz'
    assert run('--motion', written(tmp_path, '.csv'), '-o', out, *words)[0] == 0
    with np.load(out) as file:
        np.testing.assert_allclose(np.diff(file['times']), step, atol=1e-9)


def test_links_follow_key_points_of_their_names_without_a_mapping(run, tmp_path):
    """Positions only, because the file has no orientations."""
    motion, out = tmp_path / 'm.npz', tmp_path / 'out.npz'
    np.savez(motion, head=np.tile((0.1, 0.0, 1.3), (3, 1)))
    assert run('--motion', motion, '-o', out, mapped=False)[0] == 0
    robot = load_robot(HUMANOID)
    with np.load(out) as file:
        place = robot.forward(file['q'][-1], 'head_link')[:3, 3]
    np.testing.assert_allclose(place, (0.1, 0.0, 1.3), atol=1e-4)


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('--motion', 'nowhere.csv'), r'nowhere.csv: no such file'),
        (('--motion', '{motion}', '-o', 'out.txt'), 'ends in .npz or .csv'),
        (('--motion', '{motion}', '{other}', '-o', 'out.csv'), 'a folder for 2 motions'),
        (('--motion', '{motion}', '-o', '{motion}', '--overwrite'), 'another file than the input'),
        (('--motion', '{motion}', '--preview', 'out.avi'), '.gif'),
        (('--motion', '{motion}', '--dt', '0'), 'a number above 0'),
        (('--motion', '{motion}', '{motion}', '-o', 'out'), 'files with different names'),
        (('--motion', '{empty}'), 'no file ends in .csv or .npz or .bvh'),
        (('--motion', '{motion}', '--resume'), 'with -o'),
    ],
)
def test_unusable_arguments_are_refused_in_one_line(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'map.yaml').write_text(MAP)
    (tmp_path / 'none').mkdir()
    names = {'motion': written(tmp_path, '.csv'), 'empty': tmp_path / 'none'}
    names['other'] = tmp_path / 'other.csv'
    names['other'].write_text(names['motion'].read_text())
    filled = [word.format(**names) for word in words]
    before = sorted(tmp_path.iterdir())
    mapped = [] if '--map' in words else ['--map', 'map.yaml']
    assert main(['motion', str(HUMANOID), *mapped, *filled]) == 2
    assert message in refusal(capsys)
    assert sorted(tmp_path.iterdir()) == before


def test_preview_shows_the_first_motion(run, tmp_path):
    pytest.importorskip('matplotlib')
    image_of = pytest.importorskip('PIL.Image')
    words = ('--motion', written(tmp_path, '.csv'), '--preview', tmp_path / 'm.gif')
    assert run(*words)[0] == 0
    with image_of.open(tmp_path / 'm.gif') as image:
        assert image.n_frames == FRAMES


@pytest.fixture
def clips(tmp_path):
    folder = tmp_path / 'clips'
    folder.mkdir()
    motion = written(tmp_path, '.csv').read_text()
    for number in range(5):
        (folder / f'clip{number}.csv').write_text(motion)
    return folder


def solved_in(folder):
    """Return the joint values of every motion in a folder, by the name of its file."""
    return {path.name: np.load(path)['q'] for path in sorted(folder.iterdir())}


def test_resumed_run_and_workers_give_the_same_files(run, clips, tmp_path):
    """A motion that is done is not solved again; processes write the values of threads."""
    whole, parts = tmp_path / 'whole', tmp_path / 'parts'
    assert run('--motion', clips, '-o', whole)[0] == 0
    assert run('--motion', clips, '-o', parts, '--engine', 'processes', '--workers', '2')[0] == 0
    wanted = solved_in(whole)
    assert [*solved_in(parts)] == [*wanted] == [f'clip{number}.npz' for number in range(5)]
    (parts / 'clip2.npz').unlink()
    before = {path: path.stat().st_mtime_ns for path in parts.iterdir()}
    code, said, _ = run('--motion', clips, '-o', parts, '--resume')
    assert code == 0
    assert '4 of them done before' in said
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for name, q in solved_in(parts).items():
        np.testing.assert_array_equal(q, wanted[name])
