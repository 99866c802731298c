"""Shapes of a graph of frames at any configuration."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from ik_node.display import public_names
from ik_node.errors import listed, OptionError, ShapeError
from ik_node.model.collisions import Collisions
from ik_node.model.frame import find_roots, Frame
from ik_node.model.given import is_number
from ik_node.model.joint import Joint
from ik_node.model.tree import build_tree
from ik_node.scene.bodies import Bodies, Solids
from ik_node.scene.collision_marks import CollisionMarks
from ik_node.scene.constraint_marks import GoalMarks, LoopClosures, Poses
from ik_node.scene.joint_axes import JointAxes, JointLimits, NameTags
from ik_node.scene.look import checked_layers, coloured, COLOURS, Look, OTHER, PLAIN_LAYERS
from ik_node.scene.shapes import Rgba, Shape
from ik_node.scene.skeleton import Skeleton
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import ArrayLike, NDArray

# Largest length of a joint axis, as shares of the robot's reach and of its median link.
_OF_REACH, _OF_LINK = 0.1, 0.6
# Length of a joint axis of a robot without size [m].
_ALONE = 0.1
# Default thresholds for closed loops, if there is no solver.
_OPTIONS = SolverOptions()


class _Drawing:
    """All shapes of a robot; `scale` is the default length of a joint axis [m]."""

    def __init__(
        self,
        source: RobotLike | Solver | Frame | Iterable[Frame],
        seen: Callable[[], Iterable[Any]] | None = None,
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
        robot = source.source if isinstance(source, Solver) else source
        self._of_robot: Collisions | None = getattr(robot, 'collisions', None)
        self._collisions = CollisionMarks(skeleton, self._of_robot, self._bodies.reach)
        self.scale = _ALONE
        if self._bodies.reach > 0.0:
            link = float(np.median(self._bodies.rod_lengths))
            self.scale = min(_OF_REACH * self._bodies.reach, _OF_LINK * link)

    @property
    def options(self) -> SolverOptions:
        """Return the options of the solver, or the defaults."""
        return _OPTIONS if self._solver is None else self._solver.options

    @property
    def avoids(self) -> bool:
        """Return True if a solver with these options avoids collisions."""
        collisions = self._of_robot
        return collisions is not None and collisions.avoided(self.options.avoid_collisions)

    def layers(
        self, look: Look, q: ArrayLike | None, goals: Poses | None
    ) -> Iterator[tuple[str, list[Shape]]]:
        """Yield the name and the shapes of each chosen layer, see `IKRootsHelper.layer_shapes`."""
        if 'visuals' in look.layers and self._solids is None:
            self._solids = Solids(self._skeleton, () if self._seen is None else self._seen())
        snapshot = self._skeleton.at(None if q is None else self._checked(q))
        options = self.options
        drawn: dict[str, tuple[Any, ...]] = {
            'frames': (self._bodies.frames,),
            'links': (self._bodies.links,),
            'visuals': (self._solids and self._solids.visuals,),
            'axes': (self._axes.axes,),
            'limits': (self._limits.limits,),
            'labels': (self._labels.labels,),
            'closures': (self._closures.closures, options),
            'goals': (self._goals.goals, options, goals),
            'collisions': (self._collisions.shapes, options, q),
        }
        for layer, (draw, *more) in drawn.items():
            if layer in look.layers:
                yield layer, draw(snapshot, look, *more)

    def _checked(self, q: ArrayLike) -> NDArray[np.float64]:
        values = np.asarray(q, dtype=np.float64)
        if values.shape != (len(self.joint_names),):
            raise ShapeError('q', f'shape ({len(self.joint_names)},)', f'shape {values.shape}')
        if not np.isfinite(values).all():
            pairs = zip(self.joint_names, values.tolist(), strict=True)
            bad = ', '.join(name for name, value in pairs if not np.isfinite(value))
            raise ShapeError('q', 'finite numbers', f'NaN or infinity for {bad}')
        return values


# Opacity of hidden shapes for draw_through=True.
THROUGH = 0.1


class IKRootsHelper:
    """
    Shapes of frames, links, axes, limits, closures and goals.

    Its setters return the object itself, so that calls can be chained.

    Parameters
    ----------
    source : Robot, Solver, Frame or iterable of Frame
        The robot; any frame of a graph stands for the whole graph. The thresholds of a solver
        define which loops count as closed.
    layers : str or iterable of str, optional
        As in `set_layers`.
    joint_scale : float, optional
        As in `set_joint_scale`.
    color : str, int or sequence of float, optional
        As in `set_color`.
    draw_through : bool or float
        As in `set_draw_through`.
    resolution : int
        As in `set_resolution`.
    seen : callable, optional
        Returns the visuals of links (`Visual`) for the layer 'visuals'. Called when that layer is
        first drawn.

    Examples
    --------
    >>> import ik_node as ik
    >>> helper = ik.scene.IKRootsHelper(ik.load_robot('arm6'))
    >>> helper.roots, sorted(helper.layers)[:2], helper.joint_names[:2]
    ([Link('base_link', 40 kg)], ['axes', 'closures'], ['j1', 'j2'])
    >>> len(helper.shapes()) > 0
    True
    >>> shapes = helper.set_layers('axes').set_color('#ff0000').set_joint_scale(0.05).shapes()
    >>> shapes[0].rgba[:3]
    (1.0, 0.0, 0.0)

    """

    def __init__(
        self,
        source: RobotLike | Solver | Frame | Iterable[Frame],
        *,
        layers: str | Iterable[str] | None = None,
        joint_scale: float | None = None,
        color: str | int | Sequence[float] | None = None,
        draw_through: bool | float = False,
        resolution: int = 24,
        seen: Callable[[], Iterable[Any]] | None = None,
    ) -> None:
        self._seen = seen
        self._source = list(source) if isinstance(source, Iterator) else source
        self._look = Look()
        self._scale: float | None = None
        self.update_structure()
        self.set_layers(layers)
        self.set_joint_scale(joint_scale)
        self.set_color(color)
        self.set_draw_through(draw_through)
        self.set_resolution(resolution)

    __dir__ = public_names

    def __repr__(self) -> str:
        roots = listed(root.name for root in self.roots)
        return f'IKRootsHelper(roots: {roots}; layers: {listed(sorted(self.layers))})'

    # -- structure

    def update_structure(self) -> None:
        """
        Read the graph again, after joints, links, closures or goals have been added or removed.

        Raises
        ------
        TopologyError
            If the graph is not valid; the previous structure stays in use.

        """
        self._drawing = _Drawing(self._source, self._seen)
        self.set_joint_scale(self._scale)

    def dispose(self) -> None:
        """Release the structure: there are no shapes until `update_structure`."""
        self._drawing = _Drawing(())

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of the graph."""
        return list(self._drawing.roots)

    @property
    def joint_names(self) -> list[str]:
        """Return the name of every value of q."""
        return list(self._drawing.joint_names)

    @property
    def avoids(self) -> bool:
        """Return True if solvers keep the robot's bodies apart."""
        return self._drawing.avoids

    # -- appearance

    @property
    def layers(self) -> frozenset[str]:
        """Return the drawn layers, some of `LAYERS`."""
        return self._look.layers

    def set_layers(self, layers: str | Iterable[str] | None = None) -> IKRootsHelper:
        """
        Set the drawn layers.

        Parameters
        ----------
        layers : str or iterable of str, optional
            Some of frames, links, axes, limits, closures, goals, labels, visuals, collisions, as
            in 'axes limits'; None = the first six, and collisions if solvers avoid them.

        Raises
        ------
        OptionError
            If there is no such layer.

        """
        chosen = Look().layers if layers is None else checked_layers(layers)
        if layers is None and self.avoids:
            chosen |= {'collisions'}
        self._look = replace(self._look, layers=chosen)
        return self

    @property
    def joint_scale(self) -> float:
        """Return the length of a joint axis [m]."""
        return self._look.scale

    def set_joint_scale(self, scale: float | None = None) -> IKRootsHelper:
        """
        Set the size of joints, frames, closures and goals.

        Parameters
        ----------
        scale : float, optional
            Length of a joint axis [m]; None = depends on the robot's size.

        Raises
        ------
        OptionError
            If the scale is not above zero.

        """
        if scale is not None and not (is_number(scale) and 0.0 < scale < inf):
            raise OptionError('joint_scale', scale, 'a length above 0 [m], or None')
        self._scale = scale
        length = self._drawing.scale if scale is None else float(scale)
        self._look = replace(self._look, scale=length)
        return self

    def set_color(
        self,
        color: str | int | Sequence[float] | None = None,
        layers: str | Iterable[str] | None = None,
    ) -> IKRootsHelper:
        """
        Set the colour of some layers.

        Parameters
        ----------
        color : str, int or sequence of float, optional
            '#rrggbb' or '#rrggbbaa', 0xrrggbb, or three or four numbers from 0 to 1. Without an
            opacity, each layer keeps its own. None = the default colours.
        layers : str or iterable of str, optional
            The layers; None = all except closures and goals. Colours with a meaning, such as red
            for open loops, do not change.

        Raises
        ------
        OptionError
            If the colour is not valid, or there is no such layer.

        """
        chosen = frozenset(PLAIN_LAYERS) if layers is None else checked_layers(layers)
        if color is None:
            rgba = {n: COLOURS[n] if n in chosen else old for n, old in self._look.rgba.items()}
        else:
            rgba = coloured(self._look.rgba, color, chosen)
        self._look = replace(self._look, rgba=rgba)
        return self

    def set_draw_through(self, draw_through: bool | float = True) -> IKRootsHelper:
        """
        Set whether hidden shapes are visible through the shapes in front of them.

        Parameters
        ----------
        draw_through : bool or float
            Opacity of hidden shapes, from 0 to 1; True = 0.1.

        Raises
        ------
        OptionError
            If the value is not valid.

        """
        opacity: float = draw_through
        if isinstance(draw_through, bool):
            opacity = THROUGH if draw_through else 0.0
        if not (is_number(opacity) and 0.0 <= opacity <= 1.0):
            raise OptionError('draw_through', draw_through, 'True, False, or an opacity 0 to 1')
        self._look = replace(self._look, draw_through=float(opacity))
        return self

    def set_resolution(self, resolution: int) -> IKRootsHelper:
        """
        Set the number of sides of round shapes.

        Parameters
        ----------
        resolution : int
            3 or more.

        Raises
        ------
        OptionError
            If the number is less than 3 or not an integer.

        """
        if not (is_number(resolution) and resolution >= 3 and resolution % 1 == 0):
            raise OptionError('resolution', resolution, 'a whole number, 3 or more')
        self._look = replace(self._look, segments=int(resolution))
        return self

    # -- shapes

    def shapes(self, q: ArrayLike | None = None, goals: Poses | None = None) -> tuple[Shape, ...]:
        """
        Return all shapes of the chosen layers.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Joint values [rad or m], in the order of `joint_names`; couplings are not applied. None
            = the joints' present values.
        goals : mapping of str to (position, quat_xyzw), optional
            Goal poses as in `Solver.solve_pose`; only these goals are drawn. None = all goals at
            their own poses.

        Returns
        -------
        tuple of Shape
            Their names are unique and stay the same from call to call. Shapes with nothing to
            show, such as the gap of a closed loop, are omitted.

        Raises
        ------
        ShapeError
            If q, or a pose, has the wrong shape or is not finite.
        UnknownFrameError
            If a key of `goals` is neither a goal nor a link.

        """
        return tuple(shape for _, shapes in self.layer_shapes(q, goals) for shape in shapes)

    def ghosts(
        self, configurations: ArrayLike, links: Container[str] | None = None, rgba: Rgba = OTHER
    ) -> list[Shape]:
        """Return links, None = all, at other configurations; `of` is the number of each."""
        look = replace(self._look, layers=frozenset({'links'}))
        return [
            replace(shape, layer='ghosts', name=f'{k} {shape.name}', of=str(k), rgba=rgba)
            for k, q in enumerate(np.asarray(configurations))
            for _, shapes in self._drawing.layers(look, q, None)
            for shape in shapes
            if links is None or shape.of in links
        ]

    def layer_shapes(
        self, q: ArrayLike | None = None, goals: Poses | None = None
    ) -> Iterator[tuple[str, list[Shape]]]:
        """Yield each layer and its `shapes`, so that callers can spread the time."""
        yield from self._drawing.layers(self._look, q, goals)
