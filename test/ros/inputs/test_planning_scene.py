"""Obstacles and allowed pairs from MoveIt's planning scene."""

import sys
from types import ModuleType, SimpleNamespace

from geometry_msgs.msg import Point, Pose
import ik_node as ik
from ik_node.description.sidecars.obstacles import obstacles_from_json
from ik_node.ros.inputs.obstacle_inputs import ObstacleInputs
from ik_node.ros.messages import FrameNames
import numpy as np
import pytest
from shape_msgs.msg import Mesh, Plane, SolidPrimitive
from support.moveit_messages import AllowedCollisionMatrix, CollisionObject, PlanningScene
from support.robot_texts import arm_text

ADD, REMOVE, APPEND, MOVE = b'\x00', b'\x01', b'\x02', b'\x03'
HALF = np.sqrt(0.5)


class FakeNode:
    """What the inputs use of a node."""

    def __init__(self):
        self.topics, self.lines, self.sent = {}, [], []

    def create_subscription(self, kind, topic, callback, depth):
        self.topics[topic] = callback

    def create_publisher(self, *_, **named):
        return SimpleNamespace(get_subscription_count=lambda: 1, publish=self.sent.append)

    def get_logger(self):
        return SimpleNamespace(
            info=self.lines.append, warning=lambda text, **_: self.lines.append(text)
        )


@pytest.fixture
def scene(monkeypatch):
    """Provide an arm whose obstacles come from planning scenes."""
    package, messages = ModuleType('moveit_msgs'), ModuleType('moveit_msgs.msg')
    messages.PlanningScene = PlanningScene
    monkeypatch.setitem(sys.modules, 'moveit_msgs', package)
    monkeypatch.setitem(sys.modules, 'moveit_msgs.msg', messages)
    node, refused, robot = FakeNode(), [], ik.load_robot(arm_text())
    lookup = SimpleNamespace(is_starting=False, pose=_unknown)
    inputs = ObstacleInputs(node, lookup, lambda topic, why: refused.append(why))
    inputs.configure(SimpleNamespace(collisions_obstacles_file=''))
    model = SimpleNamespace(robot=robot, frames=FrameNames(robot))
    inputs.set_robot(model, lambda: robot.q)

    def send(*objects, **fields):
        message = PlanningScene(**fields)
        message.world.collision_objects = list(objects)
        node.topics['~/planning_scene'](message)

    return SimpleNamespace(
        send=send, robot=robot, collisions=robot.collisions, refused=refused, node=node
    )


def _unknown(target, source):
    raise LookupError(f'no frame {source}')


def pose(xyz=(0.0, 0.0, 0.0), quat=(0.0, 0.0, 0.0, 1.0)):
    made = Pose()
    made.position.x, made.position.y, made.position.z = map(float, xyz)
    turn = made.orientation
    turn.x, turn.y, turn.z, turn.w = map(float, quat)
    return made


def thing(name, *shapes, at=None, poses=(), operation=ADD, frame=''):
    """Return a collision object of primitives, meshes and planes."""
    made = CollisionObject(id=name, pose=pose() if at is None else at, operation=operation)
    made.header.frame_id = frame
    kinds = {SolidPrimitive: 'primitives', Mesh: 'meshes', Plane: 'planes'}
    for shape in shapes:
        getattr(made, kinds[type(shape)]).append(shape)
    made.primitive_poses = list(poses)
    return made


def solid(kind, *size):
    return SolidPrimitive(type=kind, dimensions=[float(each) for each in size])


BOX = solid(1, 0.2, 0.4, 0.6)
TETRAHEDRON = Mesh(vertices=[Point(x=x, y=y, z=z) for x, y, z in np.eye(4, 3)])


def test_shapes_stand_where_their_poses_and_frames_say(scene):
    """Poses of shapes are in the object, and that of the object is in its frame."""
    turned = pose((1.0, 0.0, 0.0), (0.0, 0.0, HALF, HALF))
    scene.send(
        thing('box', BOX, at=turned, poses=[pose((0.5, 0.0, 0.0))]),
        thing('hand', solid(2, 0.1), at=pose((0.0, 0.0, 4.0)), frame='l6'),
        thing('two', solid(3, 0.5, 0.1), solid(4, 0.5, 0.1), at=pose(quat=(0, 0, 0, 0))),
        thing('floor', Plane(coef=[0.0, 0.0, 2.0, 4.0])),
        thing('part', TETRAHEDRON, at=pose((3.0, 0.0, 0.0))),
    )
    assert scene.refused == []
    around = scene.collisions
    assert set(around.obstacles) == {'box', 'hand', 'two', 'two/1', 'floor', 'part'}
    assert around.obstacle('box').shape == ik.Box((0.2, 0.4, 0.6))
    np.testing.assert_allclose(around.obstacle('box').matrix[:3, 3], (1.0, 0.5, 0.0), atol=1e-12)
    np.testing.assert_allclose(around.obstacle('box').matrix[:3, 0], (0.0, 1.0, 0.0), atol=1e-12)
    hand = scene.robot.forward(scene.robot.q, 'l6') @ (0.0, 0.0, 4.0, 1.0)
    np.testing.assert_allclose(around.obstacle('hand').matrix[:3, 3], hand[:3], atol=1e-12)
    assert around.obstacle('two').shape == ik.Cylinder(0.1, 0.5)
    cone = np.asarray(around.obstacle('two/1').shape.points)
    assert np.ptp(cone[:, 2]) == pytest.approx(0.5)
    np.testing.assert_allclose(around.obstacle('floor').matrix[:3, 3], (0.0, 0.0, -2.0))
    # All points of the robot are above the floor, so the plane's normal points away from it.
    assert all(each.d > 0.0 for each in around.distances(reach=9.0) if 'floor' in each.pair)


def test_objects_are_replaced_moved_extended_and_removed(scene):
    """Operations and complete scenes do what they do in MoveIt."""
    names = lambda: set(scene.collisions.obstacles)  # noqa: E731
    scene.send(thing('a', BOX, BOX), thing('b', BOX), thing('a/7', BOX))
    assert names() == {'a', 'a/1', 'b', 'a/7'}
    scene.send(thing('a', BOX, operation=APPEND))
    assert names() == {'a', 'a/1', 'a/2', 'b', 'a/7'}
    scene.send(thing('a', at=pose((5.0, 0.0, 0.0)), operation=MOVE))
    assert scene.collisions.obstacle('a/2').matrix[0, 3] == 5.0
    scene.send(thing('a', BOX))
    assert names() == {'a', 'b', 'a/7'}
    scene.send(thing('a', operation=REMOVE), thing('nothing', operation=REMOVE))
    assert names() == {'b', 'a/7'}
    version = scene.collisions.version
    scene.send(thing('b', BOX), thing('c', TETRAHEDRON))
    scene.send(thing('b', BOX), thing('c', TETRAHEDRON))
    assert scene.collisions.version == version + 1  # that of c; equal shapes stay
    scene.send(thing('new', BOX), is_diff=False)
    assert names() == {'new'}
    scene.send(thing('', operation=REMOVE))
    assert names() == set()


def row(*values):
    return SimpleNamespace(enabled=list(values))


def test_allowed_pairs_are_switched_off(scene):
    """
    Entries for two names come before defaults; an empty matrix of a difference keeps them.

    A page that shows the node has the same pairs, and so the same colours.
    """
    scene.send(thing('box', BOX), thing('other', BOX))
    before = scene.collisions.pairs
    assert {('l2', 'l4'), ('l5', 'box'), ('l4', 'box')} <= set(before)
    matrix = AllowedCollisionMatrix(
        entry_names=['l2', 'l4', 'box'],
        entry_values=[row(0, 1, 0), row(1, 0, 0), row(0, 0, 0)],
        default_entry_names=['box'],
        default_entry_values=[True],
    )
    scene.send(allowed_collision_matrix=matrix)
    left = set(scene.collisions.pairs)
    off = {pair for pair in before if 'box' in pair and not {'l2', 'l4'} & set(pair)} | {
        ('l2', 'l4')
    }
    assert set(before) - left == off
    assert scene.collisions.removed['l2', 'l4'] == 'allowed by the planning scene'
    page = ik.load_robot(arm_text()).collisions
    page.surround(*obstacles_from_json(scene.node.sent[-1].data))
    assert page.pairs == scene.collisions.pairs
    scene.send(thing('third', BOX))
    assert ('l2', 'l4') not in scene.collisions.pairs
    scene.send(thing('box', BOX), thing('other', BOX), is_diff=False)
    assert scene.collisions.pairs == before


@pytest.mark.parametrize(
    'bad',
    [
        thing('x', solid(1, 0.1, 0.2)),
        thing('x', solid(1, -0.1, 0.2, 0.3)),
        thing('x', solid(2, np.inf)),
        thing('x', solid(4, np.nan, 0.1)),
        thing('x', solid(99, 0.1)),
        thing('x', BOX, poses=[pose(), pose()]),
        thing('x', BOX, at=pose((np.nan, 0.0, 0.0))),
        thing('x', BOX, frame='nowhere'),
        thing('x', Mesh(vertices=[Point()] * 3)),
        thing('x', Mesh(vertices=[Point(x=np.inf)] * 4)),
        thing('x', Mesh(vertices=[Point()] * 100_001)),
        thing('x', Plane(coef=[0.0, 0.0, 0.0, 1.0])),
        thing('x', Plane(coef=[np.nan, 0.0, 1.0, 1.0])),
        thing('x', operation=MOVE),
        thing('x', BOX, operation=b'\x09'),
        thing('', BOX),
        thing('l3', BOX),
        thing('x', *[BOX] * 501),
        AllowedCollisionMatrix(entry_names=['l2', 'l4'], entry_values=[row(0, 1)]),
        AllowedCollisionMatrix(default_entry_names=['l2']),
    ],
)
def test_hostile_scene_is_refused_as_a_whole(scene, bad):
    """The last good scene stays, with one reason."""
    scene.send(thing('good', BOX))
    if isinstance(bad, AllowedCollisionMatrix):
        scene.send(thing('other', BOX), allowed_collision_matrix=bad)
    else:
        scene.send(thing('other', BOX), bad)
    assert scene.collisions.obstacles == ['good']
    assert len(scene.refused) == 1


def test_parts_that_are_not_regarded_are_logged(scene):
    """Attached objects, octomaps and paddings are named, and the rest of the scene is taken."""
    message = PlanningScene(link_padding=[SimpleNamespace(padding=0.1)])
    message.robot_state.attached_collision_objects.append('thing')
    message.world.collision_objects = [thing('box', BOX)]
    scene.node.topics['~/planning_scene'](message)
    assert 'attached objects, padding' in scene.node.lines[-1]
    assert scene.collisions.obstacles == ['box']


def test_missing_moveit_msgs_is_said_once(monkeypatch):
    """Markers work without MoveIt's messages."""
    monkeypatch.setitem(sys.modules, 'moveit_msgs', None)
    node = FakeNode()
    ObstacleInputs(node, None, None)
    assert [*node.topics] == ['~/obstacles']
    (line,) = node.lines
    assert '~/planning_scene' in line
    assert 'moveit_msgs' in line
