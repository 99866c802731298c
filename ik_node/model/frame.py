"""A frame of the tree: a pose relative to its parent, with matrices computed when needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex
from weakref import WeakValueDictionary

from ik_node.errors import ShapeError, shown, TopologyError
from ik_node.model.revision import Revision
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
        How messages and results call it.

    Attributes
    ----------
    parent : Frame or None
    children : list of Frame
        Change them with `add_child` and `remove_child` only.
    matrix_needs_update, matrix_world_needs_update : bool
        Whether `matrix`, `matrix_world` are computed anew when next read.
    is_link, is_joint, is_goal : bool
        What it is; a goal is a joint, too.
    revision : Revision
        Counts its changes, together with those of the graph that it has been read in.

    """

    is_link = False
    is_joint = False
    is_goal = False

    def __init_subclass__(cls) -> None:
        # By what they can do, for these classes import this one.
        cls.is_goal = hasattr(cls, 'set_goal_dof')

    def __init__(self, name: str = '') -> None:
        self.name = name
        self.parent: Frame | None = None
        self.children: list[Frame] = []
        self.revision = Revision()
        self._position = np.zeros(3)
        self._quaternion = quat_identity()
        self._matrix = _frozen(np.eye(4))
        self._matrix_world = self._matrix
        self.matrix_needs_update = False
        self.matrix_world_needs_update = False

    def __repr__(self) -> str:
        return f'{type(self).__name__}({shown(self.name)})'

    # -- pose relative to the parent

    @property
    def position(self) -> Array:
        """Origin in the parent's frame [m]; written into: call `set_matrix_needs_update`."""
        return self._position

    @position.setter
    def position(self, value: Iterable[float]) -> None:
        self.set_position(*value)

    @property
    def quaternion(self) -> Array:
        """Orientation (xyzw) in the parent's frame; after writing into it, as with `position`."""
        return self._quaternion

    @quaternion.setter
    def quaternion(self, value: Iterable[float]) -> None:
        self.set_quaternion(*value)

    def set_position(self, x: float, y: float, z: float) -> None:
        """Place the origin at (x, y, z) [m] in the parent's frame."""
        self._position[:] = self._finite('position', (x, y, z))
        self.set_matrix_needs_update()

    def set_quaternion(self, x: float, y: float, z: float, w: float) -> None:
        """
        Orient the frame by a quaternion in the parent's frame; it is normalised.

        Raises
        ------
        ShapeError
            If a component is not finite or all are zero.

        """
        self._quaternion[:] = self._unit('quaternion', (x, y, z, w))
        self.set_matrix_needs_update()

    def set_euler(self, x: float, y: float, z: float) -> None:
        """Orient the frame by Rz(z) Ry(y) Rx(x) in the parent's frame, angles in [rad]."""
        self.set_quaternion(*quat_from_euler(*self._finite('euler angles', (x, y, z)).tolist()))

    # -- pose in the root frame

    def set_world_position(self, x: float, y: float, z: float) -> None:
        """Place the origin at (x, y, z) [m] in the root frame."""
        wanted = self._finite('world position', (x, y, z))
        if self.parent is not None:
            parent = self.parent.matrix_world
            wanted = parent[:3, :3].T @ (wanted - parent[:3, 3])
        self.set_position(*wanted)

    def set_world_quaternion(self, x: float, y: float, z: float, w: float) -> None:
        """Orient the frame by a quaternion in the root frame; its local position stays."""
        wanted = self._finite('world quaternion', (x, y, z, w))
        if self.parent is not None:
            wanted = quat_multiply(quat_conjugate(self.parent.get_world_quaternion()), wanted)
        self.set_quaternion(*wanted)

    def set_world_euler(self, x: float, y: float, z: float) -> None:
        """Orient the frame by Rz(z) Ry(y) Rx(x) in the root frame, angles in [rad]."""
        angles = self._finite('world euler angles', (x, y, z))
        self.set_world_quaternion(*quat_from_euler(*angles.tolist()))

    def get_world_position(self) -> Array:
        """Return the origin in the root frame [m], shape (3,)."""
        return self.matrix_world[:3, 3].copy()

    def get_world_quaternion(self) -> Array:
        """Return the orientation (xyzw, w >= 0) in the root frame, shape (4,)."""
        return matrix_to_quat(self.matrix_world)

    # -- matrices

    @property
    def matrix(self) -> Array:
        """Pose in the parent's frame, 4x4, read-only; a later change makes a new array."""
        self.update_matrix()
        return self._matrix

    @property
    def matrix_world(self) -> Array:
        """Pose in the root frame, 4x4, read-only; a later change makes a new array."""
        self.update_matrix_world()
        return self._matrix_world

    def set_matrix_needs_update(self) -> None:
        """Say that `position` or `quaternion` was written into."""
        self.matrix_needs_update = True
        self.set_matrix_world_needs_update()
        self._count_move()

    def set_matrix_world_needs_update(self) -> None:
        """Say that the world pose of this frame and of all below it may have changed."""
        stack = [self]
        while stack:
            frame = stack.pop()
            if not frame.matrix_world_needs_update:  # else everything below is marked already
                frame.matrix_world_needs_update = True
                stack.extend(frame.children)

    def update_matrix(self) -> None:
        """Bring `matrix` up to date; the world pose is left alone."""
        if self.matrix_needs_update:
            self._matrix = _frozen(pose_matrix(self._position, self._quaternion))
            self.matrix_needs_update = False

    def update_matrix_world(self, update_children: bool = False) -> None:
        """
        Bring `matrix_world` up to date, the ancestors' first where needed.

        Parameters
        ----------
        update_children : bool
            Whether everything below is brought up to date as well.

        """
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
        """Compute `matrix_world` from the parent's, whether it needs an update or not."""
        self.update_matrix()
        moved = self._moved_matrix()
        self._matrix_world = (
            moved if self.parent is None else _frozen(self.parent.matrix_world @ moved)
        )
        self.matrix_world_needs_update = False

    def _moved_matrix(self) -> Array:
        """Return the pose in the parent's frame that the children see."""
        return self._matrix

    def _set_world_matrix(self, matrix: Array) -> None:
        """Place the frame so that `matrix_world` equals the 4x4 pose given."""
        local = matrix if self.parent is None else pose_inverse(self.parent.matrix_world) @ matrix
        self.set_position(*local[:3, 3])
        self.set_quaternion(*matrix_to_quat(local))

    # -- the tree

    def add_child(self, child: Frame) -> None:
        """
        Hang a frame under this one; its local pose stays.

        Raises
        ------
        TopologyError
            If it has a parent, or is this frame or an ancestor of it.

        """
        if child is self:
            raise TopologyError(f'{shown(self.name)} cannot be its own child')
        if child.parent is not None:
            raise TopologyError(
                f'{shown(child.name)} cannot become a child of {shown(self.name)}: its parent is '
                f'{shown(child.parent.name)}; remove it there first'
            )
        if any(frame is child for frame in self._ancestors()):
            raise TopologyError(
                f'{shown(child.name)} cannot become a child of {shown(self.name)}: it is '
                f'an ancestor of it'
            )
        child.parent = self
        self.children.append(child)
        child.set_matrix_world_needs_update()
        child._count_graph_edit()
        self._count_graph_edit()

    def remove_child(self, child: Frame) -> None:
        """
        Take a child off; its local pose stays.

        Raises
        ------
        TopologyError
            If it is not a child of this frame.

        """
        if child.parent is not self:
            raise TopologyError(f'{shown(child.name)} is not a child of {shown(self.name)}')
        self.children[:] = [frame for frame in self.children if frame is not child]
        child.parent = None
        child.set_matrix_world_needs_update()
        child._count_graph_edit()
        self._count_graph_edit()

    def attach_child(self, child: Frame) -> None:
        """Hang a frame under this one; its pose in the root frame stays."""
        world = child.matrix_world
        self.add_child(child)
        child._set_world_matrix(world)

    def detach_child(self, child: Frame) -> None:
        """Take a child off; its pose in the root frame stays."""
        world = child.matrix_world
        self.remove_child(child)
        child._set_world_matrix(world)

    def traverse(self, callback: Callable[[Frame], object]) -> None:
        """Call for this frame and all below, breadth first; True prunes what is below that one."""
        queue = deque([self])
        while queue:
            frame = queue.popleft()
            if not callback(frame):
                queue.extend(frame.children)

    def traverse_parents(self, callback: Callable[[Frame], object]) -> None:
        """Call for the parent, its parent and so on up to the root; True ends it."""
        for frame in self._ancestors():
            if frame is not self and callback(frame):
                return

    def find(self, callback: Callable[[Frame], object]) -> Frame | None:
        """Return the first frame, breadth first from this one, for which the callback is true."""
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
        """Return the frames that closures and goals connect with this one."""
        return ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        bundle = _bundle_of(self)
        return _member, (bundle, bundle.place[id(self)])

    def _count_graph_edit(self) -> None:
        """Have solvers read the graph again; called once the change has been made."""
        self.revision.count_graph_edit()

    def _count_move(self) -> None:
        """Have solvers take notice that the frame has been posed anew in its parent."""
        self._count_graph_edit()

    def _forget_matrices(self) -> None:
        """Have all matrices computed anew."""
        self._matrix = self._matrix_world = _frozen(np.eye(4))
        self.matrix_needs_update = self.matrix_world_needs_update = True

    def _finite(self, what: str, values: Iterable[float]) -> Array:
        array = np.array([float(value) for value in values])
        if not np.isfinite(array).all():
            raise ShapeError(
                f'{what} of {shown(self.name)}', 'finite numbers', str(array.tolist())
            )
        return array

    def _unit(self, what: str, quat_xyzw: Iterable[float]) -> Array:
        quat = self._finite(what, quat_xyzw)
        largest = float(np.max(np.abs(quat)))
        if largest < 1e-150:
            raise ShapeError(f'{what} of {shown(self.name)}', 'a length above zero', str(quat))
        norm = float(np.sqrt(quat @ quat)) if largest < 1e150 else np.inf
        if abs(norm - 1.0) > 1e-15:  # a unit quaternion is kept to the last bit
            quat = quat / largest
            quat = quat / np.sqrt(quat @ quat)
        return quat


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def find_roots(frames: Frame | Iterable[Frame]) -> list[Frame]:
    """
    Return the roots of all trees that hang together with the given frames through closures.

    Parameters
    ----------
    frames : Frame or iterable of Frame
        Any frame of a system is enough to find the whole of it.

    Returns
    -------
    list of Frame
        Those of the given frames first, then in the order of discovery.

    """
    waiting = [frames] if isinstance(frames, Frame) else list(frames)
    for frame in waiting:
        if not isinstance(frame, Frame):
            raise TopologyError(f'roots must be frames (Link, Joint, Goal), not {shown(frame)}')
    roots: dict[int, Frame] = {}
    for frame in waiting:  # grows while it is walked
        top = frame
        while top.parent is not None:
            top = top.parent
        if id(top) not in roots:
            roots[id(top)] = top
            top.traverse(lambda found: waiting.extend(found.partners()))
    return list(roots.values())


# -- copies and pickles: all frames that hang together at once

# What a copy works out anew; the copies of read-only matrices would not be read-only.
_MATRICES = ('_matrix', '_matrix_world', '_matrix_dof')


class _Bundle:
    """
    All frames of a graph, as one object for `copy` and `pickle`.

    Both reach an object through those that refer to it, so that a long chain of frames would
    exceed the depth of recursion. Here every frame is made first, then all of them are filled.

    Parameters
    ----------
    frames : sequence of Frame
        All frames that hang together.

    """

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = frames
        self.place = {id(frame): at for at, frame in enumerate(frames)}

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
    """Return the bundle of all that hangs together with a frame; one while any is in use."""
    bundle = _in_use.get(id(frame))
    if bundle is None:
        frames: list[Frame] = []
        for root in find_roots(frame):
            root.traverse(frames.append)
        bundle = _Bundle(frames)
        _in_use.update(dict.fromkeys(bundle.place, bundle))
    return bundle


def _member(bundle: _Bundle, at: int) -> Frame:
    """Return one frame of a bundle."""
    return bundle.frames[at]


def _empty(types: Sequence[type[Frame]]) -> _Bundle:
    return _Bundle([each.__new__(each) for each in types])


# By the id of every frame in it. A copy or pickle that is being made keeps its bundle.
_in_use: WeakValueDictionary[int, _Bundle] = WeakValueDictionary()
