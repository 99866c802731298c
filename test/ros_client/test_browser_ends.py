"""Browser, page and node end and come back, each in a process of its own."""

import itertools
import re
import signal

import numpy as np
import pytest
from support.ports import own_port

pytest.importorskip('rclpy')
pytest.importorskip('viser')

# Ticks a second: few enough that another load of the machine makes few of them late.
RATE = 10.0
NODE = ('-p', 'goal_names:=[platform]', '-p', 'goals.platform.link:=platform_link')
PORT = str(own_port(30))
# Counts how often the page was connected.
LISTEN = """
window.connections = 0;
const Plain = Worker;
window.Worker = class extends Plain {
  constructor(...about) {
    super(...about);
    this.addEventListener('message', event => {
      window.connections += event.data.type === 'connected' ? 1 : 0;
    });
  }
};
"""


class Beats:
    """Count the node's ticks from now on: what it says of them, and when they were."""

    def __init__(self, graph):
        from sensor_msgs.msg import JointState

        self._graph = graph
        self._stamps = []
        # So deep that none is lost while a browser is waited for.
        self._heard = graph.client.create_subscription(
            JointState, 'ik_node/joint_states', self._take, 5000
        )
        # Until the node has discovered it, nothing arrives.
        graph.wait(lambda: self._stamps, 'the first tick')
        # The first ticks of a node take longer: until they are over it does not count.
        self._begin = self._count()
        while (now := self._count())[1] != self._begin[1]:
            self._begin = now
        self._stamps.clear()

    def _take(self, message):
        self._stamps.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)

    def _count(self):
        self._graph.diagnostics.clear()
        row = self._graph.wait(lambda: self._graph.diagnostics.get('ik_node: ticks'), 'the count')
        values = {pair.key: pair.value for pair in row.values}
        return int(values['ticks']), int(values['missed_ticks'])

    def check(self):
        """Assert that they went on: those that are late on a busy machine are not many."""
        ticks, missed = self._graph.wait(
            lambda: count if (count := self._count())[0] >= self._begin[0] + 10 else None,
            'ten ticks',
        )
        ticks -= self._begin[0]
        assert missed - self._begin[1] <= 0.2 * ticks
        self._graph.wait(lambda: len(self._stamps) > 10, 'ten steps')
        steps = [b - a for a, b in itertools.pairwise(self._stamps)]
        assert np.median(steps) < 1.5 / RATE
        assert len(steps) > 0.8 * RATE * sum(steps) - 2.0
        self._graph.client.destroy_subscription(self._heard)


def test_browser_page_and_node_can_end_and_return(graph, urdf, open_browser):
    """
    No browser or page makes the node miss a tick, and the page reports when the node has ended.

    This is one test, because each step starts where the last one ended.
    """
    graph.knows(urdf('hexapod'))
    graph.start_node(*NODE, '-p', f'rate:={RATE}')
    graph.start('view', 'ik_node', 'view', '--ros', '--port', PORT)
    graph.describe(urdf('hexapod'))
    url = graph.wait(lambda: re.search(r'open (\S+) in', graph.log('view')), 'the page')[1]
    browser = open_browser()

    def shows(pattern):
        graph.wait(lambda: re.search(pattern, browser.text()), f'{pattern!r} shown')

    def shows_the_robot():
        shows(r'6 loops closed[\s\S]*hexapod on /ik_node')

    try:
        graph.wait(lambda: graph.joint_states, 'joint states')
        beats, said = Beats(graph), graph.log()
        browser.before_each_page(LISTEN)
        browser.load(url)
        shows_the_robot()
        browser.run('location.reload()')
        shows_the_robot()
        # The page's process goes while the browser looks on; the next one finds it waiting.
        graph.end('view', signal.SIGKILL)
        graph.start('view', 'ik_node', 'view', '--ros', '--port', PORT)
        graph.wait(lambda: browser.run('return window.connections') == 2, 'a new connection')
        shows_the_robot()
        beats.check()
        assert graph.log() == said
        graph.end('node', signal.SIGKILL)
        shows('no joint states from /ik_node: is it running')
        graph.start_node(*NODE, '-p', f'rate:={RATE}')
        shows_the_robot()
        assert 'is it running' not in browser.text()
        beats, said = Beats(graph), graph.log()
        browser.close()
        graph.spin(30)
        beats.check()
        assert graph.log() == said
        assert 'Traceback' not in graph.log('view')
        assert graph.end('view') == 0
        assert graph.end('node') == 0
    finally:
        browser.close()
