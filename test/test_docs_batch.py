"""What docs/batch.md shows works."""

import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize('number', [0, 1])
def test_python_block_runs(repository, number):
    """Each block runs as it stands, from the checkout."""
    text = (repository / 'docs' / 'batch.md').read_text()
    blocks = re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    run = [sys.executable, '-c', blocks[number]]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('CONVERGED: all')


def test_options_of_the_command(repository, capsys):
    """Every option on the page is one of the command's."""
    from ik_node.cli.main import main

    text = (repository / 'docs' / 'batch.md').read_text().split('## From the command line')[1]
    with pytest.raises(SystemExit):
        main(['batch', '--help'])
    known = capsys.readouterr().out
    options = set(re.findall(r'(--[a-z]+)', text))
    assert options >= {'--goals', '--link', '--resume'}
    assert {option for option in options if option not in known} == set()
