"""The programs on the pages in docs/migration run, and both sides of a page have one answer."""

from pathlib import Path
import re
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


def name_of(value):
    """Return the name of a tool or a peer in the name of a test."""
    return value if value in TOOLS or value in {program[1] for program in ALL} else None


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
