"""The browser page and its thread, which draws a session and executes the users' commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import contextlib
import io
import itertools
import math
import threading
import time
from typing import Any

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.display import escaped
from ik_node.errors import IkError
from ik_node.viewer.access import Access, guarded
from ik_node.viewer.panels.controls import Controls
from ik_node.viewer.panels.joint_panel import LEFT_ALONE
from ik_node.viewer.panels.solver_panel import History
from ik_node.viewer.panels.view_panel import Eyes
from ik_node.viewer.sessions.session import Array, Session, Undo
from ik_node.viewer.stage.stage import Stage
from ik_node.viewer.stage.view_ray import ViewRay
import viser

# Longest wait for work, and for the response to it, and period of panel updates [s].
PATIENCE = 0.02
PANELS = 0.2
# Panels are updated for this time after a picture [s], until moved sliders follow the robot again.
AFTERWARDS = 2.0 * LEFT_ALONE
# The theme of the page; each browser adds whether it is dark. The colour is that of goals.
THEME: dict[str, Any] = {
    'show_share_button': False,
    'show_logo': False,
    'brand_color': (41, 107, 230),
}


Work = Callable[[], None]


class WorkQueue:
    """
    A queue of work from any thread for one thread.

    Pointer events can arrive faster than a large robot is drawn. New work replaces waiting work
    with the same key and moves to the end of the queue.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[object, Work] = {}
        self._numbers = itertools.count()
        self._woken = False

    def put(self, work: Work, key: object = None) -> None:
        """Add work; with a key, it replaces waiting work with the same key."""
        with self._changed:
            key = ('unique', next(self._numbers)) if key is None else key
            self._waiting.pop(key, None)
            self._waiting[key] = work
            self._changed.notify()

    def wake(self) -> None:
        """End the waiting of `take`."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def take(self, timeout: float) -> list[Work]:
        """Return all waiting work in order; wait for it at most for `timeout` [s]."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken or bool(self._waiting), timeout)
            self._woken = False
            taken = list(self._waiting.values())
            self._waiting.clear()
            return taken


class _Server(viser.ViserServer):
    """A viser server that never opens a tunnel to the internet."""

    def request_share_url(self, verbose: bool = True) -> None:
        """Do nothing."""


class Page:
    """
    The browser page of a session, which only the page's thread uses.

    If the port is in use, the next free one is taken. `robots` are functions that create other
    sessions, `about` one line of description for each, by name. With `token`, browsers on this
    machine need the token as well, see `Access`. `reach` is a map of the first robot, which the
    page shows with it. `url` is the address of the page, with the token if there is one.
    """

    def __init__(
        self,
        session: Session,
        host: str = '127.0.0.1',
        port: int = 8080,
        robots: Mapping[str, Callable[[], Session]] | None = None,
        about: Mapping[str, str] | None = None,
        *,
        token: bool = False,
        reach: ReachVolume | None = None,
    ) -> None:
        access = self._access = Access(host, token=token)
        self.session = session
        self._robots = dict(robots or {})
        self._robot = next(iter(self._robots), '')
        self._work = WorkQueue()
        self._reach = {self._robot: reach}
        self._undo = Undo(lambda: self.session.remember(), lambda old: self.session.restore(old))
        self._history = History()
        self._structure = -1
        self._failure: BaseException | None = None
        self._running = True
        self._ended = threading.Event()
        try:
            with contextlib.redirect_stdout(io.StringIO()), guarded(access, host) as address:
                self.server = _Server(host=address, port=port, label='ik_node', verbose=False)
        except IkError:
            self.server.stop()
            raise
        self.url = access.url(self.server.get_port())
        self.server.gui.configure_theme(**THEME)
        # The view ends where a docked panel begins, so that no robot lies under it.
        self.server.gui.main_panel.dock_right()
        self._controls = Controls(
            self.server.gui,
            self,
            self.undo,
            lambda: self.do(lambda _: None),
            {name: (about or {}).get(name, '') for name in self._robots},
            self.choose,
            Eyes(
                lambda client: self.do(lambda _: self._stage.cameras.look(client)),
                lambda client, flat: self.do(lambda _: self._stage.flatten(client, flat=flat)),
                lambda client, dark: self._set_dark(client, dark=dark),
            ),
            self.delete_selected,
        )
        controls = self._controls
        controls.reach.show(reach)
        self._stage = Stage(
            self.server,
            controls.view,
            controls.goals,
            controls.load,
            controls.reach,
            self._clicked,
            self._dragged,
            self.select,
            self._loaded,
            lambda number: self.do(lambda s: s.take_solution(number), undo=True),
        )
        self.server.on_client_disconnect(self._gone)
        self._thread = threading.Thread(target=self._guarded, name='page', daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        state = 'closed' if self._ended.is_set() else f'open {self.url}; close() stops it'
        return f'Page({self.session.title!r}: {state})'

    def _repr_html_(self) -> str:
        """Return a frame with the page, which a notebook on this machine shows below a cell."""
        self._access.in_notebook = True
        url = escaped(self.url)
        return (
            f'<iframe src="{url}" style="width:100%;height:560px;border:0"></iframe>'
            f'<a href="{url}" target="_blank">{url}</a>'
        )

    def do(
        self, work: Callable[[Session], object], *, key: object = None, undo: bool = False
    ) -> None:
        """Queue work on the session; see `SessionQueue`."""

        def step() -> None:
            if undo:
                self._undo.mark(key, time.monotonic())
            work(self.session)

        self._work.put(step, key)

    def wake(self) -> None:
        """Update the session now; callable from any thread."""
        self._work.wake()

    def undo(self) -> None:
        """Undo the last change."""
        self.do(lambda _: self._undo.step_back())

    def select(self, goal: str) -> None:
        """Select a goal, which then has the handle."""
        self.do(lambda _: setattr(self._stage, 'selected', goal))

    def delete_selected(self) -> None:
        """Delete the selected goal, if there is one."""

        def delete(session: Session) -> None:
            if self._stage.selected:
                session.remove_goal(self._stage.selected)

        self.do(delete, undo=True)

    def choose(self, name: str) -> None:
        """Show another robot."""
        self.do(lambda _: self._take(name))

    def ask(self, question: Callable[[Session], object], timeout: float = 10.0) -> object:
        """Return the result of a function of the session, called in the page's thread."""
        answers: list[object] = []
        done = threading.Event()

        def answer(session: Session) -> None:
            answers.append(question(session))
            done.set()

        self.do(answer)
        if not done.wait(timeout):
            raise IkError('the page does not respond')
        return answers[0]

    def wait(self, seconds: float | None = None) -> None:
        """Wait for a time [s], None = forever, or until the page ends; raise its error if any."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        # After a Ctrl-C during join, Python 3.10 and 3.11 treat the thread as ended, so poll
        # instead.
        while not self._ended.is_set() and time.monotonic() < end:
            self._ended.wait(0.2)
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Stop the server and close the session; may be called again."""
        self._running = False
        self._work.wake()
        self._ended.wait()
        self._thread.join()
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()
        self.session.close()

    # -- the one thread that touches the session

    def _guarded(self) -> None:
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001
            # `wait` raises it. A page without its thread would look alive but do nothing.
            self._failure = error
        finally:
            self._ended.set()

    def _run(self) -> None:
        told, drawn, asked = 0.0, time.monotonic(), math.inf
        while self._running:
            work = self._work.take(PATIENCE)
            for each in work:
                try:
                    each()
                except IkError as error:
                    self._complain(str(error))
            now = time.monotonic()
            solved = self.session.update(now)
            for text in self.session.complaints():
                self._complain(text)
            if solved:
                self._history.add(now, self.session.reports)
            if self.session.structure != self._structure:
                self._structure = self.session.structure
                self._stage.read(self.session)
                self._controls.rebuild(self.session, self._stage.gizmo_size)
                solved = True
            asked = min(asked, now) if work else asked
            # After a goal is sent to a node, the robot moves a moment later, and one picture shows
            # both.
            if solved or now - asked >= PATIENCE:
                self._stage.draw(self.session)
                drawn, asked = now, math.inf
            # Panels wait for a pause of the robot, so that browsers draw the robot first.
            pause = PANELS if drawn < now else 2.0 * PANELS
            if told < drawn + AFTERWARDS and now - told >= pause:
                with self.server.atomic():
                    self._controls.refresh(self.session, self._history)
                told = now

    def _take(self, name: str) -> None:
        try:
            session = self._robots[name]()
        except IkError:
            self._controls.show_choice(self._robot)
            raise
        self._robot = name
        self._controls.show_choice(name)
        self._controls.reach.show(self._reach.get(name))
        self.session.close()
        self._undo.clear()
        self._stage.clear()
        self.session, self._structure = session, -1

    def _complain(self, text: str) -> None:
        """Show in every browser why a command was not executed."""
        for client in self.server.get_clients().values():
            client.add_notification('not done', text, color='orange', auto_close_seconds=8.0)

    # -- events in the 3D view; called in the server's thread

    def _clicked(self, link: str, ray: ViewRay) -> None:
        goals = self._controls.goals
        dof, there = goals.new_dof, goals.where_clicked

        def make(session: Session) -> None:
            if self._stage.is_fixed(link):
                raise IkError(f'{link} is fixed: no joint moves it. Click a link that moves.')
            index = self._stage.hit(session, link, ray) if there else None
            old = self._goal_on(session, link)
            if old:
                # As in closed-chain-ik, a second click on a link moves its goal.
                session.move_offset(old, index)
            self._stage.selected = old or session.add_goal(link, dof, index)

        self.do(make, undo=True)

    def _goal_on(self, session: Session, link: str) -> str:
        """Return the goal of a link, the selected one if it has several; '' if it has none."""
        goals = {} if session.robot is None else session.robot.goals
        names = [
            name
            for name, goal in goals.items()
            if goal.child is not None and goal.child.name == link and goal.kind == 'frame'
        ]
        if self._stage.selected in names:
            return self._stage.selected
        return names[0] if names else ''

    def _dragged(self, name: str, position: Array, quat_xyzw: Array, phase: str) -> None:
        if phase == 'start':
            self.select(name)
            self.do(lambda _: None, undo=True)
        else:
            self.do(lambda s: s.move_goal(name, position, quat_xyzw), key=('goal', name))
            if phase == 'end' and self._controls.goals.returns:
                self.do(lambda s: s.release_goal(name))

    def _loaded(self, part: str, place: Array) -> None:
        def pull(session: Session) -> None:
            if session.robot is not None:
                self._controls.load.pull(session.robot, part, place)

        self.do(pull, key=('load', part))

    def _set_dark(self, client: int, *, dark: bool) -> None:
        """Choose dark or light colours in a browser."""
        handle = self.server.get_clients().get(client)
        if handle is not None:
            handle.gui.configure_theme(**THEME, dark_mode=dark)

    async def _gone(self, client: viser.ClientHandle) -> None:
        """Release the handles that a disconnected browser was dragging."""
        self._stage.release(client.client_id)
        self.do(lambda _: None)
