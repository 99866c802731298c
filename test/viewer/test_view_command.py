"""The command `view`: what it takes, what it refuses, and how it ends."""

import argparse
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

from ik_node.cli import view
from ik_node.cli.main import main
from ik_node.gallery import gallery_item
import pytest
from support.waiting import PATIENCE


def start(repository, *words):
    return subprocess.Popen(
        [sys.executable, '-m', 'ik_node', 'view', *words],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    )


def url_of(process, start='http://127.0.0.1:'):
    assert process.stdout.readline().startswith('reading ')
    line = process.stdout.readline()
    assert line.startswith(f'open {start}'), line + process.stderr.read()
    return line.split()[1]


@pytest.mark.parametrize(
    'words', [['--demo', 'hexapod'], ['urdf/hexapod.urdf'], ['--ros'], ['--ros', '--ros-args']]
)
def test_missing_viser_error_says_what_to_install(words, monkeypatch, capsys, repository):
    monkeypatch.setattr('importlib.util.find_spec', lambda name, *_: name != 'viser' or None)
    monkeypatch.chdir(repository)
    assert main(['view', *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.count('\n') == 1
    assert "pip install 'ik_node[viewer]'" in captured.err


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['urdf/hexapod.urdf', '--demo', 'hexapod'], 'one of ROBOT, --demo NAME, --ros'),
        (['--ros', '--demo', 'hexapod'], 'one of ROBOT, --demo NAME, --ros'),
        (['--demo', 'dragon'], 'dragon'),
        (['urdf/hexapod.urdf', '--ros-args', '-r', 'a:=b'], 'with --ros only'),
        (['no_such.urdf'], 'no_such.urdf'),
        (['README.md'], 'README.md'),
        (['--demo', 'hexapod', '--closures', 'x.yaml'], 'with ROBOT'),
        (['--demo', 'hexapod', '--port', '99999'], '99999'),
        (['--demo', 'hexapod', '--reach', 'none.npz'], 'none.npz: no such file'),
        (['--demo', 'hexapod', '--reach', 'README.md'], '.npz, .h5 or .hdf5'),
        (['--ros', '--reach', 'map.npz'], 'with ROBOT or --demo only'),
    ],
)
def test_unusable_arguments_end_with_2(words, reason, monkeypatch, capsys, repository):
    pytest.importorskip('viser')
    monkeypatch.chdir(repository)
    assert main(['view', *words]) == 2
    captured = capsys.readouterr()
    assert reason in captured.err
    assert captured.err.count('\n') == 1


@pytest.mark.parametrize(
    'words',
    [['urdf/fivebar.urdf'], ['--demo', 'delta', '--seconds', '1'], ['--demo', 'walker']],
    ids=['served', 'seconds', 'while it draws'],
)
def test_page_is_served_until_told_to_stop(words, repository):
    """Ctrl-C, also as soon as the page is there, or --seconds: exit code 0, no traceback."""
    pytest.importorskip('viser')
    with start(repository, *words) as process:
        url = url_of(process)
        if '--demo' not in words:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                assert answer.status == 200
        if '--seconds' not in words:
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ''


def test_page_for_others_prints_its_token(repository):
    """The address that is printed opens the page, and without its query nothing does."""
    pytest.importorskip('viser')
    with start(repository, 'urdf/fivebar.urdf', '--host', '0.0.0.0') as process:
        url = url_of(process, 'http://')
        assert '0.0.0.0' not in url
        with urllib.request.urlopen(url, timeout=20) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match='403'):
            urllib.request.urlopen(url.partition('?')[0], timeout=20)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@pytest.mark.parametrize('host', ['nope.invalid', '192.0.2.1'])
def test_unusable_host_is_refused_before_robot_is_read(capsys, host):
    assert main(['view', '--demo', 'hexapod', '--host', host]) == 2
    assert f'--host: {host!r} cannot be used' in capsys.readouterr().err


@pytest.mark.parametrize('name', ['delta', 'arm_at_shelf'])
def test_name_of_gallery_opens_with_its_goals(name):
    """Also if the gallery has another name for it than that of its file."""
    pytest.importorskip('viser')
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    session = next(iter(view._robots(parser.parse_args([name])).values()))()
    assert {*session.robot.goals} == {*gallery_item(name).goals}
