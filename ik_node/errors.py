"""The exceptions a user of this package meets; every other failure is a status with residuals."""

from __future__ import annotations

from collections.abc import Iterable


class IkError(Exception):
    """
    Base of every exception this package raises on purpose.

    The message says what was found, what was expected and what to do.
    """


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
        listed = ', '.join(self.known[:12]) + (', ...' if len(self.known) > 12 else '')
        super().__init__(f'no {kind} named {name!r}; known: {listed or "none"}')


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
        super().__init__(f'{name}: {value!r} is not allowed; allowed: {allowed}')
