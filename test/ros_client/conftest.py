"""
A node in a process of its own, its page, and a browser that shows it.

Without ROS no test of this folder is collected.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
import re
from typing import Any

import numpy as np
import pytest
from support.ports import own_port
from support.ros_graph import context, graph, lasting_graph, moving, urdf
from support.web_browser import Browser, browsers, Window

__all__ = ['context', 'graph', 'lasting_graph', 'moving', 'urdf']

collect_ignore_glob = ['*'] if find_spec('rclpy') is None else []

# Keeps what the page was told to draw: where each link's body is, in the order of arrival.
LISTEN = """
window.drawn = [];
const Plain = Worker;
window.Worker = class extends Plain {
  constructor(...about) {
    super(...about);
    this.addEventListener('message', event => {
      for (const said of event.data.messages || []) {
        const value = said.type === 'SetPositionMessage' ? said.position
          : said.type === 'SetOrientationMessage' ? said.wxyz : null;
        if (value && said.name.startsWith('/bodies/'))
          window.drawn.push([said.name.slice(8), said.type, [...value]]);
      }
    });
  }
};
"""


class LivePage:
    """What a test asks of the node, of its page and of a browser at once."""

    def __init__(self, graph: Any, page: Any, open_browser: Callable[[], Browser]) -> None:
        self.graph = graph
        self.page = page
        self._open_browser = open_browser
        self._opened: list[Browser] = []
        self.window = self.another_window()

    @property
    def browser(self) -> Browser:
        return self.window.browser

    def another_window(self) -> Window:
        browser = self._open_browser()
        self._opened.append(browser)
        browser.before_each_page(LISTEN)
        return Window(browser, self.page)

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        try:
            return self.graph.wait(condition, what)
        except pytest.fail.Exception as failure:
            pytest.fail(f'{failure}\nthe page shows\n{self.browser.text()[:1500]}')

    def shows(self, pattern: str, window: Window | None = None) -> Any:
        browser = (window or self.window).browser
        return self.wait(lambda: re.search(pattern, browser.text()), f'{pattern!r} on the page')

    def said(self, link: str, message: Any = None) -> np.ndarray:
        message = self.graph.joint_states[-1] if message is None else message
        watched = self.graph.robot_of(message)
        return np.asarray(watched.robot.forward(np.array(message.position), link))

    def drawn(self, link: str, window: Window | None = None) -> np.ndarray:
        seen = (window or self.window).browser.run('return window.drawn')
        places = [v for name, kind, v in seen if (name, kind) == (link, 'SetPositionMessage')]
        return np.array(places[-1] if places else (np.nan,) * 3)

    def widest_gap(self) -> float:
        """Return the widest loop [m] by what the node says."""
        message = self.graph.joint_states[-1]
        watched = self.graph.robot_of(message)
        return max(watched.gap(loop, np.array(message.position)) for loop in watched.loops)

    def close(self) -> None:
        for browser in self._opened:
            browser.close()


@pytest.fixture(scope='session')
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Browser]]:
    yield from browsers(tmp_path_factory)


@pytest.fixture(scope='module')
def live(
    lasting_graph: Any, urdf: Callable[[str], str], open_browser: Callable[[], Browser]
) -> Iterator[LivePage]:
    """Start the hexapod's node, its page and a browser, for all tests of a file."""
    pytest.importorskip('viser')
    from ik_node.ros_client.session import open_view
    from ik_node.viewer.page import Page

    graph = lasting_graph
    graph.knows(urdf('hexapod'))
    graph.start_node('-p', 'goal_names:=[platform]', '-p', 'goals.platform.link:=platform_link')
    graph.describe(urdf('hexapod'))
    session = open_view(['view'], 'ik_node')
    page = Page(session, port=own_port(40))
    session.set_wake(page.wake)
    graph.wait(
        lambda: page.ask(lambda s: s.robot is not None and bool(s.reports) and not s.note),
        'the robot on the page',
    )
    made = LivePage(graph, page, open_browser)
    yield made
    made.close()
    page.close()
    page.wait()


@pytest.fixture
def rested(live: LivePage) -> LivePage:
    live.page.do(lambda session: session.reset())
    home = live.page.ask(lambda s: s.robot.forward(s.robot.q * 0.0, 'platform_link'))
    live.wait(
        lambda: np.allclose(live.said('platform_link'), home, atol=1e-6), 'the robot at its start'
    )
    live.wait(
        lambda: np.allclose(
            live.page.ask(lambda s: s.robot.goals['platform'].matrix_world), home, atol=1e-6
        ),
        'the goal there',
    )
    live.browser.run('window.drawn = []')
    return live
