"""Links as their description draws them."""

from ik_node.description.files import description_path
from ik_node.description.mesh_path import Visual
from ik_node.description.visuals import read_visuals
from ik_node.robot import load_robot
from ik_node.scene import Capsule, Cylinder, IKRootsHelper, Solid, Sphere
import numpy as np
import pytest

TURN = (0.0, 0.0, 0.5**0.5, 0.5**0.5)
PLACE = (0.1, 0.2, 0.3)


@pytest.fixture
def robot():
    """Return a six-axis arm."""
    return load_robot(description_path('arm6.urdf'))


def drawn(robot, seen, **how):
    """Return the shapes of visuals."""
    helper = IKRootsHelper(robot, layers='visuals', seen=lambda: seen, **how)
    return helper.shapes(robot.q + 0.1)


def test_all_visuals_of_a_description_are_drawn(robot):
    """Every visual is a shape, moved with its link, in its own colour."""
    path = description_path('arm6.urdf')
    seen = read_visuals(path.read_bytes(), str(path))
    shapes = drawn(robot, seen)
    assert len(shapes) == len(seen) > 5
    for visual, shape in zip(seen, shapes, strict=True):
        pose = robot.forward(robot.q + 0.1, visual.link)
        at = (pose @ [*visual.position, 1.0])[:3]
        np.testing.assert_allclose(shape.position, at, atol=1e-12)
        assert (shape.of, shape.rgba, shape.layer) == (visual.link, visual.rgba, 'visuals')


@pytest.mark.parametrize(
    ('kind', 'size', 'wanted'),
    [
        ('sphere', (0.1,), (Sphere, ('radius', 0.1))),
        ('cylinder', (0.1, 0.5), (Cylinder, ('length', 0.5))),
        ('capsule', (0.1, 0.5), (Capsule, ('length', 0.5))),
        ('box', (1.0, 2.0, 3.0), (Solid, ('size', (1.0, 2.0, 3.0)))),
        ('ellipsoid', (1.0, 2.0, 3.0), (Solid, ('kind', 'ellipsoid'))),
        ('plane', (1.0, 2.0), (Solid, ('size', (1.0, 2.0)))),
        ('mesh', (1.0, 1.0, 1.0), (Solid, ('file', 'f.stl'))),
    ],
)
def test_every_kind_of_visual_is_drawn(robot, kind, size, wanted):
    """What there is a shape for is that, anything else a solid; what says no colour is grey."""
    visual = Visual('tool_link', PLACE, TURN, kind, size, 'f.stl')
    (shape,) = drawn(robot, [visual])
    form, (field, value) = wanted
    assert type(shape) is form
    assert getattr(shape, field) == value
    assert shape.rgba == (0.72, 0.74, 0.78, 1.0)
    assert (not isinstance(shape, Solid)) or shape.own_colours


def test_unread_visuals_and_unknown_links_are_left_out(robot):
    """What is not read, and links that there are not."""
    seen = [Visual.unread('tool_link', 'x'), Visual('nobody', PLACE, TURN, 'sphere', (1.0,))]
    assert list(drawn(robot, seen)) == []
    assert IKRootsHelper(robot, layers='visuals').shapes() == ()


def test_visuals_are_read_once_when_layer_is_drawn(robot):
    """Nobody reads what nobody looks at; it is read once."""
    asked = []
    helper = IKRootsHelper(robot, seen=lambda: asked.append(1) or [])
    helper.shapes()
    assert asked == []
    helper.set_layers('visuals')
    helper.shapes()
    helper.shapes()
    assert asked == [1]
