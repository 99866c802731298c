"""The code and the options in docs/batch.md work."""

import os
import re
import subprocess
import sys

import pytest


def python_blocks(repository):
    """Return the programs of the page."""
    text = (repository / 'docs' / 'batch.md').read_text()
    return re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ('number', 'printed'),
    [(0, 'CONVERGED: all'), (1, 'CONVERGED: all'), (2, 'all 20 paths of 2000')],
)
def test_python_block_runs(repository, number, printed):
    """Each block runs unchanged in the checkout."""
    blocks = python_blocks(repository)
    assert len(blocks) == 4
    run = [sys.executable, '-c', blocks[number]]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)


def test_batch_command_has_every_option_on_page(repository, capsys):
    """The command has every option that the page names."""
    from ik_node.cli.main import main

    text = (repository / 'docs' / 'batch.md').read_text().split('## From the command line')[1]
    text = text.split('## Motions of people')[0]
    with pytest.raises(SystemExit):
        main(['batch', '--help'])
    known = capsys.readouterr().out
    options = set(re.findall(r'(--[a-z]+)', text))
    assert options >= {'--goals', '--resume', '--engine', '--workers', '--address', '--chunk'}
    assert {option for option in options if option not in known} == set()


def test_block_with_worker_processes_runs(repository, tmp_path):
    """As a file, because workers import it."""
    path = tmp_path / 'workers.py'
    path.write_text(python_blocks(repository)[3])
    run = [sys.executable, str(path)]
    environment = {**os.environ, 'PYTHONPATH': str(repository)}
    done = subprocess.run(
        run, cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('CONVERGED: all')
