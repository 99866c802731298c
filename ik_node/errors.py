"""The exceptions of this package; a solve that fails reports a status and residuals instead."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
import re
from reprlib import Repr
from typing import Any

# Limits of the length of a name in a message, of a word, and of a whole message [characters]. They
# keep one message readable in a log line and on a terminal.
MOST_NAME = 80
MOST_WORD = 200
MOST_TEXT = 2000
# Most names that an unknown name is compared with.
MOST_COMPARED = 500
_LONG_WORD = re.compile(rf'\S{{{MOST_WORD + 1},}}')
_REPR = Repr()
_REPR.maxlevel = 4
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = 12
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MOST_NAME


def shown(value: object) -> str:
    """
    Return the representation of a value of any type for a message, shortened.

    A message quotes a name as `f'{name!r}'`, which escapes control characters.
    """
    return _REPR.repr(value)


def plain(text: str, limit: int = MOST_NAME) -> str:
    """
    Return a text as one printable line; a text that already is one is returned unchanged.

    Names come from robot descriptions, which are not trusted. A name with line breaks, terminal
    control sequences or thousands of characters must not disturb a log, a terminal or a page.
    Errors, notes, log lines, printed lines, tables and the page are made with it, so that code
    which writes a message need not.

    Parameters
    ----------
    text : str
        A name that is shown without quotes, or a message.
    limit : int
        Longest result [characters]. The middle of a longer text is left out, and likewise the
        middle of a word that is longer than `MOST_WORD`.

    """
    if not text.isprintable():
        text = ''.join(c if c.isprintable() else _escape(c) for c in text)
    if len(text) > MOST_WORD:
        text = _LONG_WORD.sub(lambda word: _shortened(word.group(), MOST_WORD), text)
    return _shortened(text, limit)


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Return at most `limit` names as a comma-separated list; 'none' if there are no names."""
    every = [plain(name) for name in names]
    return ', '.join(every[:limit] + ['...'] * (len(every) > limit)) or 'none'


def counted(count: int, what: str) -> str:
    """Return a number and what it counts: '1 loop', '2 loops', '0 loops'."""
    return f'{count} {what}{"s" * (count != 1)}'


def similar(name: object, known: Iterable[str]) -> str:
    """Return up to three names that are similar to a name, in quotation marks; '' if none is."""
    if not isinstance(name, str) or len(name) > MOST_NAME:
        return ''
    from difflib import get_close_matches

    short = [each for each in islice(known, MOST_COMPARED) if len(each) <= MOST_NAME]
    lower: dict[str, str] = {}
    for each in short:
        lower.setdefault(each.lower(), each)
    # One wrong letter of two is as near as names of two letters can be.
    near = get_close_matches(name.lower(), lower, n=3, cutoff=0.5 if len(name) < 4 else 0.6)
    return ' or '.join(shown(lower[each]) for each in near)


MOST_ALIKE = 4  # more notes of one kind become one
_QUOTED = re.compile(r"""(?<!\w)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""")
_VARIES = re.compile(_QUOTED.pattern + r'|[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|\binf\b)')


def merge_alike(notes: list[str]) -> None:
    """
    Replace many notes that differ only in names and numbers by the first and a count, in place.

    Such notes are about the same fault of many joints or links. Each is one printable line then.
    """
    kinds: dict[str, list[str]] = {}
    for note in dict.fromkeys(plain(note, MOST_TEXT) for note in notes):
        kinds.setdefault(_VARIES.sub('*', note), []).append(note)
    result: list[str] = []
    for alike in kinds.values():
        if len(alike) <= MOST_ALIKE:
            result += alike
            continue
        names = [match[0] for match in map(_QUOTED.search, alike[1:]) if match]
        about = f', about {", ".join(names[:6])}{", ..." * (len(names) > 6)}' if names else ''
        result.append(f'{alike[0]}; {len(alike) - 1} more notes of this kind{about}')
    notes[:] = result


def _escape(character: str) -> str:
    return ' ' if character.isspace() else repr(character)[1:-1]


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    tail = (limit - 3) // 3
    return f'{text[: limit - 3 - tail]}...{text[len(text) - tail :]}'


class IkError(Exception):
    """
    Base class of every exception that this package raises on purpose.

    The message is one printable line that states what was found, what was expected and what the
    user can do.

    Examples
    --------
    >>> import ik_node as ik
    >>> try:
    ...     robot = ik.load_robot('no_such.urdf')
    ... except ik.IkError as error:
    ...     print(type(error).__name__)
    DescriptionError

    """

    def __init__(self, message: str = '') -> None:
        super().__init__(plain(message, MOST_TEXT))

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would pass the message to the constructors of subclasses, which take others.
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[IkError], args: tuple[Any, ...], state: dict[str, Any]) -> IkError:
    error = kind.__new__(kind, *args)
    vars(error).update(state)
    return error


class DescriptionError(IkError):
    """
    A robot description or a closure annotation cannot be used.

    Attributes
    ----------
    source : str
        File name, or '<text>' for a description given as text.
    line : int or None
        Line in `source`, counted from 1; None = unknown.

    Examples
    --------
    >>> import ik_node as ik
    >>> try:
    ...     robot = ik.load_robot('<robot/>')
    ... except ik.DescriptionError as error:
    ...     print(error.source)
    <text>

    """

    def __init__(self, message: str, *, source: str = '<text>', line: int | None = None) -> None:
        self.source = source
        self.line = line
        where = source if line is None else f'{source}:{line}'
        super().__init__(f'{where}: {message}')


class UnsupportedElementError(DescriptionError):
    """
    The description uses an element or a type that this package does not read.

    Examples
    --------
    >>> import ik_node as ik
    >>> try:
    ...     robot = ik.load_robot('<car/>')
    ... except ik.UnsupportedElementError as error:
    ...     print(error.line)
    1

    """


class TopologyError(IkError):
    """
    The graph of frames cannot be solved; the message names the frames that prevent it.

    Examples
    --------
    >>> import ik_node as ik
    >>> link = ik.Link('base')
    >>> try:
    ...     link.add_child(link)
    ... except ik.TopologyError as error:
    ...     print(error)
    'base' cannot become a child of link 'base': only joints can

    """


class PlanError(IkError):
    """A plan cannot be followed; the message gives the time, the joint and the limit."""


class UnknownFrameError(IkError, KeyError):
    """
    No frame, link, joint or goal has the requested name.

    It is a KeyError too, because mappings such as `Robot.joints` raise it.

    Attributes
    ----------
    name : object
        The requested name.
    known : tuple of str
        The names that exist.

    Examples
    --------
    >>> import ik_node as ik
    >>> try:
    ...     link = ik.load_robot('arm6').links['tool']
    ... except ik.UnknownFrameError as error:
    ...     print(error.name, error.known[-1])
    tool tool_link

    """

    # That of KeyError would return the message in quotation marks.
    __str__ = IkError.__str__

    def __init__(self, name: object, known: Iterable[str], kind: str = 'frame') -> None:
        self.name = name
        self.known = tuple(known)
        text = f'no {kind} named {shown(name)}; known: {listed(self.known)}'
        near = similar(name, self.known)
        super().__init__(text + (f'; did you mean {near}?' if near else ''))


class ShapeError(IkError):
    """
    An array has the wrong shape or holds a number that is not finite.

    Attributes
    ----------
    name : str
        Name of the argument.
    expected, got : str
        Descriptions of the expected and of the actual value.

    Examples
    --------
    >>> import ik_node as ik
    >>> try:
    ...     ik.Link('base').set_position(0, 0, float('nan'))
    ... except ik.ShapeError as error:
    ...     print(error.expected)
    finite numbers

    """

    def __init__(self, name: str, expected: str, got: str) -> None:
        self.name = name
        self.expected = expected
        self.got = got
        super().__init__(f'{name}: expected {expected}, got {got}')


class OptionError(IkError):
    """
    The value of an option, or of an argument that selects a behaviour, is not allowed.

    Attributes
    ----------
    name : str
        Name of the option or argument.
    value : object
        The value that was given.
    allowed : str
        Description of the allowed values.

    Examples
    --------
    >>> import ik_node as ik
    >>> try:
    ...     options = ik.SolverOptions(restarts=-1)
    ... except ik.OptionError as error:
    ...     print(error.name, error.value)
    restarts -1

    """

    def __init__(self, name: str, value: object, allowed: str, near: str = '') -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        mean = f'; did you mean {near}?' if near else ''
        super().__init__(f'{name}: {shown(value)} cannot be used; use {allowed}{mean}')


class EngineError(IkError):
    """
    Work on an executor failed: its engine is missing or does not answer, or a worker failed.

    Attributes
    ----------
    rows : range or None
        The problems that are not solved; None = the work did not begin.

    """

    def __init__(self, message: str, rows: range | None = None) -> None:
        self.rows = rows
        where = '' if rows is None else f'rows {rows[0]} to {rows[-1]}: '
        super().__init__(f'{where}{message}')
