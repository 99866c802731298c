"""The code, files and parameters in the README and on the pages of library and node work."""

import re
import subprocess
import sys

from ik_node.description.sidecars.closures_yaml import read_closures
import pytest
import yaml


def blocks(repository, language, page='README.md'):
    """Return a page's code blocks of one language."""
    text = (repository / page).read_text()
    return re.findall(rf'^```{language}\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ('page', 'number'), [('README.md', 0), *(('docs/library.md', number) for number in range(5))]
)
def test_python_block_runs(repository, page, number):
    """Each block runs unchanged in the checkout."""
    code = blocks(repository, 'python', page)[number]
    run = [sys.executable, '-c', code]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_python_block_is_untested(repository):
    """The test above runs every block."""
    assert len(blocks(repository, 'python')) == 1
    assert len(blocks(repository, 'python', 'docs/library.md')) == 5


def test_readme_is_short(repository):
    """What is for one kind of reader is on a page of its own."""
    assert len((repository / 'README.md').read_text().splitlines()) <= 150


def test_closures_block_of_readme_is_read(repository):
    """The reader accepts the annotations and their keys."""
    (text,) = blocks(repository, 'yaml')
    loops = read_closures(yaml.safe_load(text), 'README.md')
    assert [loop.name for loop in loops.loops] == ['leg0_ball']
    assert len(loops.actuated) == 6


def test_parameters_in_the_table_exist(repository):
    """config/ik_node.yaml has every parameter that the page of the node names."""
    text = (repository / 'docs' / 'node.md').read_text()
    section = text.split('## Parameters')[1].split('\n## ')[0]
    named = re.findall(r'^\| `([\w.*]+)`', section, flags=re.MULTILINE)
    declared = yaml.safe_load((repository / 'config' / 'ik_node.yaml').read_text())
    known = set(declared['/**']['ros__parameters'])
    assert {name.split('.')[0] for name in named} <= known
    assert len(named) >= 6
