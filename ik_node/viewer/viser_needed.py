"""A plain word where viser is missing."""

from __future__ import annotations

import importlib.util

from ik_node.errors import IkError


def need_viser() -> None:
    """
    Check that viser can be imported.

    Raises
    ------
    IkError
        Says how to get it.

    """
    if importlib.util.find_spec('viser') is None:
        raise IkError(
            'viser is not installed: `pip install ik_node[viewer]`, or `pip install viser`'
        )
