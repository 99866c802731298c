"""The page in a real browser, driven by the pointer."""

import numpy as np
import pytest

pytest.importorskip('viser')


def platform(session):
    """Return where the hexapod's platform is, (4, 4)."""
    return session.robot.links['platform_link'].matrix_world.copy()


def widest_gap(session):
    """Return the widest open loop [m], from the frames themselves."""
    closures = session.robot.closures.values()
    return max(float(np.linalg.norm(closure.get_closure_error()[0])) for closure in closures)


def test_robot_follows_the_pointer(open_page, open_window, patient):
    """A dragged gizmo takes the platform along; loops stay closed, and the page says so."""
    page = open_page()
    window = open_window(page)
    still = window.browser.picture()
    before = window.lift('platform', 0.008)

    def arrived():
        return page.ask(platform)[2, 3] > before[2, 3] + 0.004

    patient(arrived, 'the platform to rise')
    assert page.ask(widest_gap) < 1e-6
    np.testing.assert_allclose(page.ask(platform)[:2, 3], before[:2, 3], atol=1e-5)
    patient(lambda: 'CONVERGED' in window.browser.text(), 'the status')
    assert 'platform' in window.browser.text()
    moved = window.browser.picture()
    assert np.mean(np.abs(moved - still).max(axis=2) > 0.1) > 0.002
    window.browser.press('Undo')
    patient(lambda: np.allclose(page.ask(platform), before, atol=2e-6), 'the step back')


def test_click_on_a_link_makes_a_goal(open_page, open_window, patient):
    """The base is clicked beside the legs; Delete takes the goal away."""
    page = open_page()
    window = open_window(page)
    window.browser.click(*window.pixel((0.045, -0.045, -0.005)))
    patient(lambda: 'base_link' in page.ask(lambda s: list(s.robot.goals)), 'a goal')
    patient(lambda: 'base_link' in window.browser.text(), 'its folder')
    window.browser.press('Delete')
    patient(lambda: len(page.ask(lambda s: list(s.robot.goals))) == 1, 'its end')


def test_every_tab_shows_something(open_page, open_window, patient):
    """Joints, options, plots and layers are there."""
    window = open_window(open_page())
    for tab, word in (
        ('Joints', 'motors'),
        ('Solver', 'damping_factor'),
        ('Plots', 'solve time [ms]'),
        ('View', 'joint limits'),
    ):
        window.browser.press(tab)
        patient(lambda word=word: word in window.browser.text(), f'{word} on {tab}')


def test_a_dropped_connection_comes_back(open_page, open_window, patient):
    """The browser connects again by itself, shows the robot, and its pointer still leads."""
    page = open_page()
    window = open_window(page)
    first = window.client.client_id
    page.server._websock_server.disconnect_all_clients()

    def again():
        return next((c for n, c in page.server.get_clients().items() if n != first), None)

    window.client = patient(again, 'a new connection')
    window.ready()
    before = window.lift('platform', 0.008)
    patient(lambda: page.ask(platform)[2, 3] > before[2, 3] + 0.004, 'the platform to rise')


def test_two_browsers_at_once(open_page, open_window, patient):
    """What one drags, the other shows; one that leaves disturbs nobody."""
    page = open_page()
    one, other = open_window(page), open_window(page)
    still = other.browser.picture()
    before = one.lift('platform', 0.008)
    patient(lambda: page.ask(platform)[2, 3] > before[2, 3] + 0.004, 'the platform to rise')

    def shown():
        return np.mean(np.abs(other.browser.picture() - still).max(axis=2) > 0.1) > 0.002

    patient(shown, 'the other browser to show it')
    one.browser.close()
    patient(lambda: len(page.server.get_clients()) == 1, 'one browser to be gone')
    middle = other.lift('platform', -0.008)
    patient(lambda: page.ask(platform)[2, 3] < middle[2, 3] - 0.004, 'the platform to sink')
