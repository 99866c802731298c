"""What to draw of a graph of frames, at any configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

from ik_node.errors import OptionError
from ik_node.model.frame import Frame
from ik_node.scene.bodies import VisualLike
from ik_node.scene.drawing import Drawing
from ik_node.scene.goal_marks import Poses
from ik_node.scene.look import checked_layers, coloured, COLOURS, is_number, Look, PLAIN_LAYERS
from ik_node.scene.shapes import Shape
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.solver import Solver
from numpy.typing import ArrayLike

# Opacity of what is hidden, where only "yes" is said.
THROUGH = 0.1


class IKRootsHelper:
    """
    Shapes of frames, links, axes, limits, closures and goals.

    Parameters
    ----------
    source : Robot, Solver, Frame or iterable of Frame
        Any frame of a system is enough to find the whole of it. A solver's options say what
        counts as closed.
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
        Returns what links look like, for the layer 'visuals': `Visual` of the description or
        alike. Called when that layer is first drawn.

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
        seen: Callable[[], Iterable[VisualLike]] | None = None,
    ) -> None:
        self._seen = seen
        self._source = list(source) if isinstance(source, Iterator) else source
        self._look = Look()
        self._drawing: Drawing | None = None
        self._scale: float | None = None
        self.update_structure()
        self.set_layers(layers)
        self.set_joint_scale(joint_scale)
        self.set_color(color)
        self.set_draw_through(draw_through)
        self.set_resolution(resolution)

    # -- what there is

    def update_structure(self) -> None:
        """
        Read the graph anew: new joints appear, removed ones are forgotten.

        Raises
        ------
        TopologyError
            If it is not a graph that can be placed; what was read before stays.

        """
        self._drawing = Drawing(self._source, self._seen)
        self.set_joint_scale(self._scale)

    def dispose(self) -> None:
        """Let go of what was read: no shapes until `update_structure`; may be called again."""
        self._drawing = None

    @property
    def roots(self) -> list[Frame]:
        """Return the roots that were found."""
        return [] if self._drawing is None else list(self._drawing.roots)

    @property
    def joint_names(self) -> list[str]:
        """Name of every value of q."""
        return [] if self._drawing is None else list(self._drawing.joint_names)

    # -- how it looks

    @property
    def layers(self) -> frozenset[str]:
        """Return what is drawn, of `LAYERS`."""
        return self._look.layers

    def set_layers(self, layers: str | Iterable[str] | None = None) -> None:
        """
        Choose what is drawn.

        Parameters
        ----------
        layers : str or iterable of str, optional
            Some of frames, links, axes, limits, closures, goals, labels, visuals, as in
            'axes limits'; None = all but labels and visuals.

        Raises
        ------
        OptionError
            If there is no such layer.

        """
        chosen = Look().layers if layers is None else checked_layers(layers)
        self._look = replace(self._look, layers=chosen)

    @property
    def joint_scale(self) -> float:
        """Return the length of a joint's axis [m]."""
        return self._look.scale

    def set_joint_scale(self, scale: float | None = None) -> None:
        """
        Choose how large joints, frames, closures and goals are drawn.

        Parameters
        ----------
        scale : float, optional
            Length of a joint's axis [m]; None = by the robot's size.

        Raises
        ------
        OptionError
            If it is not above zero.

        """
        if scale is not None and not (is_number(scale) and 0.0 < scale < inf):
            raise OptionError('joint_scale', scale, 'a length above 0 [m], or None')
        self._scale = scale
        if scale is not None:
            self._look = replace(self._look, scale=float(scale))
        elif self._drawing is not None:
            self._look = replace(self._look, scale=self._drawing.scale)

    def set_color(
        self,
        color: str | int | Sequence[float] | None = None,
        layers: str | Iterable[str] | None = None,
    ) -> None:
        """
        Choose a colour.

        Parameters
        ----------
        color : str, int or sequence of float, optional
            '#rrggbb' or '#rrggbbaa', 0xrrggbb, or three or four numbers from 0 to 1. Without
            opacity each layer keeps its own. None = the colours it had at first.
        layers : str or iterable of str, optional
            What for; None = all but closures and goals. Open loops stay red, and so on.

        Raises
        ------
        OptionError
            If it is no colour, or there is no such layer.

        """
        chosen = frozenset(PLAIN_LAYERS) if layers is None else checked_layers(layers)
        if color is None:
            rgba = {n: COLOURS[n] if n in chosen else old for n, old in self._look.rgba.items()}
        else:
            rgba = coloured(self._look.rgba, color, chosen)
        self._look = replace(self._look, rgba=rgba)

    def set_draw_through(self, draw_through: bool | float = True) -> None:
        """
        Choose whether shapes are seen through what hides them.

        Parameters
        ----------
        draw_through : bool or float
            Opacity of what is hidden, from 0 to 1; True = 0.1.

        Raises
        ------
        OptionError
            If it is none of these.

        """
        opacity: float = draw_through
        if isinstance(draw_through, bool):
            opacity = THROUGH if draw_through else 0.0
        if not (is_number(opacity) and 0.0 <= opacity <= 1.0):
            raise OptionError('draw_through', draw_through, 'True, False, or an opacity 0 to 1')
        self._look = replace(self._look, draw_through=float(opacity))

    def set_resolution(self, resolution: int) -> None:
        """
        Choose how many sides round shapes have.

        Parameters
        ----------
        resolution : int
            3 or more.

        Raises
        ------
        OptionError
            If it is less, or not a whole number.

        """
        if not (is_number(resolution) and resolution >= 3 and resolution % 1 == 0):
            raise OptionError('resolution', resolution, 'a whole number, 3 or more')
        self._look = replace(self._look, segments=int(resolution))

    # -- shapes

    def shapes(self, q: ArrayLike | None = None, goals: Poses | None = None) -> tuple[Shape, ...]:
        """
        Return everything that is to be drawn.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            [rad or m], in the order of `joint_names`, taken as they are; None = the joints'
            present values.
        goals : mapping of str to (position, quat_xyzw), optional
            As in `Solver.solve_pose`: only these are drawn. None = all goals where they are.

        Returns
        -------
        tuple of Shape
            Their names are all different. A shape keeps its name from call to call; one that has
            nothing to show, as the gap of a closed loop, is not among them.

        Raises
        ------
        ShapeError
            If q, or a pose, has the wrong shape or is not finite.
        UnknownFrameError
            If a key of `goals` is neither a goal nor a link.

        """
        return tuple(shape for _, shapes in self.layer_shapes(q, goals) for shape in shapes)

    def layer_shapes(
        self, q: ArrayLike | None = None, goals: Poses | None = None
    ) -> Iterator[tuple[str, list[Shape]]]:
        """
        Yield what `shapes` returns, a layer at a time, for who has no time for all at once.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            As in `shapes`; for all layers, whenever they are drawn.
        goals : mapping of str to (position, quat_xyzw), optional
            As in `shapes`.

        Yields
        ------
        layer : str
        shapes : list of Shape

        Raises
        ------
        ShapeError, UnknownFrameError
            As in `shapes`.

        """
        if self._drawing is not None:
            yield from self._drawing.layers(self._look, q, goals)
