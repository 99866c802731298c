"""Which requests the page serves: by Host, by Origin, and beyond this machine by its token."""

import http.client
import http.server
import socket
from urllib.parse import urlsplit

import pytest
from support.ports import own_port
from support.waiting import PATIENCE

pytest.importorskip('viser')

from ik_node.errors import IkError
from ik_node.viewer.access import Access, guarded
import viser
from websockets.asyncio import server as websockets_server
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

OWN_NAMES = ('127.0.0.1', 'localhost', 'LOCALHOST', '127.0.0.2', '[::1]')
FOREIGN_NAMES = (
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil@localhost',
    '192.168.1.5',
    '[fe80::1]',
    '[::1',
    '',
    'localhost, evil.example',
)


@pytest.fixture(scope='module')
def make_page():
    """Return a function that serves a page of the five-bar; each is closed after the file."""
    from ik_node.viewer.page import Page
    from ik_node.viewer.sessions.library_session import gallery_session

    pages = []

    def make(**how):
        pages.append(Page(gallery_session('fivebar'), port=own_port(60), **how))
        return pages[-1]

    yield make
    for page in pages:
        page.close()


@pytest.fixture(scope='module')
def local_page(make_page):
    return make_page()


@pytest.fixture(scope='module')
def network_page(make_page):
    return make_page(host='0.0.0.0')


def port_of(page):
    return page.server.get_port()


def get(page, path='/', **headers):
    """Send a GET with exactly these headers; return status, headers and text of the answer."""
    connection = http.client.HTTPConnection('127.0.0.1', port_of(page), timeout=PATIENCE)
    connection.putrequest('GET', path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def open_websocket(page, host, origin=None, path='', cookie=None):
    """Connect as viser's client does; return whether a message came, or the refusal."""
    plug = socket.create_connection(('127.0.0.1', port_of(page)), timeout=PATIENCE)
    headers = None if cookie is None else {'Cookie': cookie}
    try:
        with connect(
            f'ws://{host}{path}',
            sock=plug,
            origin=origin,
            additional_headers=headers,
            subprotocols=[f'viser-v{viser.__version__}'],
            open_timeout=PATIENCE,
        ) as websocket:
            return isinstance(websocket.recv(timeout=PATIENCE), bytes)
    except InvalidStatus as refused:
        return f'{refused.response.status_code} {refused.response.body.decode()}'


def request(host, origin=None, cookie=None):
    headers = Headers()
    if host is not None:
        headers['Host'] = host
    if origin is not None:
        headers['Origin'] = origin
    if cookie is not None:
        headers['Cookie'] = cookie
    return headers


def test_only_names_of_this_machine_are_served():
    """Not one that a foreign site has made point to this machine, with its own Origin."""
    access = Access('127.0.0.1')
    for names, served in ((OWN_NAMES, True), (FOREIGN_NAMES, False)):
        for host in (*names, *(f'{name}:8080' for name in names)):
            for origin in (None, f'http://{host}'):
                assert (access.refusal('/', request(host, origin)) == '') == served, host


def test_a_request_with_no_host_or_with_two_is_refused():
    for access in (Access('127.0.0.1'), Access('127.0.0.1', token=True)):
        twice = request('localhost')
        twice['Host'] = 'localhost'
        for headers in (Headers(), twice):
            assert 'is not a valid host' in access.refusal(f'/?token={access.token}', headers)


def test_other_origins_are_refused():
    """Of another site, another port, another scheme; the right token changes nothing."""
    for origin in [
        'http://evil.example',
        'http://localhost',
        'http://localhost:3000',
        'http://127.0.0.1:8080',
        'http://localhost:8080.evil.example',
        'http://localhost:8080/',
        'file://localhost:8080',
        'null',
        '',
    ]:
        for token in [False, True]:
            access = Access('127.0.0.1', token=token)
            path = f'/?token={access.token}'
            assert access.refusal(path, request('localhost:8080', 'http://localhost:8080')) == ''
            assert 'Origin' in access.refusal(path, request('localhost:8080', origin))
            both = request('localhost:8080', 'http://localhost:8080')
            both['Origin'] = origin
            assert 'Origin' in access.refusal(path, both)


def test_a_token_allows_any_name_and_a_proxy():
    """Such as a phone or a proxy with TLS uses; the name still must be its own site."""
    access = Access('127.0.0.1', token=True)
    for host in ('robot.local:8080', '192.168.1.5:8080', 'robot.example', '[fe80::1]:8080'):
        assert 'token' in access.refusal('/', request(host))
        for scheme in ('http', 'https'):
            headers = request(host, f'{scheme}://{host}')
            assert access.refusal(f'/?token={access.token}', headers) == ''


def test_wrong_tokens_are_refused():
    for query in [
        '',
        '?token=',
        '?token=wrong',
        '?token=%ff%fe',
        '?Token={}',
        '?token={}x',
        '?token={}&' * 30,
    ]:
        access = Access('0.0.0.0')
        path = '/' + query.replace('{}', access.token)
        assert 'needs a token' in access.refusal(path, request('192.168.1.5:8080'))


def test_page_requires_a_token_unless_only_this_machine_can_connect():
    """The address to open has it, and never is that of all addresses."""
    for host in ('127.0.0.1', 'localhost', '::1', '127.1.2.3'):
        assert Access(host).token == ''
        assert len(Access(host, token=True).token) >= 32
    for host in ('0.0.0.0', '::', '', '0'):
        access = Access(host)
        assert len(access.token) >= 32
        assert access.token != Access(host).token
        there = urlsplit(access.url(8080))
        assert there.hostname not in ('0.0.0.0', '::', '', '0', None)
        assert there.query == f'token={access.token}'
    assert Access('::1').url(8080) == 'http://[::1]:8080'


def test_pages_on_two_ports_of_one_name_have_two_cookies():
    """A browser sends cookies to every port of a host: that of one page must not end another."""
    access = Access('0.0.0.0')
    path = f'/?token={access.token}'
    names = {
        access.headers(path, host)['Set-Cookie'].partition('=')[0]
        for host in ('robot:8080', 'robot:9000', '[::1]:8081', 'robot')
    }
    assert len(names) == 4
    assert access.token not in access.headers(path, 'robot:8080')['Set-Cookie']


# -- the server itself


@pytest.mark.parametrize('name', ['localhost', '[::1]'])
def test_local_page_and_websocket_are_served(local_page, name):
    for port in (port_of(local_page), 9000):
        status, headers, text = get(local_page, Host=f'{name}:{port}')
        assert status == 200
        assert '<html' in text.lower()
        assert headers['Content-Security-Policy'] == "frame-ancestors 'self'"
        assert open_websocket(local_page, f'{name}:{port}') is True
        assert open_websocket(local_page, f'{name}:{port}', f'http://{name}:{port}') is True


def test_only_a_notebook_that_shows_the_page_may_frame_it(make_page):
    page = make_page()
    frame = page._repr_html_()
    assert f'<iframe src="{page.url}"' in frame
    policy = get(page, Host='localhost')[1]['Content-Security-Policy']
    assert policy == "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"


def test_requests_of_another_site_are_refused(local_page):
    host = f'localhost:{port_of(local_page)}'
    assert get(local_page, Host=host, Origin='http://evil.example')[0] == 403
    assert '403 refused: Origin' in open_websocket(local_page, host, 'http://evil.example')
    assert '403 refused: Origin' in open_websocket(local_page, host, 'null')
    # viser itself takes what is spelt otherwise for a request of a file.
    assert get(local_page, Host=host, Origin='http://evil.example', Upgrade='WebSocket')[0] == 403


def test_page_for_the_network_needs_its_token(network_page):
    """Every file and the websocket; after the first answer the browser has a cookie for them."""
    host = f'127.0.0.1:{port_of(network_page)}'
    for path in ('/', '/index.html', '/favicon.svg', '/no_such_file', '/?token=wrong'):
        status, headers, text = get(network_page, path, Host=host)
        assert status == 403
        assert 'Set-Cookie' not in headers
        assert '?token=' in text
    for how in ({'origin': f'http://{host}'}, {'cookie': 'ik_node_8080=; a; b=c=d'}):
        assert '403 refused: this page needs' in open_websocket(network_page, host, **how)
    query = urlsplit(network_page.url).query
    status, headers, _ = get(network_page, f'/?{query}', Host=host)
    assert status == 200
    cookie = headers['Set-Cookie']
    assert 'HttpOnly' in cookie
    assert 'SameSite=Strict' in cookie
    cookie = cookie.partition(';')[0]
    assert get(network_page, Host=host, Cookie=f'other=1; {cookie}')[0] == 200
    assert open_websocket(network_page, host, f'http://{host}', cookie=cookie) is True
    assert open_websocket(network_page, host, path=f'/?{query}') is True
    # Cookies are sent along by pages of other sites as well.
    refusal = open_websocket(network_page, host, 'http://evil.example', cookie=cookie)
    assert '403 refused: Origin' in refusal


def test_a_viser_that_cannot_be_guarded_serves_nothing():
    """An error instead of a page that anyone may use; what was replaced is back in its place."""
    before = websockets_server.serve
    with (
        pytest.raises(IkError, match='does not support access control'),
        guarded(Access('::1'), '::1'),
    ):
        pass
    assert websockets_server.serve is before
