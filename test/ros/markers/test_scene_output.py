"""When the scene is drawn, and of which configuration."""

from types import SimpleNamespace as Data

from ik_node.ros.markers import scene_output
from ik_node.ros.markers.scene_output import SceneOutput
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest

POSE = ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0))


class Scene:
    """An output whose clock and whose markers are the test's."""

    def __init__(self, monkeypatch):
        self.now, self.drawn, self.held, self.closed = 100.0, [], [], 0
        # Layers of a sight, how many are left, how long each takes, and what has been sent.
        self.layers, self.left, self.work, self.sent = 1, 0, 0.0, []
        monkeypatch.setattr(scene_output, 'perf_counter', lambda: self.now)
        monkeypatch.setattr(scene_output, 'MarkerOutput', lambda node: self)
        monkeypatch.setattr(scene_output, 'GoalMarkers', lambda node, take_goal: self)
        self.output = SceneOutput(None, None)
        self.model, self.values, self.asked = Data(), {'markers.rate': 10.0}, {}

    @property
    def is_drawing(self):
        return self.left > 0

    def begin(self, model, q, goals, settings, stamp):
        self.drawn.append((q[0], goals))
        self.left = self.layers

    def draw(self):
        self.left -= 1
        self.now += self.work
        self.sent.append(self.drawn[-1][0])

    def update(self, model, q, goals):
        self.held.append(goals)

    def close(self):
        self.closed += 1

    def ticks(self, count, period, q=0.0):
        before = len(self.drawn)
        settings = Settings.from_values(self.values).markers
        published = None if q is None else np.array([q])
        for _ in range(count):
            self.now += period
            self.output.tick(
                self.model, published, lambda: self.asked, settings, None, self.now + 0.5 * period
            )
        return len(self.drawn) - before


@pytest.fixture
def scene(monkeypatch):
    return Scene(monkeypatch)


def test_late_layers_are_drawn_by_the_next_ticks(scene):
    scene.layers, scene.work = 5, 0.003
    scene.ticks(1, 0.01, 1.0)
    assert scene.sent == [1.0, 1.0]
    scene.ticks(1, 0.01, 2.0)
    scene.ticks(1, 0.004, 3.0)
    assert (scene.sent, len(scene.drawn)) == ([1.0] * 5, 1)
    scene.ticks(1, 0.1, 4.0)
    assert scene.sent == [1.0] * 5 + [4.0] * 5
    scene.work = 1.0
    assert scene.ticks(5, 0.01, 5.0) == 1
    assert scene.sent[10:] == [5.0] * 5


def test_last_published_configuration_is_drawn(scene):
    assert scene.ticks(20, 0.05, None) == 0
    scene.ticks(1, 0.05, 3.0)
    scene.ticks(10, 0.05, None)
    assert {q for q, _ in scene.drawn} == {3.0}
    scene.model = Data()
    assert scene.ticks(10, 0.05, None) == 0


def test_a_new_model_is_drawn_at_once(scene):
    scene.values['markers.rate'] = 0.1
    scene.ticks(1, 0.01)
    scene.model = Data()
    assert scene.ticks(1, 0.01) == 1


def test_goals_without_a_pose_are_not_drawn(scene):
    """They can be dragged if `interactive` is set; otherwise their markers are closed."""
    scene.asked = {'hand': POSE, 'foot': None}
    scene.ticks(1, 0.01)
    assert scene.drawn[-1][1] == {'hand': POSE}
    assert (scene.held, scene.closed) == ([], 1)
    scene.values['markers.interactive'] = True
    scene.ticks(20, 0.05)
    assert scene.held[-1] == scene.asked
    assert scene.closed == 1
    scene.output.close()
    assert scene.closed == 2
