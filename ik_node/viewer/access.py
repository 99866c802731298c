"""Access control of the page, for every HTTP request and every websocket handshake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
import inspect
import ipaddress
import re
import secrets
import socket
import threading
from typing import Any
from urllib.parse import parse_qs

from ik_node.errors import IkError
import websockets.asyncio.server
from websockets.protocol import State

# Name or address, and port, in the format of the header Host.
_HOST = re.compile(r'(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]+))?')
# Messages repeat at most this many characters of a text that a browser sent.
_SHOWN = 80

# Sites that may show the page in a frame: notebooks on this machine, if they were told to.
_NOTEBOOKS = ' http://localhost:* http://127.0.0.1:*'

_STARTING = threading.Lock()


class Access:
    """
    The rules that decide whether a request is served.

    If the server listens on this machine only, requests must use a name of this machine
    (`localhost`, 127.0.0.1, ::1), which prevents DNS rebinding by other sites. If other machines
    can connect, or if `token` is True, every request must carry a token instead: in its address,
    or later in a cookie. In both cases, requests from pages of other sites are refused by their
    Origin. Raises OSError if the name of the host cannot be resolved.
    """

    def __init__(self, host: str, *, token: bool = False) -> None:
        self._host = host.lower()
        result = socket.getaddrinfo(host or '0.0.0.0', 0, type=socket.SOCK_STREAM)
        self._addresses = [str(each[4][0]) for each in result]
        self._cookie = secrets.token_urlsafe(32)
        local = all(_is_loopback(each) for each in self._addresses)
        self.in_notebook = False
        self.token = '' if local and not token else secrets.token_urlsafe(24)

    def url(self, port: int) -> str:
        """Return the URL to open in a browser, including the token."""
        everywhere = ('0.0.0.0', '::')
        host = next((_in_use(each) for each in self._addresses if each in everywhere), self._host)
        host = f'[{host}]' if ':' in host else host
        return f'http://{host}:{port}' + (f'/?token={self.token}' if self.token else '')

    def refusal(self, path: str, headers: Any) -> str:
        """Return why a request (its path with query, and headers) is refused, or ''."""
        hosts, origins = headers.get_all('Host'), headers.get_all('Origin')
        host = hosts[0].lower() if len(hosts) == 1 else ''
        result = _HOST.fullmatch(host)
        if result is None:
            return f'Host: {_shown(hosts)} is not a valid host'
        if self.token:
            if not self._has_token(path) and not self._has_cookie(host, headers):
                return (
                    'this page needs a token: open the address that was printed at the start, '
                    'with ?token=... at its end'
                )
        elif not self._is_own_name(result[1]):
            return (
                f'Host: {_shown(host)} is not a name of this machine: open http://localhost with '
                'the same port, or start with --token, which allows other names'
            )
        if origins and [each.lower() for each in origins] not in (
            [f'http://{host}'],
            [f'https://{host}'],
        ):
            return (
                f'Origin: {_shown(origins)} is not the site of this page, {_shown(host)}; a proxy '
                'in front of the page must not change the header Host'
            )
        return ''

    def headers(self, path: str, host: str) -> Mapping[str, str]:
        """
        Return the headers of an HTTP response to a request with this path and host.

        Other sites can neither show the page in a frame nor receive the token in a referrer.
        """
        frames = "frame-ancestors 'self'" + _NOTEBOOKS * self.in_notebook
        basic = {'Content-Security-Policy': frames, 'Referrer-Policy': 'no-referrer'}
        if not self.token or not self._has_token(path):
            return basic
        cookie = f'{_cookie_name(host)}={self._cookie}; Path=/; HttpOnly; SameSite=Strict'
        return {**basic, 'Set-Cookie': cookie}

    def _is_own_name(self, name: str) -> bool:
        name = name.strip('[]')
        return name in ('localhost', self._host) or _is_loopback(name)

    def _has_token(self, path: str) -> bool:
        try:
            words = parse_qs(path.partition('?')[2], max_num_fields=20)
        except ValueError:
            return False
        return _same(words.get('token', [''])[-1], self.token)

    def _has_cookie(self, host: str, headers: Any) -> bool:
        for pair in ';'.join(headers.get_all('Cookie')).split(';'):
            name, _, value = pair.strip().partition('=')
            if name == _cookie_name(host) and _same(value, self._cookie):
                return True
        return False


@contextmanager
def guarded(access: Access, host: str) -> Iterator[str]:
    """
    Make the websockets server that is started in this context check every request.

    viser has no parameter for such a check. In this context, a wrapper replaces the function that
    starts the server and adds the check before viser's own `process_request`. Only a server that
    is started with the yielded string object is checked. Raises IkError if there was none, so that
    the page would have no access control.
    """
    address = _Address(host)
    serve = websockets.asyncio.server.serve
    started = []

    def serve_guarded(handler: Any, host: Any = None, *rest: Any, **options: Any) -> Any:
        if host is address:
            inner = options.get('process_request')
            options['process_request'] = _checked(access, inner)
            started.append(host)
            return _Serve(handler, host, *rest, **options)
        return serve(handler, host, *rest, **options)

    with _STARTING:
        websockets.asyncio.server.serve = serve_guarded  # type: ignore[assignment, misc]
        try:
            yield address
        finally:
            websockets.asyncio.server.serve = serve  # type: ignore[misc]
    if not started:
        raise IkError('the installed version of viser does not support access control')


class _Address(str):
    """A string that is compared by identity."""


class _Serve(websockets.asyncio.server.serve):
    """A server that stops immediately, although browsers open connections in advance."""

    async def __aexit__(self, *error: Any) -> None:
        # On these connections no request has arrived. websockets would wait 10 s for it.
        for connection in [*self.server.handlers]:
            if connection.state is State.CONNECTING:
                connection.transport.abort()
        await super().__aexit__(*error)


def _checked(access: Access, inner: Any) -> Any:
    """Return a `process_request` for websockets that checks `access` and then calls `inner`."""

    async def process_request(connection: Any, request: Any) -> Any:
        reason = access.refusal(request.path, request.headers)
        if reason:
            return connection.respond(HTTPStatus.FORBIDDEN, f'refused: {reason}\n')
        response = None if inner is None else inner(connection, request)
        if inspect.isawaitable(response):
            response = await response
        if response is not None:
            for name, value in access.headers(request.path, request.headers['Host']).items():
                response.headers[name] = value
        return response

    return process_request


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _in_use(everywhere: str) -> str:
    """Return the address of this machine on its network, given a wildcard address."""
    kind, elsewhere, here = (
        (socket.AF_INET6, '2001:db8::1', '::1')
        if ':' in everywhere
        else (socket.AF_INET, '192.0.2.1', '127.0.0.1')
    )
    try:
        # This sends nothing: it only looks up the address from which the machine would send.
        with socket.socket(kind, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return here


def _cookie_name(host: str) -> str:
    """Return a different name for every port, because all ports of a host share cookies."""
    result = _HOST.fullmatch(host.lower())
    return f'ik_node_{result[2] if result else ""}'


def _same(given: str, expected: str) -> bool:
    """Compare two texts in a time that does not depend on where they differ."""
    return secrets.compare_digest(given.encode(errors='replace'), expected.encode())


def _shown(text: object) -> str:
    whole = str(text)
    return ascii(whole if len(whole) <= _SHOWN else f'{whole[:_SHOWN]}...')
