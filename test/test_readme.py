"""The code, files and parameters in the README work."""

import re
import subprocess
import sys

from ik_node.description.sidecars.closures_yaml import read_closures
import pytest
import yaml


def blocks(repository, language):
    """Return the README's code blocks of one language."""
    text = (repository / 'README.md').read_text()
    return re.findall(rf'^```{language}\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize('number', [0, 1, 2, 3])
def test_python_block_runs(repository, number):
    """Each block runs unchanged in the checkout."""
    code = blocks(repository, 'python')[number]
    run = [sys.executable, '-c', code]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_readme_has_no_untested_python_block(repository):
    """The test above runs every block."""
    assert len(blocks(repository, 'python')) == 4


def test_closures_block_of_readme_is_read(repository):
    """The reader accepts the annotations and their keys."""
    (text,) = blocks(repository, 'yaml')
    loops = read_closures(yaml.safe_load(text), 'README.md')
    assert [loop.name for loop in loops.loops] == ['leg0_ball']
    assert len(loops.actuated) == 6


def test_parameters_in_the_table_exist(repository):
    """config/ik_node.yaml has every parameter that the README names."""
    text = (repository / 'README.md').read_text()
    section = text.split('### Parameters')[1].split('\n## ')[0]
    named = re.findall(r'^\| `([\w.*]+)`', section, flags=re.MULTILINE)
    declared = yaml.safe_load((repository / 'config' / 'ik_node.yaml').read_text())
    known = set(declared['/**']['ros__parameters'])
    assert {name.split('.')[0] for name in named} <= known
    assert len(named) >= 6
