"""Conversion of goal and closure names to parts of topic and parameter names."""

from __future__ import annotations

from collections.abc import Iterable
import re

from ik_node.errors import OptionError

_OUTSIDE = re.compile(r'[^A-Za-z0-9_]')


def topic_part(name: str) -> str:
    """
    Return a name as one part of a topic name.

    Characters outside [A-Za-z0-9_] become `_`; a leading digit gets an `n` before it.
    """
    part = _OUTSIDE.sub('_', name)
    return f'n{part}' if part[:1].isdigit() else part


def topic_parts(names: Iterable[str], kind: str) -> dict[str, str]:
    """
    Map each name to its part of a topic name.

    Raises
    ------
    OptionError
        If a name is repeated, or two names give the same part.

    """
    owners: dict[str, str] = {}
    for name in names:
        part = topic_part(name)
        if part in owners:
            other = owners[part]
            raise OptionError(
                f'{kind} names',
                [other, name],
                f'names that give different topic names; both become {part!r}',
            )
        owners[part] = name
    return {name: part for part, name in owners.items()}


def check_goal_name(name: str) -> str:
    """
    Return a goal name unchanged if `goals.<name>.link` can be a parameter name.

    Raises
    ------
    OptionError
        If the name contains a dot, a slash or white space.

    """
    return check_parameter_part('goal_names', name)


def check_parameter_part(parameter: str, name: str) -> str:
    """
    Return a name unchanged if it can be one part of a parameter's name.

    Raises
    ------
    OptionError
        If the name contains a dot, a slash or white space; the message names `parameter`.

    """
    if any(character in './' or character.isspace() for character in name):
        raise OptionError(parameter, name, 'names without dots, slashes and spaces')
    return name
