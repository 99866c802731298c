"""The code and the options in docs/batch.md and docs/at_scale.md work."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest


@pytest.mark.parametrize(
    ('number', 'printed'),
    [(0, 'CONVERGED: all'), (1, 'CONVERGED: all'), (2, 'all 20 paths of 2000')],
)
def test_python_block_runs(repository, number, printed):
    """Each block runs unchanged in the checkout."""
    text = (repository / 'docs' / 'batch.md').read_text()
    blocks = re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    run = [sys.executable, '-c', blocks[number]]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)


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


def test_python_block_of_at_scale_runs(repository, tmp_path):
    """As a file, because workers import it."""
    text = (repository / 'docs' / 'at_scale.md').read_text()
    (block,) = re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    path = tmp_path / 'at_scale.py'
    path.write_text(block)
    run = [sys.executable, str(path)]
    environment = {**os.environ, 'PYTHONPATH': str(repository)}
    done = subprocess.run(
        run, cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('CONVERGED: all')


def test_slurm_script_solves_and_resumes_all_parts(repository, tmp_path):
    """It runs as on the page, with stand-ins for srun and for the command of the checkout."""
    text = (repository / 'docs' / 'at_scale.md').read_text()
    (script,) = re.findall(r'^```bash\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / 'job.sh').write_text(script.replace('--link tool', '--link hand'))
    for name, line in (
        ('srun', 'exec "$@"'),
        ('ik_node', f'exec {sys.executable} -m ik_node "$@"'),
    ):
        (tmp_path / name).write_text(f'#!/bin/sh\n{line}\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / 'arm.urdf').write_text((repository / 'docs/robots/arm6.urdf').read_text())
    np.save(tmp_path / 'poses.npy', np.tile((0.3, 0.1, 0.5), (5, 1)))
    environment = {
        **os.environ,
        'PYTHONPATH': str(repository),
        'PATH': f'{tmp_path}:{os.environ["PATH"]}',
        'SLURM_ARRAY_TASK_COUNT': '2',
        'SLURM_CPUS_PER_TASK': '1',
    }
    for task in ('1', '2', '2'):
        environment['SLURM_ARRAY_TASK_ID'] = task
        subprocess.run(['bash', 'job.sh'], cwd=tmp_path, env=environment, check=True)
    merge = ['ik_node', 'merge', 'answers.csv', 'part_1.csv', 'part_2.csv']
    subprocess.run(merge, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / 'answers.csv').read_text().count('\n') == 6


def test_batch_command_has_every_option_of_at_scale(repository, capsys):
    """The command has every option that the page names."""
    from ik_node.cli.main import main

    text = (repository / 'docs' / 'at_scale.md').read_text()
    with pytest.raises(SystemExit):
        main(['batch', '--help'])
    known = capsys.readouterr().out
    prose = re.sub(r'^```bash\n.*?^```', '', text, flags=re.DOTALL | re.MULTILINE)
    options = set(re.findall(r'(--[a-z]+)', prose))
    assert options >= {'--engine', '--workers', '--address', '--shard', '--resume', '--chunk'}
    assert {option for option in options if option not in known} == set()
