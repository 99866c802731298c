"""Solved motions as tables, arrays, bags and moving pictures."""

import csv
import sys

from ik_node import load_robot, Solver
from ik_node.cli.answer_table import answer_header, answer_rows, AnswerTable
from ik_node.description.files import description_path
from ik_node.errors import OptionError
from ik_node.motion.write import free_output, write_bag, write_npz
from ik_node.scene.preview import check_preview, write_preview
import numpy as np
import pytest

FRAMES, DT = 7, 0.04


@pytest.fixture(scope='module')
def robot():
    """Return the five-bar with a goal for its tool."""
    robot = load_robot(description_path('fivebar.urdf'))
    robot.add_goal('tool_link', name='tool', dof='X Y')
    return robot


@pytest.fixture(scope='module')
def goals(robot):
    """Return positions of the tool along a line."""
    start = robot.forward(robot.q, 'tool_link')[:3, 3]
    return start + np.linspace(0.0, 0.02, FRAMES)[:, None] * (1.0, 0.5, 0.0)


@pytest.fixture(scope='module')
def solved(robot, goals):
    """Return the solved path."""
    quats = np.tile((0.0, 0.0, 0.0, 1.0), (FRAMES, 1))
    path = Solver(robot).solve_path({'tool': (goals, quats)}, dt=DT)
    assert path.converged.all()
    return path


def test_npz_has_names_times_and_joint_values(tmp_path, robot, solved):
    """As they were solved, to the last bit."""
    write_npz(tmp_path / 'out.npz', robot, solved)
    with np.load(tmp_path / 'out.npz') as file:
        assert file['joint_names'].tolist() == robot.joint_names
        for name in ('times', 'q', 'velocity', 'status'):
            np.testing.assert_array_equal(file[name], getattr(solved, name))
        np.testing.assert_array_equal(
            file['tool.error'][:, 0], solved.goal_errors['tool'].position
        )


def test_csv_of_a_path_begins_with_the_time(tmp_path, robot, solved):
    """The other columns are those of a batch."""
    path = tmp_path / 'out.csv'
    goals = list(solved.goal_errors)
    table = AnswerTable(
        path, answer_header(robot, goals, timed=True), resume=False, overwrite=False
    )
    table.add(*answer_rows(solved, goals))
    table.finish()
    with path.open(newline='') as file:
        rows = list(csv.DictReader(file))
    assert [float(row['time']) for row in rows] == solved.times.tolist()
    q = [[float(row[name]) for name in robot.joint_names] for row in rows]
    assert q == solved.q.tolist()
    assert {row['status'] for row in rows} == {'CONVERGED'}


def test_bag_round_trip_gives_joint_states_and_latched_description(tmp_path, robot, solved):
    """The reader of rosbags finds every frame at its time, and a URDF that has the loops."""
    pytest.importorskip('rosbags')
    from rosbags.interfaces import QosDurability
    from rosbags.rosbag2 import Reader
    from rosbags.typesys import get_typestore, Stores

    write_bag(tmp_path / 'bag', robot, solved)
    types = get_typestore(Stores.ROS2_JAZZY)
    states, texts = [], []
    with Reader(tmp_path / 'bag') as bag:
        for connection, at, data in bag.messages():
            message = types.deserialize_cdr(data, connection.msgtype)
            (states if connection.topic == '/joint_states' else texts).append((at, message))
        (described,) = [each for each in bag.connections if each.topic == '/robot_description']
        (qos,) = described.ext.offered_qos_profiles
        assert qos.durability == QosDurability.TRANSIENT_LOCAL
    assert len(states) == FRAMES
    for (at, state), time, q, velocity in zip(
        states, solved.times, solved.q, solved.velocity, strict=True
    ):
        stamp = state.header.stamp
        assert at == stamp.sec * 10**9 + stamp.nanosec == round(time * 1e9)
        assert list(state.name) == robot.joint_names
        np.testing.assert_array_equal(state.position, q)
        np.testing.assert_array_equal(state.velocity, velocity)
    ((_, text),) = texts
    again = load_robot(text.data)
    assert [*again.closures] == [*robot.closures]
    assert again.joint_names == robot.joint_names


def test_bag_without_rosbags_names_the_package(tmp_path, robot, solved, monkeypatch):
    """The extra to install is in the message."""
    monkeypatch.setitem(sys.modules, 'rosbags.rosbag2', None)
    with pytest.raises(OptionError, match=r'ik_node\[motion\]'):
        write_bag(tmp_path / 'bag', robot, solved)


def test_preview_shows_the_robot_in_different_poses(tmp_path, robot, goals, solved):
    """As a GIF with the frame rate of 15 Hz or less, whose pictures differ."""
    pytest.importorskip('matplotlib')
    image_of = pytest.importorskip('PIL.Image')
    path = tmp_path / 'out.gif'
    check_preview(path)
    told = []
    write_preview(path, robot, solved, {'tool': goals}, lambda *done: told.append(done))
    with image_of.open(path) as image:
        assert image.n_frames == told[-1][0] == told[-1][1] == 4
        assert image.info['duration'] == pytest.approx(2000 * DT, abs=10)
        pictures = []
        for frame in (0, 3):
            image.seek(frame)
            pictures.append(np.asarray(image.convert('RGB'), dtype=int))
    assert (np.abs(pictures[0] - pictures[1]).max(axis=2) > 50).mean() > 0.001
    red = np.abs(pictures[0] - (0xDB, 0x1F, 0x3D)).max(axis=2) < 40
    assert red.sum() > 10


def test_existing_output_is_kept_unless_it_may_be_replaced(tmp_path):
    """A folder is removed only if it is a bag."""
    file, folder, bag = tmp_path / 'a.npz', tmp_path / 'mine', tmp_path / 'bag'
    file.touch()
    for each in (folder, bag):
        each.mkdir()
    (bag / 'metadata.yaml').touch()
    for path in (file, folder, bag):
        with pytest.raises(OptionError, match='--overwrite'):
            free_output('-o', path, overwrite=False)
    free_output('-o', file, overwrite=True)
    free_output('--bag', bag, overwrite=True)
    assert not bag.exists()
    with pytest.raises(OptionError, match='mine'):
        free_output('--bag', folder, overwrite=True)
    free_output('-o', tmp_path / 'new' / 'folder' / 'b.csv', overwrite=False)
    assert (tmp_path / 'new' / 'folder').is_dir()
