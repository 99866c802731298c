"""The exceptions a user of this package meets; every other failure is a status with residuals."""

from __future__ import annotations

from collections.abc import Iterable
import re
from reprlib import Repr

# The most characters of a name in a message, of a word, and of a whole message.
MOST_NAME = 80
MOST_WORD = 200
MOST_TEXT = 2000
_LONG_WORD = re.compile(rf'\S{{{MOST_WORD + 1},}}')
_REPR = Repr()
_REPR.maxlevel = 4
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = 12
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MOST_NAME


def shown(value: object) -> str:
    """
    Return a name or another value for a message: quoted, escaped and shortened.

    Names come from descriptions, which anybody may have written: one that spans lines, moves the
    cursor or has thousands of characters must not take over a log, a terminal or a page.
    """
    return _REPR.repr(value)


def plain(text: str, most: int = MOST_NAME) -> str:
    """
    Return a text as one printable line; it is returned unchanged if it is one.

    Parameters
    ----------
    text : str
        A name where no quotes are wanted, or a message.
    most : int
        A longer text, and a longer word than `MOST_WORD`, has its middle left out.

    """
    if not text.isprintable():
        text = ''.join(c if c.isprintable() else _escape(c) for c in text)
    if len(text) > MOST_WORD:
        text = _LONG_WORD.sub(lambda word: _shortened(word.group(), MOST_WORD), text)
    return _shortened(text, most)


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names for a message, the first ones if they are many; 'none' if there are none."""
    every = [plain(name) for name in names]
    return ', '.join(every[:most] + ['...'] * (len(every) > most)) or 'none'


def _escape(character: str) -> str:
    return ' ' if character.isspace() else repr(character)[1:-1]


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = (most - 3) // 3
    return f'{text[: most - 3 - tail]}...{text[len(text) - tail :]}'


class IkError(Exception):
    """
    Base of every exception this package raises on purpose.

    The message is one printable line. It says what was found, what was expected and what to do.
    """

    def __init__(self, message: str = '') -> None:
        super().__init__(plain(message, MOST_TEXT))


class DescriptionError(IkError):
    """
    A robot description or a closure annotation cannot be used.

    Attributes
    ----------
    source : str
        File name, or '<text>' for a description given as text.
    line : int or None
        Line in `source`, counted from 1, where known.

    """

    def __init__(self, message: str, *, source: str = '<text>', line: int | None = None) -> None:
        self.source = source
        self.line = line
        where = source if line is None else f'{source}:{line}'
        super().__init__(f'{where}: {message}')


class UnsupportedElementError(DescriptionError):
    """The description uses an element or a type that this package does not read."""


class TopologyError(IkError):
    """The graph of frames is not one that can be solved; the message names the frames."""


class UnknownFrameError(IkError):
    """
    A frame, link, joint or goal of that name does not exist.

    Attributes
    ----------
    name : str
        The name that was asked for.
    known : tuple of str
        The names that exist.

    """

    def __init__(self, name: str, known: Iterable[str], kind: str = 'frame') -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f'no {kind} named {shown(name)}; known: {listed(self.known)}')


class ShapeError(IkError):
    """
    An array has the wrong shape or holds a number that is not finite.

    Attributes
    ----------
    name : str
        Which argument.
    expected, got : str
        What was wanted and what came.

    """

    def __init__(self, name: str, expected: str, got: str) -> None:
        self.name = name
        self.expected = expected
        self.got = got
        super().__init__(f'{name}: expected {expected}, got {got}')


class OptionError(IkError):
    """
    An option, or an argument that chooses a behaviour, has a value that is not allowed.

    Attributes
    ----------
    name : str
        Which option.
    value : object
        What was given.
    allowed : str
        What is allowed.

    """

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        super().__init__(f'{name}: {shown(value)} is not allowed; allowed: {allowed}')
