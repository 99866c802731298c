"""How frames are copied and pickled: all that hang together at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

from ik_node.model.frame import Frame
from ik_node.model.topology import find_roots

# What a copy works out anew; the copies of read-only matrices would not be read-only.
_MATRICES = ('_matrix', '_matrix_world', '_matrix_dof')


class Bundle:
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


def bundle_of(frame: Frame) -> Bundle:
    """Return the bundle of all that hangs together with a frame; one while any is in use."""
    bundle = _in_use.get(id(frame))
    if bundle is None:
        frames: list[Frame] = []
        for root in find_roots(frame):
            root.traverse(frames.append)
        bundle = Bundle(frames)
        _in_use.update(dict.fromkeys(bundle.place, bundle))
    return bundle


def member(bundle: Bundle, at: int) -> Frame:
    """Return one frame of a bundle."""
    return bundle.frames[at]


def _empty(types: Sequence[type[Frame]]) -> Bundle:
    return Bundle([each.__new__(each) for each in types])


# By the id of every frame in it. A copy or pickle that is being made keeps its bundle.
_in_use: WeakValueDictionary[int, Bundle] = WeakValueDictionary()
