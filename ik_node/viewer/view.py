"""The browser page of a robot that a program or a Python prompt has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ik_node.errors import OptionError
from ik_node.reach.volume import ReachVolume
from ik_node.robot import Robot
from ik_node.viewer.viser_needed import need_viser

if TYPE_CHECKING:
    from ik_node.viewer.page import Page


def view(
    robot: Robot, *, host: str = '127.0.0.1', port: int = 8080, reach: ReachVolume | None = None
) -> Page:
    """
    Show a robot in the browser while the program continues.

    The page shows and changes this robot: values and goals that the program sets appear in the
    page, and what users drag is in `robot.q` and in the goals.

    Parameters
    ----------
    robot : Robot
        The robot.
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
        ends with the program.

    Raises
    ------
    OptionError
        If the robot is something else, such as a path.
    IkError
        If viser is not installed.

    """
    if not isinstance(robot, Robot):
        raise OptionError('robot', robot, 'a Robot; load_robot(source) returns one')
    need_viser()
    from ik_node.viewer.page import Page
    from ik_node.viewer.sessions.library_session import LibrarySession

    return Page(LibrarySession(robot), host, port, reach=reach)
