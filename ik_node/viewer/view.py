"""The browser page of a robot that a program or a Python prompt has."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.errors import IkError
from ik_node.robot import as_robot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ik_node.model.frame import Frame
    from ik_node.robot import Robot
    from ik_node.solver.solver import Solver
    from ik_node.viewer.page import Page


def need_viser() -> None:
    """Raise an IkError that describes the installation if viser is not installed."""
    if importlib.util.find_spec('viser') is None:
        raise IkError(
            "viser is not installed: `pip install 'ik_node[viewer]'`, or `pip install viser`"
        )


def view(
    robot: Robot | Solver | Frame | Iterable[Frame],
    *,
    host: str = '127.0.0.1',
    port: int = 8080,
    reach: ReachVolume | None = None,
) -> Page:
    """
    Show a robot in the browser while the program continues.

    The page shows and changes this robot: values and goals that the program sets appear in the
    page, and what users drag is in `robot.q` and in the goals.

    Parameters
    ----------
    robot : Robot, Solver, Frame or iterable of Frame
        The robot, or a mechanism that was built from objects, see `Robot`.
    host : str
        Address to listen on. For another address than this machine's own, `url` has a token.
    port : int
        If the port is in use, the next free one is taken.
    reach : ReachVolume, optional
        A map of a link's reach to show, see `Robot.reach`.

    Returns
    -------
    Page
        The running page: `url` is its address, `close()` stops it, `wait()` waits for Ctrl-C. It
        ends with the program. A notebook shows it below the cell.

    Raises
    ------
    OptionError
        If the robot is something else, such as a path.
    IkError
        If viser is not installed.

    Examples
    --------
    >>> import ik_node as ik
    >>> page = ik.view(ik.load_robot('hexapod'), port=0)  # doctest: +SKIP

    """
    robot = as_robot(robot)
    need_viser()
    from ik_node.viewer.page import Page
    from ik_node.viewer.sessions.library_session import LibrarySession

    return Page(LibrarySession(robot), host, port, reach=reach)
