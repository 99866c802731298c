"""
Show a robot in the browser: drag goals, move joints, watch the solver.

Without --ros, the viewer solves by itself. With --ros it is a ROS 2 node that shows a running
ik_node: it draws the configurations of its ~/joint_states and publishes goals to its topics.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
import signal
import socket
from typing import TYPE_CHECKING

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.cli import arguments as shared
from ik_node.description.files import description_path
from ik_node.errors import OptionError, UnknownFrameError
from ik_node.gallery import gallery_item, NAMES
from ik_node.viewer.view import need_viser

if TYPE_CHECKING:
    from ik_node.viewer.sessions.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot to show and the address of the server."""
    table = """
    --demo NAME  a robot of the gallery, see demo --list
    --reach FILE  a map that reach --volume has written, .npz or .h5
    --ros  show a running ik_node; --ros-args may follow
    --node NAME  name of the node, with --ros; [default: ik_node]
    --host ADDRESS  address to listen on; [default: 127.0.0.1], this machine only; with 0.0.0.0,
        all machines can connect, and the printed address contains a token
    --token  require the token on this machine as well, and allow other names than localhost
    --port N  [default: 8080], or the next free port
    --seconds S  time until the viewer ends [s]; default: run until Ctrl-C
    """
    parser.add_argument('robot', metavar='ROBOT', nargs='?', help=shared.ROBOT_HELP)
    shared.add_reading_options(parser)
    shared.add_collision_arguments(parser)
    shared.add_options(parser, table)


def run(args: argparse.Namespace) -> int:
    """Serve the page until the command is stopped."""
    no_robot, sources = args.robot is None, (args.robot, args.demo, args.ros or None)
    avoiding = shared.collision_options(args)
    collisions = args.srdf or args.obstacles or avoiding
    for bad, option, value, use in (
        (sources.count(None) < 2, 'view', 'several robots', 'one of ROBOT, --demo NAME, --ros'),
        (args.ros_args and not args.ros, 'view', '--ros-args', 'with --ros only'),
        (args.closures is not None and no_robot, '--closures', args.closures, 'it with ROBOT'),
        (collisions and no_robot, '--srdf, --obstacles, --margin', collisions, 'it with ROBOT'),
        (args.reach and args.ros, '--reach', args.reach, 'with ROBOT or --demo only'),
        (not 0 <= args.port <= 65535, '--port', args.port, 'a number from 0 to 65535'),
    ):
        if bad:
            raise OptionError(option, value, use)
    if args.demo is not None:
        gallery_item(args.demo)
    if args.ros:
        shared.need_rclpy()
    need_viser()
    _check_host(args.host)
    # `kill` and closing the terminal end the viewer like Ctrl-C.
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)
    try:
        with ExitStack() as stack:
            _serve(args, stack)
    except KeyboardInterrupt:
        return 0
    return 0


def _check_host(host: str) -> None:
    """Raise an OptionError if the server cannot listen on an address."""
    try:
        kind, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except (OSError, UnicodeError):
        raise OptionError('--host', host, 'an address or a name of this machine') from None


def _serve(args: argparse.Namespace, stack: ExitStack) -> None:
    """Serve the page until the time is over; the stack closes the session and the page."""
    from ik_node.viewer.page import Page

    robots: dict[str, Callable[[], Session]] = {}
    peer = None
    reach = None if args.reach is None else ReachVolume.load(args.reach)
    if args.ros:
        from ik_node.ros_client.session import open_view

        session: Session = (peer := open_view(['ik_node', *args.ros_args], args.node))
    else:
        robots = _robots(args)
        shown = next(iter(robots))
        print(f'reading {shown}', flush=True)
        session = robots[shown]()
        _check_link(session, reach)
    stack.callback(session.close)
    about = {name: gallery_item(name).about for name in robots if name in NAMES}
    page = Page(session, args.host, args.port, robots, about, token=args.token, reach=reach)
    stack.callback(page.close)
    if peer is not None:
        peer.set_wake(page.wake)
    print(f'open {page.url} in a browser; Ctrl-C ends', flush=True)
    page.wait(args.seconds)


def _check_link(session: Session, reach: ReachVolume | None) -> None:
    """Raise an UnknownFrameError if the robot does not have the link of a map."""
    links = () if session.robot is None else session.robot.links
    if reach is not None and reach.link not in links:
        raise UnknownFrameError(reach.link, links, kind='link')


def _robots(args: argparse.Namespace) -> dict[str, Callable[[], Session]]:
    """Return the available robots, with the selected one first."""
    from ik_node.viewer.sessions.library_session import gallery_session, LibrarySession, OPTIONS

    ours: dict[str, Callable[[], Session]] = {
        name: partial(gallery_session, name) for name in NAMES
    }
    if args.robot is not None:
        name, options = args.robot, shared.collision_options(args)
        known = name in NAMES and not Path(name).is_file()
        described = description_path(gallery_item(name).description) if known else name
        args.robot = shared.robot_file(str(described))

        def session() -> Session:
            robot = shared.robot_of(args)
            if known:
                return gallery_session(name, robot, **options)
            return LibrarySession(robot, options=replace(OPTIONS, **options))

        own = {Path(name).name: session}
        return own | ours | own
    first = args.demo or NAMES[0]
    return {first: ours[first], **ours}
