"""The coordinate frames of a tree, whose matrices are computed when they are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex
from weakref import WeakValueDictionary

from ik_node.display import public_names
from ik_node.errors import ShapeError, shown, TopologyError
from ik_node.model.attributes import counted, fixed, FixedList, open_array, Revision
from ik_node.model.given import finite, text
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.rotation import (
    matrix_to_quat,
    pose_inverse,
    pose_matrix,
    quat_conjugate,
    quat_from_euler,
    quat_identity,
    quat_multiply,
)
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Frame:
    """
    A coordinate frame in a tree.

    Parameters
    ----------
    name : str
        Name in messages and results.

    Attributes
    ----------
    matrix_needs_update, matrix_world_needs_update : bool
        True if `matrix` or `matrix_world` will be computed again when it is read next.
    is_link, is_joint, is_goal : bool
        Type of the frame; `is_joint` is also true for goals and closures.
    revision : Revision
        Change counters, shared by all frames of a graph that a solver has read.

    Examples
    --------
    >>> import ik_node as ik
    >>> frame = ik.Frame('camera')
    >>> frame.set_position(0.1, 0.0, 0.2)
    >>> frame.matrix[:3, 3].tolist()
    [0.1, 0.0, 0.2]
    >>> frame.matrix_world.shape, frame.name, frame.parent
    ((4, 4), 'camera', None)

    """

    is_link = False
    is_joint = False
    is_goal = False

    name: str = counted('name', lambda frame: frame._count_graph_edit(), text, 'Name.')
    parent: Frame | None = fixed('parent', 'add_child and remove_child', 'Parent frame, or None.')
    children: list[Frame] = fixed('children', 'add_child and remove_child', 'Child frames.')

    def __init__(self, name: str = '') -> None:
        self.revision = Revision()
        self._name = name
        self._parent: Frame | None = None
        self._children: list[Frame] = FixedList('add_child and remove_child')
        self._position = np.zeros(3)
        self._quaternion = quat_identity()
        self._matrix = _frozen(np.eye(4))
        self._matrix_world = self._matrix
        self.matrix_needs_update = False
        self.matrix_world_needs_update = False
        self._pose_checked = True

    _internal: tuple[str, ...] = (
        *('compute_matrix_world', 'matrix_needs_update', 'matrix_world_needs_update', 'partners'),
        *('revision', 'set_matrix_needs_update', 'set_matrix_world_needs_update', 'update_matrix'),
    )
    __dir__ = public_names

    def __repr__(self) -> str:
        return f'{type(self).__name__}({", ".join([repr(self.name), *self._facts()])})'

    def _facts(self) -> list[str]:
        """Return the parts of the representation that follow the name."""
        return []

    # -- pose relative to the parent

    position: Array = open_array(
        'position',
        lambda frame: frame._pose_written(),
        'The origin, shape (3,) [m], parent frame.',
        lambda frame, value: frame.set_position(*frame._finite('position', value, 3)),
    )
    quaternion: Array = open_array(
        'quaternion',
        lambda frame: frame._pose_written(),
        'The orientation (xyzw), shape (4,), parent frame; it is normalised in `matrix`.',
        lambda frame, value: frame.set_quaternion(*frame._finite('quaternion', value, 4)),
    )

    def _pose_written(self) -> None:
        """Count a write to the elements of `position` or `quaternion`, to be checked when read."""
        self._pose_checked = False
        self.set_matrix_needs_update()

    def set_pose(self, pose: Any) -> None:
        """
        Place the frame, parent frame.

        Parameters
        ----------
        pose : (position, quat_xyzw), or another form
            Position (3,) [m] and orientation (4,), (position, scipy Rotation), a matrix (4, 4), or
            a scipy RigidTransform.

        Raises
        ------
        ShapeError
            If the pose has none of these forms, or as `set_position` and `set_quaternion`.

        Examples
        --------
        >>> import ik_node as ik
        >>> frame = ik.Frame('camera')
        >>> frame.set_pose(((0.1, 0.0, 0.2), (0, 0, 0, 1)))
        >>> frame.position.tolist()
        [0.1, 0.0, 0.2]

        """
        position, quat_xyzw = position_and_quat(f'pose of {self.name!r}', pose)
        position = self._finite('position', position, 3)
        self.set_quaternion(*quat_xyzw)
        self.set_position(*position)

    def set_position(self, x: float, y: float, z: float) -> None:
        """
        Place the origin at (x, y, z) [m], parent frame.

        Examples
        --------
        >>> import ik_node as ik
        >>> frame = ik.Frame('camera')
        >>> frame.set_position(0.1, 0.0, 0.2)
        >>> frame.position.tolist()
        [0.1, 0.0, 0.2]

        """
        self._position[:] = self._finite('position', (x, y, z), 3)
        self.set_matrix_needs_update()

    def set_quaternion(self, x: float, y: float, z: float, w: float) -> None:
        """
        Orient the frame by a quaternion, parent frame; it is normalised.

        Raises
        ------
        ShapeError
            If a component is not finite or all components are zero.

        Examples
        --------
        >>> import ik_node as ik
        >>> frame = ik.Frame('camera')
        >>> frame.set_quaternion(0, 0, 1, 1)  # a quarter turn about z
        >>> frame.quaternion.round(4).tolist()
        [0.0, 0.0, 0.7071, 0.7071]

        """
        self._quaternion[:] = self._unit('quaternion', (x, y, z, w))
        self.set_matrix_needs_update()

    def set_euler(self, x: float, y: float, z: float) -> None:
        """
        Orient the frame by Rz(z) Ry(y) Rx(x) [rad], parent frame.

        Examples
        --------
        >>> import ik_node as ik
        >>> frame = ik.Frame('camera')
        >>> frame.set_euler(0.0, 0.0, 0.5)
        >>> frame.quaternion.round(4).tolist()
        [0.0, 0.0, 0.2474, 0.9689]

        """
        self.set_quaternion(*quat_from_euler(*self._finite('euler angles', (x, y, z), 3).tolist()))

    # -- pose in the root frame

    def set_world_position(self, x: float, y: float, z: float) -> None:
        """
        Place the origin at (x, y, z) [m], root frame.

        Examples
        --------
        >>> import ik_node as ik
        >>> tool = ik.load_robot('arm6').links['tool_link']
        >>> tool.set_world_position(0.5, 0.0, 0.5)
        >>> tool.get_world_position().round(6).tolist()
        [0.5, 0.0, 0.5]

        """
        target = self._finite('world position', (x, y, z), 3)
        if self.parent is not None:
            parent = self.parent.matrix_world
            target = parent[:3, :3].T @ (target - parent[:3, 3])
        self.set_position(*target)

    def set_world_quaternion(self, x: float, y: float, z: float, w: float) -> None:
        """
        Orient the frame by a quaternion, root frame; its local position is unchanged.

        Examples
        --------
        >>> import ik_node as ik
        >>> tool = ik.load_robot('arm6').links['tool_link']
        >>> tool.set_world_quaternion(1, 1, 1, 1)  # it is normalised
        >>> tool.get_world_quaternion().round(4).tolist()
        [0.5, 0.5, 0.5, 0.5]

        """
        target = self._finite('world quaternion', (x, y, z, w), 4)
        if self.parent is not None:
            target = quat_multiply(quat_conjugate(self.parent.get_world_quaternion()), target)
        self.set_quaternion(*target)

    def set_world_euler(self, x: float, y: float, z: float) -> None:
        """
        Orient the frame by Rz(z) Ry(y) Rx(x) [rad], root frame.

        Examples
        --------
        >>> import ik_node as ik
        >>> tool = ik.load_robot('arm6').links['tool_link']
        >>> tool.set_world_euler(0.1, 0.2, 0.3)
        >>> tool.get_world_quaternion().round(4).tolist()
        [0.0343, 0.106, 0.1436, 0.9833]

        """
        angles = self._finite('world euler angles', (x, y, z), 3)
        self.set_world_quaternion(*quat_from_euler(*angles.tolist()))

    def get_world_position(self) -> Array:
        """Return the origin, shape (3,) [m], root frame."""
        return self.matrix_world[:3, 3].copy()

    def get_world_quaternion(self) -> Array:
        """Return the orientation (xyzw, w >= 0), shape (4,), root frame."""
        return matrix_to_quat(self.matrix_world)

    # -- matrices

    @property
    def matrix(self) -> Array:
        """Return the pose, shape (4, 4), parent frame; read-only, changes make a new array."""
        self.update_matrix()
        return self._matrix

    @property
    def matrix_world(self) -> Array:
        """
        Return the pose, shape (4, 4), root frame; read-only, changes make a new array.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('hexapod')
        >>> robot.links['platform_link'].matrix_world[:3, 3].round(3).tolist()
        [0.0, 0.0, 0.088]

        """
        self.update_matrix_world()
        return self._matrix_world

    def set_matrix_needs_update(self) -> None:
        """Mark the matrices as out of date."""
        self.matrix_needs_update = True
        self.set_matrix_world_needs_update()
        self._count_move()

    def set_matrix_world_needs_update(self) -> None:
        """Mark `matrix_world` of this frame and of all frames below it as out of date."""
        stack = [self]
        while stack:
            frame = stack.pop()
            if not frame.matrix_world_needs_update:  # otherwise all frames below are marked
                frame.matrix_world_needs_update = True
                stack.extend(frame.children)

    def update_matrix(self) -> None:
        """Update `matrix` if it is out of date; `matrix_world` is not updated."""
        if self.revision.lent:
            self.revision.look()
        if self.matrix_needs_update:
            position, quat_xyzw = self._position, self._quaternion
            if not self._pose_checked:
                position = self._finite('position', position, 3)
                quat_xyzw = self._unit('quaternion', quat_xyzw)
            self._matrix = _frozen(pose_matrix(position, quat_xyzw))
            self.matrix_needs_update = False

    def update_matrix_world(self, update_children: bool = False) -> None:
        """
        Update `matrix_world`, and that of the ancestors, where they are out of date.

        Parameters
        ----------
        update_children : bool
            True: all frames below are updated as well.

        Examples
        --------
        >>> import ik_node as ik
        >>> mast, camera = ik.Frame('mast'), ik.Frame('camera')
        >>> mast.add_child(camera)
        >>> mast.update_matrix_world(update_children=True)
        >>> camera.matrix_world_needs_update
        False

        """
        if self.revision.lent:
            self.revision.look()
        stale = []
        frame: Frame | None = self
        while frame is not None and frame.matrix_world_needs_update:
            stale.append(frame)
            frame = frame.parent
        for frame in reversed(stale):
            frame.compute_matrix_world()
        if update_children:
            for frame in list(self._walk()):
                if frame.matrix_world_needs_update:
                    frame.compute_matrix_world()

    def compute_matrix_world(self) -> None:
        """Compute `matrix_world` from the parent's, even if it is up to date."""
        self.update_matrix()
        moved = self._moved_matrix()
        self._matrix_world = (
            moved if self.parent is None else _frozen(self.parent.matrix_world @ moved)
        )
        self.matrix_world_needs_update = False

    def _moved_matrix(self) -> Array:
        """Return the pose, parent frame, that the children are relative to."""
        return self._matrix

    def _set_world_matrix(self, matrix: Array) -> None:
        """Place the frame so that `matrix_world` equals the given (4, 4) pose."""
        local = matrix if self.parent is None else pose_inverse(self.parent.matrix_world) @ matrix
        self.set_position(*local[:3, 3])
        self.set_quaternion(*matrix_to_quat(local))

    # -- the tree

    def add_child(self, child: Frame) -> None:
        """
        Make a frame a child of this one; its local pose is unchanged.

        Raises
        ------
        TopologyError
            If the frame has a parent, is this frame, or is an ancestor of this frame.

        Examples
        --------
        >>> import ik_node as ik
        >>> mast, camera = ik.Frame('mast'), ik.Frame('camera')
        >>> mast.add_child(camera)
        >>> camera.parent
        Frame('mast')

        """
        if frame_of(child) is self:
            raise TopologyError(f'{self.name!r} cannot be its own child')
        if child.parent is not None:
            raise TopologyError(
                f'{child.name!r} cannot become a child of {self.name!r}: its parent is '
                f'{child.parent.name!r}; remove it there first'
            )
        if any(frame is child for frame in self._ancestors()):
            raise TopologyError(
                f'{child.name!r} cannot become a child of {self.name!r}: it is an ancestor of it'
            )
        child._parent = self
        list.append(self._children, child)
        child.set_matrix_world_needs_update()
        child._count_graph_edit()
        self._count_graph_edit()

    def remove_child(self, child: Frame) -> None:
        """
        Remove a child; its local pose is unchanged.

        Raises
        ------
        TopologyError
            If the frame is not a child of this frame.

        Examples
        --------
        >>> import ik_node as ik
        >>> mast, camera = ik.Frame('mast'), ik.Frame('camera')
        >>> mast.add_child(camera)
        >>> mast.remove_child(camera)
        >>> mast.children
        []

        """
        if frame_of(child).parent is not self:
            raise TopologyError(f'{child.name!r} is not a child of {self.name!r}')
        list.remove(self._children, child)
        child._parent = None
        child.set_matrix_world_needs_update()
        child._count_graph_edit()
        self._count_graph_edit()

    def attach_child(self, child: Frame) -> None:
        """
        Make a frame a child of this one; its pose in the root frame is unchanged.

        Examples
        --------
        >>> import ik_node as ik
        >>> mast, camera = ik.Frame('mast'), ik.Frame('camera')
        >>> mast.set_position(0.0, 0.0, 1.0)
        >>> mast.attach_child(camera)
        >>> camera.position.tolist()
        [0.0, 0.0, -1.0]

        """
        world = frame_of(child).matrix_world
        self.add_child(child)
        child._set_world_matrix(world)

    def detach_child(self, child: Frame) -> None:
        """
        Remove a child; its pose in the root frame is unchanged.

        Examples
        --------
        >>> import ik_node as ik
        >>> mast, camera = ik.Frame('mast'), ik.Frame('camera')
        >>> mast.set_position(0.0, 0.0, 1.0)
        >>> mast.add_child(camera)
        >>> mast.detach_child(camera)
        >>> camera.position.tolist()
        [0.0, 0.0, 1.0]

        """
        world = frame_of(child).matrix_world
        self.remove_child(child)
        child._set_world_matrix(world)

    def traverse(self, callback: Callable[[Frame], object]) -> None:
        """
        Call a function for this frame and all frames below it, breadth first.

        If the function returns True, the frames below the one it was called for are left out.

        Examples
        --------
        >>> import ik_node as ik
        >>> names = []
        >>> ik.load_robot('gripper').root.traverse(lambda frame: names.append(frame.name))
        >>> names[:3]
        ['base_link', 'left_crank', 'left_rocker']

        """
        queue = deque([self])
        while queue:
            frame = queue.popleft()
            if not callback(frame):
                queue.extend(frame.children)

    def traverse_parents(self, callback: Callable[[Frame], object]) -> None:
        """
        Call a function for each ancestor, parent first, until it returns True.

        Examples
        --------
        >>> import ik_node as ik
        >>> names = []
        >>> link = ik.load_robot('arm6').links['j2_link']
        >>> link.traverse_parents(lambda frame: names.append(frame.name))
        >>> names
        ['j2', 'j1_link', 'j1', 'base_link']

        """
        for frame in self._ancestors():
            if frame is not self and callback(frame):
                return

    def find(self, callback: Callable[[Frame], object]) -> Frame | None:
        """
        Return the first frame, breadth first from this one, for which the callback is true.

        Examples
        --------
        >>> import ik_node as ik
        >>> root = ik.load_robot('arm6').root
        >>> root.find(lambda frame: frame.name == 'tool_link').parent.name
        'tool'

        """
        return next((frame for frame in self._walk() if callback(frame)), None)

    def _walk(self) -> Iterator[Frame]:
        queue = deque([self])
        while queue:
            frame = queue.popleft()
            yield frame
            queue.extend(frame.children)

    def _ancestors(self) -> Iterator[Frame]:
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def partners(self) -> Iterable[Frame]:
        """Return the frames that closures and goals connect to this one."""
        return ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        bundle = _bundle_of(self)
        return _member, (bundle, bundle.place[id(self)])

    def _count_graph_edit(self) -> None:
        """Count a change of the graph, after it has been made, so that solvers read it again."""
        self.revision.count_graph_edit()

    def _count_move(self) -> None:
        """Count a change of this frame's pose in its parent, so that solvers notice it."""
        self._count_graph_edit()

    def _forget_matrices(self) -> None:
        """Mark all matrices as out of date."""
        self._matrix = self._matrix_world = _frozen(np.eye(4))
        self.matrix_needs_update = self.matrix_world_needs_update = True

    def _finite(self, what: str, values: Any, count: int) -> Array:
        return finite(f'{what} of {self._name!r}', values, count)

    def _unit(self, what: str, quat_xyzw: Any) -> Array:
        quat = self._finite(what, quat_xyzw, 4)
        largest = float(np.max(np.abs(quat)))
        if largest < 1e-150:
            raise ShapeError(f'{what} of {self.name!r}', 'a length above zero', str(quat))
        norm = float(np.sqrt(quat @ quat)) if largest < 1e150 else np.inf
        if abs(norm - 1.0) > 1e-15:  # a unit quaternion stays unchanged to the last bit
            quat = quat / largest
            quat = quat / np.sqrt(quat @ quat)
        return quat


def frame_of(value: object) -> Frame:
    """Return an argument that is a frame; raise TopologyError if it is something else."""
    if not isinstance(value, Frame):
        raise TopologyError(f'{shown(value)} is not a frame (Link, Joint, Goal)')
    return value


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def matrix_of(what: str, pose: Any) -> Array:
    """Return a pose of any form that `Frame.set_pose` takes as a matrix (4, 4); None = none."""
    frame = Frame(what)
    if pose is not None:
        frame.set_pose(pose)
    return frame.matrix


def find_roots(frames: Frame | Iterable[Frame]) -> list[Frame]:
    """
    Return the roots of all trees that closures and goals connect to the given frames.

    Parameters
    ----------
    frames : Frame or iterable of Frame
        One frame of a connected system is enough to find all of it.

    Returns
    -------
    list of Frame
        The roots of the given frames first, then the others in order of discovery.

    Raises
    ------
    TopologyError
        If an element of `frames` is not a Frame.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> [root.name for root in ik.find_roots(robot.links['tool_link'])]
    ['base_link']

    """
    given = frames if isinstance(frames, Iterable) else [frames]
    waiting = [frame_of(frame) for frame in given]
    roots: dict[int, Frame] = {}
    for frame in waiting:  # the list grows during the loop
        *_, top = frame._ancestors()
        if id(top) not in roots:
            roots[id(top)] = top
            top.traverse(lambda each: waiting.extend(each.partners()))
    return list(roots.values())


# -- copies and pickles: all connected frames at once

# A copy computes these again, because copies of read-only arrays would be writable.
_MATRICES = ('_matrix', '_matrix_world', '_matrix_dof')


class _Bundle:
    """
    All frames of a graph as one object for `copy` and `pickle`.

    Both follow references recursively, so that a long chain of frames would exceed the recursion
    limit. The bundle first creates every frame and then sets the attributes of all of them.
    """

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = frames
        self.place = {id(frame): index for index, frame in enumerate(frames)}

    def __reduce__(self) -> tuple[Any, ...]:
        states = [
            {name: value for name, value in vars(frame).items() if name not in _MATRICES}
            for frame in self.frames
        ]
        return _empty, ([type(frame) for frame in self.frames],), states

    def __setstate__(self, states: Sequence[dict[str, Any]]) -> None:
        for frame, state in zip(self.frames, states, strict=True):
            vars(frame).update(state)
            frame._forget_matrices()


def _bundle_of(frame: Frame) -> _Bundle:
    """Return the bundle of the graph that a frame belongs to; reuse one that is in use."""
    bundle = _in_use.get(id(frame))
    if bundle is None:
        frames: list[Frame] = []
        for root in find_roots(frame):
            root.traverse(frames.append)
        bundle = _Bundle(frames)
        _in_use.update(dict.fromkeys(bundle.place, bundle))
    return bundle


def _member(bundle: _Bundle, index: int) -> Frame:
    """Return one frame of a bundle."""
    return bundle.frames[index]


def _empty(types: Sequence[type[Frame]]) -> _Bundle:
    return _Bundle([each.__new__(each) for each in types])


# Id of each frame -> its bundle, which lives as long as a copy or pickle is in progress.
_in_use: WeakValueDictionary[int, _Bundle] = WeakValueDictionary()
