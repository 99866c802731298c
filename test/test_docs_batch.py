"""The code and the options in docs/batch.md work."""

import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize('number', [0, 1])
def test_python_block_runs(repository, number):
    """Each block runs unchanged in the checkout."""
    text = (repository / 'docs' / 'batch.md').read_text()
    blocks = re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    run = [sys.executable, '-c', blocks[number]]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('CONVERGED: all')


def test_batch_command_has_every_option_on_page(repository, capsys):
    """The command has every option that the page names."""
    from ik_node.cli.main import main

    text = (repository / 'docs' / 'batch.md').read_text().split('## From the command line')[1]
    with pytest.raises(SystemExit):
        main(['batch', '--help'])
    known = capsys.readouterr().out
    options = set(re.findall(r'(--[a-z]+)', text))
    assert options >= {'--goals', '--link', '--resume'}
    assert {option for option in options if option not in known} == set()
