"""Error message shown when viser is not installed."""

from __future__ import annotations

import importlib.util

from ik_node.errors import IkError


def need_viser() -> None:
    """
    Check that viser can be imported.

    Raises
    ------
    IkError
        If it is not installed; the message describes the installation.

    """
    if importlib.util.find_spec('viser') is None:
        raise IkError(
            "viser is not installed: `pip install 'ik_node[viewer]'`, or `pip install viser`"
        )
