"""Browser, page and node end and come back, each in a process of its own."""

import re
import signal

import pytest
from support.ports import own_port

pytest.importorskip('rclpy')
pytest.importorskip('viser')

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


def test_browser_page_and_node_can_end_and_return(graph, urdf, open_browser):
    """
    No browser or page makes the node say a word, and the page reports when the node has ended.

    This is one test, because each step starts where the last one ended.
    """
    graph.knows(urdf('hexapod'))
    graph.start_node(*NODE)
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
        said = graph.log()
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
        assert graph.log() == said
        graph.end('node', signal.SIGKILL)
        shows('no joint states from /ik_node: is it running')
        graph.start_node(*NODE)
        shows_the_robot()
        assert 'is it running' not in browser.text()
        said = graph.log()
        browser.close()
        graph.spin(30)
        assert graph.log() == said
        assert 'Traceback' not in graph.log('view')
        assert graph.end('view') == 0
        assert graph.end('node') == 0
    finally:
        browser.close()
