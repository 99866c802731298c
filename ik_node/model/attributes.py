"""Attributes of frames, counters of changes that tell a solver to read again, and mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Protocol, SupportsIndex, TypeVar
from weakref import ref

from ik_node.display import MOST_ROWS, printable, public_names
from ik_node.errors import OptionError, ShapeError, UnknownFrameError
from ik_node.model.given import numbers
import numpy as np
from numpy.typing import NDArray

# The methods of lists and dicts that change their contents.
_CHANGES = (
    *('__setitem__', '__delitem__', '__iadd__', '__imul__', '__ior__', 'append', 'extend'),
    *('insert', 'remove', 'pop', 'popitem', 'clear', 'update', 'setdefault'),
)


class Revision:
    """
    Counters of the changes to the frames of a graph; solvers compare them and never reset them.

    A new frame has its own counters. When a solver reads a graph, all frames of the graph get one
    shared object (`ik_node.solver.graph_reader.share_revision`), so that one comparison
    shows whether any of them has changed. A frame that leaves the graph goes on using the shared
    object until another graph with this frame is read.

    A change is counted after it has been made, and a solver takes the count before it reads.
    Therefore it reads again whatever another thread changes while it is reading.

    Several threads may count at once, because CPython does not switch threads within the `+= 1`
    of these counters; it switches at calls and loops only.

    Parameters
    ----------
    before : iterable of Revision
        The objects that this one replaces; each counter starts above all of theirs.
    frame_count : int
        Number of frames that share this object.

    Attributes
    ----------
    frame_count : int
        As given. A graph with another number of frames has lost some that still count here.
    edits : int
        Changes of settings, constraints, graph and a solver's options together.
    settings : int
        Changes of limits, locks, targets, rest poses and couplings.
    values : int
        Changes of joint values.
    constraints : int
        Changes of closures and goals: weight, tolerance, priority, distance, enabled or not, and
        the poses of closures. The pose of a goal does not count, because every solve reads it.
    graph : int
        Changes of the graph: children, closures, axes, couplings, offsets, and the poses of links
        and joints in their parents.
    lent : dict of int to Lent
        Arrays of the frames to which somebody has a reference; call `look` before you compare
        counters while there is one.

    """

    __slots__ = ('constraints', 'edits', 'frame_count', 'graph', 'lent', 'settings', 'values')

    constraints: int
    edits: int
    graph: int
    settings: int
    values: int

    def __init__(self, before: Iterable[Revision] = (), frame_count: int = 1) -> None:
        self.frame_count = frame_count
        counted = list(before)
        self.lent: dict[int, Lent] = {}
        for each in counted:
            self.lent.update(each.lent)
        for name in ('constraints', 'edits', 'graph', 'settings', 'values'):
            setattr(self, name, 1 + max((getattr(each, name) for each in counted), default=-1))

    def __reduce__(self) -> tuple[Any, ...]:
        # Nobody has a reference to an array of a copy, and solvers of a copy read it anew.
        return Revision, ((), self.frame_count)

    def look(self) -> int:
        """Count what has been written to arrays of the frames; return `edits`."""
        for each in list(self.lent.values()):
            each.look()
        return self.edits

    def count_options(self) -> None:
        """Count a change of a solver's options."""
        self.edits += 1

    def count_setting(self) -> None:
        """Count a change of limits, locks, targets, rest poses or couplings."""
        self.settings += 1
        self.edits += 1

    def count_constraint(self) -> None:
        """Count a change of a closure or goal."""
        self.constraints += 1
        self.edits += 1

    def count_graph_edit(self) -> None:
        """Count a change of the graph."""
        self.graph += 1
        self.edits += 1


class Counted(Protocol):
    """An object with a name, whose changes are counted."""

    name: str
    revision: Revision


class Lent(ref[memoryview]):
    """
    An array of a frame to which somebody else has a reference, and may write.

    NumPy reports no writes. Therefore every array that a frame hands out is a view of its own
    piece of memory (a memoryview). This reference sees when the last such view is gone, and
    compares the numbers then. A solver compares those of views that still exist, see
    `Revision.look`. Reading leaves no trace.
    """

    __slots__ = ('_array', '_before', '_frame', '_written')

    def __new__(cls, memory: Any, *_: Any) -> Lent:
        """Make the reference, which calls `_returned` when the memory is gone."""
        return super().__new__(cls, memory, cls._returned)

    def __init__(
        self, memory: Any, frame: Counted, array: NDArray[Any], written: Callable[..., None]
    ) -> None:
        super().__init__(memory)  # type: ignore[call-arg]
        self._frame, self._array, self._written = frame, array, written
        self._before = array.tobytes()
        frame.revision.lent[id(self)] = self

    def look(self) -> None:
        """Count a change if the numbers have changed."""
        now = self._array.tobytes()
        if now != self._before:
            self._before = now
            self._written(self._frame)

    def _returned(self) -> None:
        self._frame.revision.lent.pop(id(self), None)
        self.look()


def open_array(
    name: str,
    written: Callable[[Any], None],
    doc: str,
    assign: Callable[[Any, Any], None] | None = None,
) -> Any:
    """
    Return a property for an array that may be assigned and written to at any time.

    The array itself has the name of the property with an underscore before it. `written` is called
    with the object after its array has changed, `assign` with the object and an assigned value;
    None = the numbers are copied.
    """
    kept = f'_{name}'

    def get(frame: Counted) -> NDArray[Any]:
        array: NDArray[Any] = getattr(frame, kept)
        view = np.asarray(memoryview(array))  # type: ignore[arg-type]
        Lent(view.base, frame, array, written)
        return view

    def put(frame: Counted, values: Any) -> None:
        array: NDArray[Any] = getattr(frame, kept)
        what = f'{name} of {frame.name!r}'
        given = numbers(what, values, array.shape)
        if given.shape != array.shape:
            raise ShapeError(what, f'shape {array.shape}', f'shape {given.shape}')
        array[:] = given
        written(frame)

    return property(get, put if assign is None else assign, doc=doc)


def counted(
    name: str, written: Callable[[Any], None], kind: Callable[[str, Any], Any], doc: str
) -> Any:
    """
    Return a property for one value, whose changes are counted by `written`.

    `kind` makes the value of what it is called in messages, and of what is assigned.
    """
    kept = f'_{name}'

    def put(frame: Counted, value: Any) -> None:
        setattr(frame, kept, kind(f'{name} of {getattr(frame, "_name", "")!r}', value))
        written(frame)

    return property(attrgetter(kept), put, doc=doc)


def fixed(name: str, methods: str, doc: str) -> Any:
    """Return a property that cannot be assigned; the error names the methods that change it."""

    def refuse(frame: Counted, value: Any) -> None:
        raise OptionError(f'{name} of {frame.name!r}', value, f'{methods} to change it')

    return property(attrgetter(f'_{name}'), refuse, doc=doc)


class _Fixed:
    """A list or dict that only some methods of its owner change; `methods` names them."""

    def __init__(self, methods: str, items: Any = ()) -> None:
        super().__init__(items)  # type: ignore[call-arg]
        self._methods = methods

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        plain: Callable[[Any], Any] = type(self).__bases__[1]
        return type(self), (self._methods, plain(self))


class FixedList(_Fixed, list[Any]):
    """A list that is changed by methods of its owner."""


class FixedDict(_Fixed, dict[Any, Any]):
    """A dict that is changed by methods of its owner."""


def fixed_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _refusing(name: str) -> Callable[..., None]:
    def refuse(self: Any, *values: Any, **_: Any) -> None:
        raise OptionError(name, values[0] if values else '', f'{self._methods} to change it')

    return refuse


for _kind in (FixedList, FixedDict):
    for _name in _CHANGES:
        if hasattr(_kind, _name):
            setattr(_kind, _name, _refusing(_name))


Value = TypeVar('Value')


class ByName(dict[str, Value]):
    """
    A dict whose keys are names, which raises UnknownFrameError for a name that it does not have.

    `kind` says what has the names, for messages: 'link', 'joint' and so on.
    """

    def __init__(
        self, kind: str, entries: Mapping[str, Value] | Iterable[tuple[str, Value]] = ()
    ) -> None:
        super().__init__(entries)
        self._kind = kind

    def __getitem__(self, name: str) -> Value:
        try:
            return super().__getitem__(name)
        except (KeyError, TypeError):  # or a key that cannot be in a dict, such as a list
            raise UnknownFrameError(name, self, self._kind) from None

    __dir__ = public_names

    def __repr__(self) -> str:
        lines = [f'  {name}: {value!r}' for name, value in [*self.items()][:MOST_ROWS]]
        lines += [f'  ... {len(self) - MOST_ROWS} more'] if len(self) > MOST_ROWS else []
        return printable([f'{len(self)} {self._kind}{"s" * (len(self) != 1)}', *lines])
