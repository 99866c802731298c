"""The balls of a load: where its arrow is, and where they are dragged."""

import asyncio
from types import SimpleNamespace

from ik_node.viewer.panels.load_panel import LoadArrow
from ik_node.viewer.stage.load_handle import LoadHandle, SHAFT
import numpy as np
import pytest

ARROW = LoadArrow('tool', np.zeros(3), np.array((0.0, 0.0, 1.0)), '1 N')


@pytest.fixture
def handle(scene):
    """Return the handle of a load that remembers what was dragged."""
    told = []
    handle = LoadHandle(scene, lambda *what: told.append(what))
    handle.told = told
    return handle


def pulled(node, phase, start, end, eye=(0.0, -9.0, 0.0)):
    """Tell of a drag of a ball as the server does."""
    client = SimpleNamespace(camera=SimpleNamespace(position=np.array(eye)))
    event = SimpleNamespace(phase=phase, target=node, client_id=1, client=client)
    event.start_position, event.end_position = start, end
    for work in node.drags:
        asyncio.run(work(event))


def test_balls_are_on_the_arrow(scene, handle):
    """They come, follow and go with the load."""
    handle.draw(ARROW, 0.2, None)
    tip, shaft = scene.nodes['/load_handles/force'], scene.nodes['/load_handles/point']
    assert tip.position == (0.0, 0.0, 1.0)
    assert shaft.position == (0.0, 0.0, SHAFT)
    handle.draw(ARROW._replace(end=np.array((0.5, 0.0, 0.0))), 0.2, None)
    assert tip.position == (0.5, 0.0, 0.0)
    assert scene.made == 2
    handle.draw(None, 0.2, None)
    assert not scene.nodes


@pytest.mark.parametrize(('part', 'end'), [('force', (0.0, 0.0, 1.0)), ('point', (0.0, 0.0, 0.0))])
def test_end_of_the_arrow_follows_the_pointer(scene, handle, part, end):
    """As far as the pointer moves, wherever on the ball it began."""
    handle.draw(ARROW, 0.2, None)
    ball = scene.nodes[f'/load_handles/{part}']
    pulled(ball, 'start', (0.01, 0.0, 0.5), None)
    pulled(ball, 'update', None, (0.31, 0.0, 0.4))
    ((told, place),) = handle.told
    assert told == part
    np.testing.assert_allclose(place, np.add(end, (0.3, 0.0, -0.1)))


def test_load_of_a_planar_link_stays_in_its_plane(scene, handle):
    """Seen from an angle, the pointer's ray meets the plane of the link."""
    handle.draw(ARROW, 0.2, np.eye(3)[:, :2])
    ball = scene.nodes['/load_handles/force']
    pulled(ball, 'start', (0.0, 0.0, 1.0), None, (0.0, -4.0, 5.0))
    pulled(ball, 'update', None, (0.2, 0.0, 1.0), (0.0, -4.0, 5.0))
    ((_, place),) = handle.told
    np.testing.assert_allclose(place, (0.2, 0.0, 1.0), atol=1e-12)
