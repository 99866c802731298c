"""A live node's page in a real browser, driven by the pointer; the node is another process."""

import re

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('viser')

HOME = 'platform_link'
NUMBER = r'(-?[\d.]+(?:e[-+]\d+)?)'


def test_browser_draws_the_joint_states(rested):
    live = rested
    first = len(live.graph.joint_states)
    start = live.said(HOME)
    for number in range(1, 31):
        angle = 0.2 * number
        wanted = start[:3, 3] + 0.004 * np.array((np.sin(angle), 1.0 - np.cos(angle), 0.5))
        live.graph.send_goal('platform', wanted)
        live.wait(
            lambda wanted=wanted: np.allclose(live.said(HOME)[:3, 3], wanted, atol=1e-6),
            'the platform to get there',
        )
        # The page draws sixty times a second at most, and this would be over before.
        live.graph.spin(10)
    live.wait(lambda: np.allclose(live.drawn(HOME), wanted, atol=2e-6), 'the end to be drawn')
    said = np.array([live.said(HOME, m)[:3, 3] for m in live.graph.joint_states[first:]])
    seen = live.browser.run('return window.drawn')
    drawn = [v for name, kind, v in seen if (name, kind) == (HOME, 'SetPositionMessage')]
    assert len(drawn) > 15
    nearest = [np.abs(said - place).max(axis=1) for place in np.array(drawn)]
    assert max(row.min() for row in nearest) < 1e-9
    # In the order in which it happened.
    places = [int(row.argmin()) for row in nearest]
    assert places == sorted(places)
    assert len({name for name, _, _ in seen}) > 6
    live.shows('1 goal met, 6 loops closed')


def test_dragged_gizmo_moves_the_robot_of_the_node(rested):
    live = rested
    before = live.window.lift('platform', 0.008)
    live.wait(lambda: live.said(HOME)[2, 3] > before[2, 3] + 0.004, 'the platform to rise')
    asked = live.page.ask(lambda s: s.robot.goals['platform'].matrix_world.copy())
    live.wait(lambda: np.allclose(live.said(HOME), asked, atol=2e-6), 'the node to solve it')
    assert live.widest_gap() < 1e-6
    np.testing.assert_allclose(live.said(HOME)[:2, 3], before[:2, 3], atol=1e-5)
    live.shows('1 goal met, 6 loops closed')
    live.browser.press('details')
    goal = live.shows(rf'platform\s+{NUMBER} mm\s+{NUMBER}°')
    assert 0.0 <= float(goal[1]) < 1e-2
    # Out of reach the residual is the distance that is left.
    live.window.lift('platform', -0.05)
    asked = live.page.ask(lambda s: s.robot.goals['platform'].matrix_world.copy())
    assert asked[2, 3] < before[2, 3] - 0.02

    def left_is_shown():
        shown = re.search(rf'platform\s+{NUMBER} mm', live.browser.text())
        left = 1e3 * np.linalg.norm(asked[:3, 3] - live.said(HOME)[:3, 3])
        return left > 10.0 and shown and abs(float(shown[1]) - left) < 0.05 * left

    live.wait(left_is_shown, 'the way that is left')
    assert live.widest_gap() < 1e-6
