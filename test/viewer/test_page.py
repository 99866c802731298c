"""The page without a browser: what is asked for is done, one thing after the other."""

from functools import partial
import socket
import urllib.request

import numpy as np
import pytest
from support.ports import own_port
from support.waiting import PATIENCE, wait_until
from support.wrist import ELEMENTS, wrist

pytest.importorskip('viser')

from ik_node.errors import IkError
from ik_node.robot import load_robot
from ik_node.viewer.page import Page, WorkQueue
from ik_node.viewer.panels.goal_panel import FRAME
from ik_node.viewer.panels.text_html import state_of
from ik_node.viewer.sessions.library_session import gallery_session, LibrarySession
from ik_node.viewer.stage.view_ray import ViewRay

# Without motors.
ARM = """<robot name="arm"><link name="a"/><link name="b"/>
  <joint name="one" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 1"/></joint></robot>"""


def lift(page, height):
    goal = page.ask(lambda session: session.robot.goals['platform'].matrix_world.copy())
    for phase in ('start', 'update', 'end'):
        page._dragged('platform', goal[:3, 3] + (0, 0, height), np.array((0, 0, 0, 1)), phase)
    return goal


def height_of(page):
    page.ask(lambda session: session.update(0.0))
    return page.ask(lambda session: session.robot.links['platform_link'].matrix_world[2, 3])


def test_page_closes_although_a_browser_has_a_connection_in_reserve(open_page):
    """Its server ends with it and does not wait for a request on that connection."""
    page = open_page()
    server = page.server._websock_server
    with socket.create_connection(('127.0.0.1', page.server.get_port())) as reserve:
        # The server knows a connection when it has answered another one that came later.
        urllib.request.urlopen(page.url, timeout=PATIENCE).close()
        page.close()
        assert not server._server_thread.is_alive()
        assert reserve.recv(1) == b''


def test_no_tunnel_is_opened(open_page):
    assert open_page().server.request_share_url() is None


def test_drag_is_solved_and_undone(open_page):
    page = open_page()
    before = lift(page, 0.005)
    assert height_of(page) == pytest.approx(before[2, 3] + 0.005, abs=1e-6)
    page.undo()
    assert height_of(page) == pytest.approx(before[2, 3], abs=1e-6)


def test_click_makes_a_goal(open_page):
    page = open_page()
    ray = ViewRay(np.array((0.0, 0.05, 1.0)), np.array((0.0, 0.0, -1.0)))
    rod = page.ask(lambda session: session.robot.links['leg0_rod_link'].matrix_world.copy())
    page._clicked('leg0_rod_link', ViewRay(rod[:3, 3] + (0.0, -1.0, 0.0), np.array((0, 1.0, 0))))
    where = page.ask(lambda session: session.robot.goals['leg0_rod_link'].matrix_world[:3, 3])
    assert where[[0, 2]] == pytest.approx(rod[[0, 2], 3], abs=1e-9)
    assert page.ask(lambda _: page._stage.selected) == 'leg0_rod_link'
    page.undo()
    page._controls.goals._where.value = FRAME
    page._clicked('leg0_rod_link', ray)
    at = page.ask(lambda session: session.robot.goals['leg0_rod_link'].matrix_world)
    rod = page.ask(lambda session: session.robot.links['leg0_rod_link'].matrix_world)
    np.testing.assert_allclose(at, rod, atol=1e-12)
    assert page.ask(lambda session: list(session.robot.goals)) == ['platform', 'leg0_rod_link']
    page.undo()
    assert page.ask(lambda session: list(session.robot.goals)) == ['platform']


def test_click_on_a_fixed_link_makes_no_goal(open_page):
    """No joint moves the base, so that its goal could never be met; the page says so."""
    page = open_page()
    said = []
    page._complain = said.append
    page._clicked('base_link', ViewRay(np.array((0.0, 0.05, 1.0)), np.array((0.0, 0.0, -1.0))))
    assert page.ask(lambda session: list(session.robot.goals)) == ['platform']
    assert 'base_link' in said[0]
    assert 'fixed' in said[0]


def test_second_click_on_a_link_moves_its_goal(open_page):
    """The platform has a goal: a click moves it to the clicked point, and nothing else moves."""
    page = open_page()
    before = height_of(page)
    page._clicked('platform_link', ViewRay(np.array((0.0, 0.01, 1.0)), np.array((0, 0, -1.0))))
    assert page.ask(lambda session: list(session.robot.goals)) == ['platform']
    where = page.ask(lambda session: session.robot.goals['platform'].matrix_world[:3, 3])
    assert where == pytest.approx((0.0, 0.01, before + 0.007), abs=1e-9)
    assert height_of(page) == pytest.approx(before, abs=1e-9)
    page.undo()
    where = page.ask(lambda session: session.robot.goals['platform'].matrix_world[:3, 3])
    assert where == pytest.approx((0.0, 0.0, before), abs=1e-9)


def test_selected_goal_is_deleted(open_page):
    """The first goal is selected at the start; without a goal, nothing is deleted."""
    page = open_page('climber')
    assert page.ask(lambda _: page._stage.selected) == 'body'
    page.select('left_hand')
    page.delete_selected()
    assert page.ask(lambda session: list(session.robot.goals)) == ['body', 'right_hand']
    assert page.ask(lambda _: page._stage.selected) == 'body'
    page.delete_selected()
    page.ask(lambda session: None)
    page.delete_selected()
    page.ask(lambda session: None)
    page.delete_selected()
    assert page.ask(lambda session: list(session.robot.goals)) == []


def test_released_goal_returns_to_its_link_if_wanted(open_page):
    """A goal out of reach stays where it is dropped, or returns to the platform."""
    page = open_page()

    def apart():
        return page.ask(
            lambda s: float(
                np.linalg.norm(
                    s.robot.goals['platform'].matrix_world[:3, 3]
                    - s.robot.links['platform_link'].matrix_world[:3, 3]
                )
            )
        )

    lift(page, 0.1)
    height_of(page)
    assert apart() > 0.05
    page._controls.goals._return.value = True
    lift(page, 0.1)
    assert apart() < 1e-9


FLOATING = """<mujoco><worldbody><body name="torso" pos="0 0 1"><freejoint name="root"/>{body}
<body name="leg"><joint name="hip" axis="0 1 0"/>{body}</body></body></worldbody></mujoco>"""


@pytest.mark.parametrize('body', ['', '<geom size=".1"/>'])
def test_free_joint_of_mjcf_is_not_drawn(open_page, tmp_path, body):
    """No line leads from the origin to the body; the hip has its axis, without motors too."""
    (tmp_path / 'floating.xml').write_text(FLOATING.format(body=body))
    page = open_page(robots={'floating': lambda: LibrarySession(load_robot(file))})
    file = str(tmp_path / 'floating.xml')
    page.choose('floating')

    wait_until(lambda: page.session.title == 'robot' and page._stage._helper, 'the robot')

    def axes(session):
        shapes = page._stage._drawn(page._stage._helper.shapes(session.q))
        return [shape.of for shape in shapes if shape.layer == 'axes']

    wait_until(lambda: page.ask(axes) == ['hip'], 'the axis of the hip alone')


def test_page_draws_one_gallery_robot_after_another(open_page):
    """Without a warning, which would end the page here; terrains and knobs belong to it."""
    names = ('rocker_bogie', 'humanoid', 'hexapod_tilt', 'chain100', 'dh_arm')
    page = open_page(robots={name: partial(gallery_session, name) for name in names})
    for name in names:
        page.choose(name)
        page.ask(lambda session: session.update(0.0))
        assert page.ask(lambda session: session.reports)


def test_unavailable_robot_keeps_the_previous_one(open_page):
    """The one before stays, and the chooser says so; one that is there is named."""

    def broken():
        raise IkError('no such robot')

    robots = {'hexapod': partial(gallery_session, 'hexapod'), 'broken': broken}
    page = open_page(robots={**robots, 'fivebar': partial(gallery_session, 'fivebar')})
    chooser = page._controls._chooser
    chooser.value = 'broken'
    page.choose('broken')
    assert page.ask(lambda session: session.title) == 'hexapod'
    assert chooser.value == 'hexapod'
    page.choose('fivebar')
    assert page.ask(lambda session: session.title) == 'fivebar'
    assert chooser.value == 'fivebar'


def test_unexpected_error_ends_the_page_and_is_raised(open_page):
    page = open_page()
    page.do(lambda session: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        page.wait(PATIENCE)
    with pytest.raises(IkError, match='does not respond'):
        page.ask(lambda session: None, timeout=0.1)
    page._failure = None


def show_load(page):
    panel = page._controls.load
    wait_until(lambda: panel._robot is page.session.robot, 'the panel of the robot')
    panel._show.value = True
    page.do(panel._begin)
    wait_until(lambda: 'efforts of the motors' in panel._text.content, 'the efforts')
    return panel


def test_load_shows_the_efforts_that_hold_it(open_page):
    """A pulled tip changes the force, another link keeps it; without a load nothing is shown."""
    page = open_page('excavator')
    names = page.server.scene._handle_from_node_name
    panel = show_load(page)
    assert panel.load.link == 'tip_link'
    wait_until(lambda: '/load_handles/force' in names, 'the handle')
    arrow = page.ask(lambda session: panel.arrow(session.robot))
    before = panel._text.content
    page._loaded('force', np.add(arrow.end, (0.5, 0.0, 0.0)))
    wait_until(lambda: panel._text.content != before, 'other efforts')
    assert panel.load.force[0] == pytest.approx(0.5 * panel._scale.value)
    force = panel.load.force
    page._loaded('point', np.add(arrow.start, (0.0, 0.1, 0.0)))
    page.ask(lambda _: None)
    assert panel.load.point == pytest.approx((0.0, 0.1, 0.0), abs=1e-6)
    panel._force.value = (0.0, 1e6, 0.0)
    page.do(panel._read)
    wait_until(lambda: 'over the limit' in panel._text.content, 'the limit')
    panel._force.value = force
    page.do(panel._read)
    panel._link.value = 'boom_link'
    page.do(panel._begin)
    page.ask(lambda _: None)
    assert (panel.load.link, panel.load.force) == ('boom_link', force)
    panel._show.value = False
    page.do(panel._begin)
    wait_until(lambda: panel._text.content == '', 'no efforts')
    wait_until(lambda: '/load_handles/force' not in names, 'no handle')


def test_details_have_the_distance_to_the_nearest_singularity(open_page):
    text = open_page('fivebar')._controls._singularity
    wait_until(lambda: 'distance to singularity: 58 %' in text.content, 'the distance')


def test_robot_without_motors_says_that_it_has_no_efforts():
    page = Page(LibrarySession(load_robot(ARM)), port=own_port(50))
    try:
        panel = page._controls.load
        wait_until(lambda: 'names no motors' in panel._text.content, 'the reason')
        assert panel._show.disabled
        assert page._controls._singularity.content == ''
    finally:
        page.close()


@pytest.mark.parametrize('motors', [[], ['left', 'right']])
def test_sliders_of_a_differential_wrist_keep_its_couplings(motors):
    """Every slider leads, motors hold: left = 0.1 + 2 pitch + roll, right = 2 pitch - roll."""
    robot = load_robot(wrist(ELEMENTS))
    robot.actuated = motors
    page = Page(LibrarySession(robot), port=own_port(50))
    try:
        page.ask(lambda session: session.set_forward(True))
        names = page.ask(lambda session: session.robot.joint_names)
        sliders = page._controls._joints._sliders
        for name, value in (('left', 0.5), ('right', -0.3), ('pitch', 0.2), ('roll', -0.1)):
            page.ask(lambda session: session.set_joint(name, value))  # noqa: B023
            q = page.ask(lambda session: dict(zip(names, session.q.tolist(), strict=True)))
            assert q['left'] == pytest.approx(0.1 + 2.0 * q['pitch'] + q['roll'], abs=1e-12)
            assert q['right'] == pytest.approx(2.0 * q['pitch'] - q['roll'], abs=1e-12)
            at = wait_until(
                lambda: {names[slider.place]: slider._handle.value for slider in sliders},
                f'all sliders after {name}',
                ready=lambda at: at == pytest.approx(q, abs=2e-6),  # noqa: B023
            )
            assert at[name] == pytest.approx(value, abs=1e-6)
            assert not any(slider._handle.disabled for slider in sliders)
    finally:
        page.close()
        page.wait()


# -- its queue and its pictures


def test_restarts_can_be_set_only_for_the_method_that_has_them(open_page):
    page = open_page()
    panel = page._controls._options
    for method, disabled in (('sdls', True), ('dls', False)):
        page.do(lambda session, method=method: panel._set(session, 'method', method, 'dls'))
        wait_until(
            lambda wanted=disabled: panel._inputs['restarts'].disabled == wanted, 'the input'
        )


def test_newer_work_of_same_key_replaces_older():
    """A newer wish for the same thing replaces the older one, and comes after the others."""
    queue, done = WorkQueue(), []
    queue.put(lambda: done.append('old'), key='goal')
    queue.put(lambda: done.append('other'))
    queue.put(lambda: done.append('new'), key='goal')
    for work in queue.take(0.0):
        work()
    assert done == ['other', 'new']


def test_obstacles_are_always_drawn_and_bodies_with_their_switch(open_page):
    """The switch shows the collision bodies of the links in place of their meshes."""
    page = open_page('arm_at_shelf')
    stage, switch = page._stage, page._controls.view._layers['collisions']
    drawn = []
    stage._nodes.draw = lambda shapes: drawn.append(
        {shape.of for shape in shapes if shape.layer == 'collisions'}
    )
    for value in (False, True):
        switch.value = value
        page.ask(lambda session: stage.draw(session))
        assert 'middle_board' in drawn[-1]
        assert ('fore_link' in drawn[-1]) == value
        assert stage._bodies._visible != value


def test_all_solutions_are_ghosts_of_which_a_click_takes_one(open_page):
    """The state counts them; a goal that moves ends them, and the button hides them."""
    page = open_page('arm6')
    page.ask(lambda session: session.find_solutions())
    found = page.ask(lambda session: session.solutions)
    assert len(found) >= 2
    state = page.ask(lambda session: state_of(session)[0])
    assert f'{len(found)} solutions' in state
    for number in (1, 0, 1):
        wait_until(lambda k=number: k in page._stage._shown, 'the ghost')
        page._stage._take(page._stage._shown.index(number))
        page.ask(lambda session: session.update(0.0))
        np.testing.assert_allclose(page.ask(lambda session: session.q), found.q[number], atol=1e-5)
        assert page.ask(lambda session: session.solutions) is found
    page.undo()
    page.ask(lambda session: session.update(0.0))
    np.testing.assert_allclose(page.ask(lambda session: session.q), found.q[0], atol=1e-5)
    assert page.ask(lambda session: session.solutions) is None
    page.ask(lambda session: (session.find_solutions(), session.find_solutions()))
    assert page.ask(lambda session: session.solutions) is None
