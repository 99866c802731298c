"""A robot prepared for drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ik_node.errors import plain, ShapeError
from ik_node.model.frame import find_roots, Frame
from ik_node.model.joint import Joint
from ik_node.model.tree import build_tree
from ik_node.scene.bodies import Bodies, Solids, VisualLike
from ik_node.scene.goal_marks import GoalMarks, Poses
from ik_node.scene.joint_axes import JointAxes, JointLimits
from ik_node.scene.look import Look
from ik_node.scene.loop_closures import LoopClosures
from ik_node.scene.shape_factory import UniqueNames
from ik_node.scene.shapes import Shape, Text
from ik_node.scene.skeleton import Skeleton, Snapshot
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import ArrayLike, NDArray

# Dimensions as shares of the scale.
HEIGHT = 0.3
RAISED = 0.35
LINE = 0.36

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


class NameTags:
    """
    The names of joint values, stacked for joints at the same position.

    Parameters
    ----------
    skeleton : Skeleton

    """

    def __init__(self, skeleton: Skeleton) -> None:
        names = UniqueNames()
        self._tags: list[tuple[str, str, int, int]] = []  # name, value's name, place, line
        lines: list[int] = []
        for at, column in enumerate(skeleton.tree.columns):
            here = column.parent >= 0 and not column.offset[:3, 3].any()
            lines.append(lines[column.parent] + 1 if here else 0)
            of = skeleton.owner[at]
            self._tags.append(
                (names.new(f'labels/{of}'), of, skeleton.attach_before(at), lines[at])
            )

    def labels(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        """Return a text for every joint value."""
        rgba, through, height = look.rgba['labels'], look.draw_through, HEIGHT * look.scale
        shapes: list[Shape] = []
        for name, of, at, line in self._tags:
            (x, y, z), _ = snapshot.poses[at]
            raised = z + (RAISED + LINE * line) * look.scale
            shapes.append(
                Text(name, 'labels', of, (x, y, raised), UPRIGHT, rgba, through, plain(of), height)
            )
        return shapes


# Largest length of a joint axis, as shares of the robot's reach and of its median link.
_OF_REACH, _OF_LINK = 0.1, 0.6
# Length of a joint axis of a robot without size [m].
_ALONE = 0.1
# Default thresholds for closed loops, if there is no solver.
_OPTIONS = SolverOptions()


class Drawing:
    """
    All shapes of a robot.

    Parameters
    ----------
    source : Robot, Solver, Frame or iterable of Frame
    seen : callable, optional
        Returns the visuals of links; called when they are first drawn.

    Attributes
    ----------
    roots : list of Frame
    joint_names : list of str
        Names of the joint values, in the order of q.
    scale : float
        Default length of a joint axis, which depends on the size of the robot [m].

    Raises
    ------
    TopologyError
        If the graph is not valid.

    """

    def __init__(
        self,
        source: RobotLike | Solver | Frame | Iterable[Frame],
        seen: Callable[[], Iterable[VisualLike]] | None = None,
    ) -> None:
        self._seen = seen
        self._solids: Solids | None = None
        self._solver = source if isinstance(source, Solver) else None
        order: list[Joint] = []
        if isinstance(source, Frame):
            frames = [source]
        elif isinstance(source, Solver):
            frames = source.roots
            order = list(dict.fromkeys(joint for joint, _ in source.tree.owner))
        elif isinstance(source, Iterable):
            frames = list(source)
        else:
            frames, order = source.roots, source.joint_order
        self.roots = find_roots(frames)
        skeleton = Skeleton(build_tree(self.roots, order))
        self.joint_names: list[str] = list(skeleton.tree.names)
        self._skeleton = skeleton
        self._bodies = Bodies(skeleton)
        self._axes = JointAxes(skeleton)
        self._limits = JointLimits(skeleton)
        self._closures = LoopClosures(skeleton)
        self._goals = GoalMarks(skeleton)
        self._labels = NameTags(skeleton)
        self.scale = _ALONE
        if self._bodies.reach > 0.0:
            link = float(np.median(self._bodies.rod_lengths))
            self.scale = min(_OF_REACH * self._bodies.reach, _OF_LINK * link)

    def layers(
        self, look: Look, q: ArrayLike | None, goals: Poses | None
    ) -> Iterator[tuple[str, list[Shape]]]:
        """Yield the name and the shapes of each chosen layer, see `IKRootsHelper.layer_shapes`."""
        if 'visuals' in look.layers and self._solids is None:
            self._solids = Solids(self._skeleton, () if self._seen is None else self._seen())
        snapshot = self._skeleton.at(None if q is None else self._checked(q))
        options = _OPTIONS if self._solver is None else self._solver.options
        for layer, draw in (
            ('frames', self._bodies.frames),
            ('links', self._bodies.links),
            ('visuals', self._visuals),
            ('axes', self._axes.axes),
            ('limits', self._limits.limits),
            ('labels', self._labels.labels),
        ):
            if layer in look.layers:
                yield layer, draw(snapshot, look)
        if 'closures' in look.layers:
            yield 'closures', self._closures.closures(snapshot, look, options)
        if 'goals' in look.layers:
            yield 'goals', self._goals.goals(snapshot, look, options, goals)

    def _visuals(self, snapshot: Snapshot, look: Look) -> list[Shape]:
        return [] if self._solids is None else self._solids.visuals(snapshot, look)

    def _checked(self, q: ArrayLike) -> NDArray[np.float64]:
        values = np.asarray(q, dtype=np.float64)
        if values.shape != (len(self.joint_names),):
            raise ShapeError('q', f'shape ({len(self.joint_names)},)', f'shape {values.shape}')
        if not np.isfinite(values).all():
            pairs = zip(self.joint_names, values.tolist(), strict=True)
            bad = ', '.join(name for name, value in pairs if not np.isfinite(value))
            raise ShapeError('q', 'finite numbers', f'NaN or infinity for {bad}')
        return values
