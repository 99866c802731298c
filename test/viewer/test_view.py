"""`ik.view` shows a robot that the program goes on using."""

import ik_node as ik
import numpy as np
import pytest
from support.fourbar_urdf import FOURBAR
from support.ports import own_port
from support.waiting import wait_until

pytest.importorskip('viser')

from ik_node.viewer.sessions.library_session import LibrarySession


@pytest.fixture
def robot():
    return ik.load_robot(FOURBAR)


def test_view_returns_running_page_that_can_be_closed(robot):
    page = ik.view(robot, port=own_port(90))
    try:
        assert page.url in repr(page)
        assert page.ask(lambda session: session.robot) is robot
    finally:
        page.close()
    assert repr(page) == "Page('bars': closed)"


def test_what_the_page_moves_is_in_the_robot(robot):
    page = ik.view(robot, port=own_port(91))
    try:
        goal = robot.add_goal('crank', name='tip', dof='X Y Z', offset=((0.2, 0, 0), (0, 0, 0, 1)))
        wait_until(lambda: page.session.structure == 1, 'the new goal')
        turned = (0.2 * np.cos(1.0), 0.2 * np.sin(1.0), 0.0)
        page.do(lambda session: session.move_goal('tip', turned, (0, 0, 0, 1)))
        wait_until(lambda: abs(robot.joints['drive'].get_dof_value('EZ') - 1.0) < 1e-5, 'the turn')
        goal.set_position(0.2 * np.cos(1.5), 0.2 * np.sin(1.5), 0.0)
        wait_until(lambda: abs(robot.joints['drive'].get_dof_value('EZ') - 1.5) < 1e-5, 'more')
    finally:
        page.close()


def test_session_notices_changes_by_the_program(robot):
    session = LibrarySession(robot)
    assert session.update(0.0)
    assert not session.update(0.1)
    robot.q = {'nod': 0.3}
    assert session.update(0.2)
    assert not session.update(0.3)
    assert session.q[robot.joint_names.index('nod')] == 0.3
    robot.add_goal('crank', name='tip', dof='X Y')
    before = session.structure
    assert session.update(0.4)
    assert session.structure == before + 1
    assert not session.update(0.5)
