"""The programs in docs/cookbook.md run and print what the page shows."""

from importlib.util import find_spec
import re
import subprocess
import sys

import pytest

# Packages of some recipes that ik_node does not need.
OPTIONAL = ('pandas', 'matplotlib', 'viser', 'scipy')
RECIPES = 14


def recipes(repository):
    """Return the heading, the program and the output of every recipe."""
    text = (repository / 'docs' / 'cookbook.md').read_text()
    pattern = r'^## (.*?)\n.*?^```python\n(.*?)^```\n\n```text\n(.*?)^```'
    return re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize('number', range(RECIPES))
def test_recipe_prints_what_page_shows(repository, tmp_path, number):
    """Each program runs alone, from a file, in the checkout."""
    _, program, shown = recipes(repository)[number]
    missing = [name for name in OPTIONAL if f' {name}' in program and find_spec(name) is None]
    if missing:
        pytest.skip(f'not installed: {missing}')
    path = tmp_path / 'recipe.py'
    path.write_text(f'import sys; sys.path.insert(0, {str(repository)!r})\n{program}')
    run = [sys.executable, str(path)]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace('(viser) Server stopped\n', '').split() == shown.split()


def test_every_recipe_is_listed_at_the_top(repository):
    """The list links to all headings, in order."""
    text = (repository / 'docs' / 'cookbook.md').read_text()
    headings = re.findall(r'^## (.*)$', text, flags=re.MULTILINE)
    assert re.findall(r'^\* \[(.*?)\]\(#', text, flags=re.MULTILINE) == headings
    assert [heading for heading, _, _ in recipes(repository)] == headings
    assert len(headings) == RECIPES
    assert 'docs/cookbook.md' in (repository / 'README.md').read_text()
