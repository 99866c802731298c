"""The mobility is counted once for each set of closures and locks."""

from ik_node.robot import load_robot
from ik_node.ros.loading import loaded_model
from ik_node.ros.loading.loaded_model import MobilityCount
from ik_node.solver import Solver
import pytest
from support.waiting import wait_until


@pytest.fixture
def robot(urdf):
    """Provide the five-bar."""
    return load_robot(urdf('fivebar'))


@pytest.fixture
def counted(monkeypatch):
    """Provide a list that grows with each count."""
    calls, count = [], loaded_model.mobility_of
    monkeypatch.setattr(
        loaded_model, 'mobility_of', lambda *words: calls.append(words) or count(*words)
    )
    return calls


def test_each_set_of_closures_is_counted_once(robot, counted):
    """The configuration does not matter afterwards."""
    count = MobilityCount(robot, Solver(robot))
    for closed, expected in ((True, 2), (False, 4), (True, 2), (False, 4)):
        robot.closures['pin'].enabled = closed
        assert count.at(robot.q) == count.last == expected
    assert len(counted) == 2
    robot.joints['left_shoulder'].lock()
    assert count.at(robot.q) == 3
    robot.joints['left_shoulder'].unlock()
    assert count.at(robot.q) == 4
    assert len(counted) == 3


def test_refresh_counts_in_the_background(robot, counted):
    """The last number is valid until the new one is known."""
    count = MobilityCount(robot, Solver(robot))
    count.at(robot.q)
    robot.closures['pin'].enabled = False

    def refreshed():
        count.refresh(robot.q)
        return count.last

    wait_until(refreshed, 'the new number', ready=lambda number: number == 4)
    robot.closures['pin'].enabled = True
    count.refresh(robot.q)
    assert count.last == 2
    assert len(counted) == 2


def test_count_during_a_change_is_not_kept(robot, monkeypatch):
    """A closure that is closed during the count makes its result invalid."""
    count, closure = MobilityCount(robot, Solver(robot)), robot.closures['pin']
    counting = loaded_model.mobility_of

    def made_meanwhile(*words):
        closure.enabled = True
        return counting(*words)

    closure.enabled = False
    monkeypatch.setattr(loaded_model, 'mobility_of', made_meanwhile)
    count.at(robot.q)
    monkeypatch.undo()
    closure.enabled = False
    assert count.at(robot.q) == 4
