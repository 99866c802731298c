"""The programs on the pages in docs/migration run, and both sides of a page have one answer."""

from importlib.util import find_spec
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted((REPOSITORY / 'docs' / 'migration').glob('*.md'))
# A page may be for several tools, each with a heading of its own.
TOOLS = {
    re.sub(r'\W+', '_', title.lower()): f'# From {title}\n{text}'
    for page in PAGES
    for title, text in re.findall(
        r'^#{1,2} From (.*?)\n(.*?)(?=^#{1,2} From |\Z)',
        page.read_text(),
        re.DOTALL | re.MULTILINE,
    )
    if '\n### In ' in text or '\n#### In ' in text
}
PEER_VENVS = REPOSITORY / '.venvs' / 'peers'
# Heading of a program -> environment below .venvs/peers, as benchmark/set_up_peers.py names it.
ENVIRONMENTS = {
    'closed-chain-ik': 'closed_chain_ik',
    'Drake': 'drake',
    'mink': 'mink',
    'pink': 'pink',
    'placo': 'placo',
    'TRAC-IK': 'pytracik',
}
# Of the joint values that programs print [rad]: one unit of the last digit, which both round. The
# answers are unique near the start, so that equal joint values are equal poses.
TOLERANCE = 1.01e-4
OURS = 'ik_node'


def programs(tool):
    """Return heading, language, code and output of each program for the users of a tool."""
    pattern = r'^#{3,4} In (.*?)\n\n```(python|javascript)\n(.*?)^```\n\n```text\n(.*?)^```'
    return re.findall(pattern, TOOLS[tool], flags=re.DOTALL | re.MULTILINE)


ALL = [(tool, *program) for tool in TOOLS for program in programs(tool)]
OF_PEERS = [program for program in ALL if program[1] != OURS]


def values(text):
    """Return the numbers that a program prints, by the word in front of them."""
    lines = re.findall(r'^(\w+)((?: -?\d+(?:\.\d*)?(?:e-?\d+)?)+)$', text, flags=re.MULTILINE)
    return {word: np.array(numbers.split(), dtype=float) for word, numbers in lines}


def other_lines(text):
    """Return the lines that are no values."""
    return [line for line in text.splitlines() if not values(line)]


def assert_equal_values(found, expected):
    """Compare numbers by their words."""
    for word, numbers in expected.items():
        np.testing.assert_allclose(found[word], numbers, atol=TOLERANCE, err_msg=word)


def interpreter(peer):
    """Return the command that runs a program of a peer, or skip the test."""
    if peer == 'NumPy':
        return [sys.executable]
    if peer == 'MuJoCo':
        if find_spec('mujoco') is None:
            pytest.skip('MuJoCo is not installed: pip install mujoco')
        return [sys.executable]
    if peer == 'KDL':
        # There is no wheel; the package of the system is for the system's Python.
        python = '/usr/bin/python3'
        if not Path(python).exists() or run([python, '-c', 'import PyKDL']).returncode:
            pytest.skip('KDL is not installed: apt install python3-pykdl')
        return [python]
    folder = PEER_VENVS / ENVIRONMENTS[peer]
    if peer == 'closed-chain-ik':
        command = shutil.which('node') if (folder / 'node_modules').is_dir() else None
    else:
        command = folder / 'bin' / 'python' if folder.is_dir() else None
    if command is None:
        how = f'tools/run python benchmark/set_up_peers.py {ENVIRONMENTS[peer]}'
        pytest.skip(f'{peer} is not installed: {how}')
    return [str(command)]


def run(command):
    """Run a program of a peer in the checkout, without the paths of our environment."""
    hidden = ('PYTHONPATH', 'LD_LIBRARY_PATH', 'VIRTUAL_ENV')
    environment = {name: text for name, text in os.environ.items() if name not in hidden}
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )


def name_of(value):
    """Return the name of a tool or a peer in the name of a test."""
    return value if value in TOOLS or value in ENVIRONMENTS else None


@pytest.mark.parametrize(
    ('page', 'code', 'shown'),
    [(page, code, shown) for page, peer, _, code, shown in ALL if peer == OURS],
    ids=name_of,
)
def test_our_program_prints_what_page_shows(page, code, shown):
    """Each program runs alone, in the checkout."""
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert other_lines(done.stdout) == other_lines(shown)
    assert_equal_values(values(done.stdout), values(shown))


@pytest.mark.parametrize(
    ('page', 'peer', 'shown'),
    [(page, peer, shown) for page, peer, _, _, shown in OF_PEERS],
    ids=name_of,
)
def test_answers_on_page_are_equal(page, peer, shown):
    """The page shows the same numbers for the peer and for us."""
    (ours,) = (shown for name, _, _, shown in programs(page) if name == OURS)
    assert len(values(ours)) >= 3
    assert_equal_values(values(shown), values(ours))


@pytest.mark.parametrize(('page', 'peer', 'language', 'code', 'shown'), OF_PEERS, ids=name_of)
def test_program_of_peer_prints_what_page_shows(page, peer, language, code, shown, tmp_path):
    """It runs with the interpreter of the peer, if the peer is installed."""
    command = interpreter(peer)
    path = tmp_path / f'program.{"py" if language == "python" else "mjs"}'
    path.write_text(code)
    if language == 'javascript':
        modules = PEER_VENVS / ENVIRONMENTS[peer] / 'node_modules'
        (tmp_path / 'node_modules').symlink_to(modules)
    done = run([*command, str(path)])
    assert done.returncode == 0, done.stderr
    assert other_lines(done.stdout) == other_lines(shown)
    assert_equal_values(values(done.stdout), values(shown))
