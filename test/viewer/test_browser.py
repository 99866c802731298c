"""The page in a real browser, driven by the pointer."""

from functools import partial

from ik_node.gallery import NAMES
from ik_node.viewer.sessions.library_session import gallery_session
import numpy as np
import pytest
from support.waiting import wait_until
from support.web_browser import Window

pytest.importorskip('viser')


def platform(session):
    return session.robot.links['platform_link'].matrix_world.copy()


def widest_gap(session):
    """Return the widest open loop [m], from the frames themselves."""
    closures = session.robot.closures.values()
    return max(float(np.linalg.norm(closure.get_closure_error()[0])) for closure in closures)


def test_robot_follows_the_pointer(open_page, open_window):
    """A dragged gizmo takes the platform along; loops stay closed, and the page says so."""
    page = open_page()
    window = open_window(page)
    still = window.browser.picture()
    before = window.lift('platform', 0.008)

    def arrived():
        return page.ask(platform)[2, 3] > before[2, 3] + 0.004

    wait_until(arrived, 'the platform to rise')
    assert page.ask(widest_gap) < 1e-6
    np.testing.assert_allclose(page.ask(platform)[:2, 3], before[:2, 3], atol=1e-5)
    wait_until(lambda: '1 goal met, 6 loops closed' in window.browser.text(), 'the state')
    moved = window.browser.picture()
    assert np.mean(np.abs(moved - still).max(axis=2) > 0.1) > 0.002
    window.browser.press('Undo')
    wait_until(lambda: np.allclose(page.ask(platform), before, atol=2e-6), 'the step back')


def test_keys_switch_handles_axes_and_grid(open_page, open_window):
    """W moves, E turns, Q swaps axes, G has a grid, and the view stays; F and Ctrl+Z go back."""
    page = open_page()
    window = open_window(page)
    eye = wait_until(
        lambda: page._stage.cameras._sent[window.client.client_id][0][-1].eye,
        'the fitted camera',
        ready=lambda eye: np.allclose(window.client.camera.position, eye),
    )

    def style():
        return page._controls.goals.style

    window.browser.hit_key('w')
    wait_until(lambda: style().move and not style().turn, 'handles that move')
    window.browser.hit_key('e')
    wait_until(lambda: style().turn and not style().move, 'handles that turn')
    window.browser.hit_key('e')
    wait_until(lambda: style().turn and style().move, 'both')
    window.browser.hit_key('q')
    wait_until(lambda: style().local, "the goal's own axes")
    window.browser.hit_key('q')
    wait_until(lambda: not style().local, 'those of the world')
    window.browser.hit_key('g')
    wait_until(lambda: style().step == pytest.approx(0.01), 'a grid')
    for key in 'asd':
        window.browser.hit_key(key)
    np.testing.assert_allclose(window.client.camera.position, eye, atol=1e-9)
    goals, handles = page._controls.goals, page._stage._gizmos._handles
    goals._step.value = 0.003
    goals._changed()
    wait_until(lambda: handles['platform']._style.step == 0.003, 'the other grid')
    before = window.lift('platform', 0.008)
    risen = round(float(before[2, 3]) / 0.003) * 0.003 + 0.009
    wait_until(lambda: abs(page.ask(platform)[2, 3] - risen) < 0.0031, 'the platform to rise')
    at = page.ask(lambda session: session.robot.goals['platform'].matrix_world[2, 3]) / 0.003
    assert at == pytest.approx(round(at), abs=1e-6)
    window.browser.hit_key('z', control=True)
    wait_until(lambda: np.allclose(page.ask(platform), before, atol=2e-6), 'the step back')
    wait_until(
        lambda: np.abs(window.client.camera.position - eye).max() > 0.01,
        'another view',
        meanwhile=lambda: window.browser.drag((200, 500), (260, 520)),
    )
    window.browser.hit_key('f')
    wait_until(lambda: np.allclose(window.client.camera.position, eye), 'the view as at first')


def test_click_on_a_link_makes_a_goal_unless_it_is_fixed(open_page, open_window):
    """A rod gets a goal, which Delete takes away; the page says that the base is fixed."""
    page = open_page()
    window = open_window(page)
    window.browser.click(*window.pixel((0.045, -0.045, -0.005)))
    wait_until(lambda: 'base_link is fixed' in window.browser.text(), 'the refusal')
    rod = page.ask(lambda s: s.robot.links['leg5_rod_link'].matrix_world[:3, 3].copy())
    window.browser.click(*window.pixel(rod))
    wait_until(lambda: len(page.ask(lambda s: list(s.robot.goals))) == 2, 'a goal')
    wait_until(lambda: '2 goals met' in window.browser.text(), 'its state')
    window.browser.hit_key('\ue017')
    wait_until(lambda: len(page.ask(lambda s: list(s.robot.goals))) == 1, 'its end')


def test_browser_reconnects_after_dropped_connection(open_page, open_window):
    """The browser connects again by itself, shows the robot, and its pointer still leads."""
    page = open_page()
    window = open_window(page)
    first = window.client.client_id
    page.server._websock_server.disconnect_all_clients()

    def again():
        return next((c for n, c in page.server.get_clients().items() if n != first), None)

    window.client = wait_until(again, 'a new connection')
    window.ready()
    before = window.lift('platform', 0.008)
    wait_until(lambda: page.ask(platform)[2, 3] > before[2, 3] + 0.004, 'the platform to rise')


def test_chooser_rest_pose_and_tabs_work(open_page, open_window):
    """Another robot is chosen and described, its configuration kept; tabs are there."""
    robots = {name: partial(gallery_session, name) for name in NAMES}
    page = open_page(robots=robots, about={'fivebar': 'a pen on two arms'})
    window = open_window(page)
    window.browser.press('hexapod')
    wait_until(lambda: window.browser.place_of(NAMES[-1]), 'the last of the list')
    window.browser.press('fivebar')
    wait_until(lambda: page.ask(lambda session: session.title) == 'fivebar', 'the other robot')
    wait_until(lambda: 'a pen on two arms' in window.browser.text(), 'what it is')
    page.do(lambda session: session.set_forward(True))
    page.do(lambda session: session.set_joint('left_shoulder', 0.3))
    window.browser.press('Joints')
    yaml = 'return [...document.querySelectorAll("textarea")].map(e=>e.value).join()'
    wait_until(lambda: '"left_shoulder": 0.3\n' in window.browser.run(yaml), 'the joints as YAML')
    q = page.ask(lambda session: session.q)
    window.browser.press('Save rest pose')

    def rest():
        joints = page.ask(lambda session: session.robot.joint_order)
        return [joint.dof_rest_pose[joint.dof[0]] for joint in joints]

    wait_until(lambda: np.allclose(rest(), q), 'the rest pose')
    for tab, word in (
        ('Solver', 'damping_factor'),
        ('Plots', 'solve time [ms]'),
        ('View', 'joint limits'),
        ('Goals', 'new goal holds'),
    ):
        window.browser.press(tab)
        wait_until(lambda word=word: word in window.browser.text(), f'{word} on {tab}')


def test_page_follows_dark_mode_of_the_system(open_page, open_window):
    """A browser whose system is dark gets a dark page; buttons choose for one browser."""
    page = open_page()
    window = open_window(page)

    def dark():
        scheme = 'return document.documentElement.getAttribute("data-mantine-color-scheme")'
        return window.browser.run(scheme) == 'dark'

    assert not dark()
    light = window.browser.picture()
    window.browser.prefer('dark')
    wait_until(dark, 'a dark page')
    wait_until(lambda: window.browser.picture().mean() < light.mean() - 0.3, 'a dark scene')
    window.browser.press('View')
    window.browser.press('light')
    wait_until(lambda: not dark(), 'a light page')
    window.browser.press('dark')
    wait_until(dark, 'a dark page again')


def test_robot_is_neither_cut_nor_under_a_panel(open_page, open_window):
    """On a laptop, and on a phone, whose sheet of panels is closed at first; and in 2-D."""
    page = open_page('scissor_lift')
    for width, height in ((1280, 800), (390, 844)):
        window = open_window(page, (width, height))
        right, bottom = window.free_view()
        assert right == (width if width < 600 else pytest.approx(960, abs=10))
        assert (bottom < height) == (width < 600)
        found = window.robot_pixels()
        assert (found.min(axis=0) > 0.0).all()
        assert (found.max(axis=0) < (right, bottom)).all()
        assert (np.ptp(found, axis=0) / (right, bottom)).max() > 0.5
    window.browser.click(0.5 * width, height - 20)
    wait_until(lambda: window.free_view()[1] < 0.7 * height, 'the sheet to open')
    assert window.free_view()[1] > 0.66 * height

    def whole():
        return window.robot_pixels().max(axis=0)[1] < window.free_view()[1]

    wait_until(whole, 'the robot above the sheet')
    window.browser.close()


def test_finger_chooses_from_a_list_on_a_phone(open_page, open_browser):
    """The layout keeps its size while the list is open; else the list would close."""
    page, browser = open_page(), open_browser()
    browser.be_phone(390, 844)
    window = Window(browser, page)
    browser.click(195, 824)
    wait_until(lambda: 0.66 * 844 < window.free_view()[1] < 0.7 * 844, 'the sheet to open')
    browser.tap(*browser.place_of('goals'))
    browser.tap(*wait_until(lambda: browser.place_of('joints'), 'the list'))
    wait_until(lambda: page.ask(lambda session: session.forward), 'the choice')
    assert browser.run('return [innerWidth,innerHeight]') == [390, 844]
    browser.close()


def test_residuals_open_on_a_click_within_the_panel(open_page, open_window):
    window = open_window(open_page('strandbeest'), (1280, 800))
    cell = 'document.querySelector("td[title]")'
    table = f'return {cell}.closest("table").getBoundingClientRect()'
    assert not window.browser.run(f'return {cell}?.checkVisibility()&&{cell}.clientWidth>0')
    window.browser.press('details')
    wait_until(lambda: window.browser.run(f'{table}.width') > 100, 'the residuals')
    assert window.browser.run(f'{table}.right') <= 1270
    assert window.browser.run(f'return {cell}.clientWidth') > 60


def test_long_state_is_whole(open_page, open_window):
    page = open_page()
    window = open_window(page, (1280, 800))
    page._controls._show_state = lambda session: None
    page.server.gui.set_panel_label('14 of 14 goals not met, 6 of 6 loops open')
    wait_until(lambda: '6 of 6 loops open' in window.browser.text(), 'the state')
    title = 'document.querySelector("#root [style*=letter-spacing][style*=ellipsis]")'
    for size in ('Width', 'Height'):
        shown, whole = (f'{title}.{what}{size}' for what in ('client', 'scroll'))
        assert window.browser.run(f'return {whole}-{shown}') <= 1
