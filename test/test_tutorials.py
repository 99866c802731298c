"""A newcomer who does each step of a tutorial sees what the page shows."""

from contextlib import redirect_stdout
from io import StringIO
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

from tools.documentation.steps import NOTEBOOKS, steps_of

TUTORIALS = Path(__file__).parents[1] / 'docs' / 'tutorials'


def matches(shown, said):
    """Return True if a text has the lines that are shown; a line of dots stands for any lines."""
    parts = [re.escape(line.rstrip()) for line in shown.splitlines()]
    pattern = '\n'.join('(?:.*\n)*?.*' if part == re.escape('...') else part for part in parts)
    return re.fullmatch(pattern, '\n'.join(line.rstrip() for line in said.strip().splitlines()))


@pytest.mark.parametrize('name', NOTEBOOKS)
def test_each_step_of_tutorial_prints_what_page_shows(repository, tmp_path, monkeypatch, name):
    """Files are saved, commands and code run in order, in one empty folder."""
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, 'PYTHONPATH': str(repository)}
    variables, ran = {}, 0
    for step in steps_of((TUTORIALS / f'{name}.md').read_text()):
        if step.kind == 'file':
            (tmp_path / step.name).write_text(step.text)
        elif step.kind == 'code':
            output = StringIO()
            with redirect_stdout(output):
                exec(step.text, variables)
            assert matches(step.output, output.getvalue()), output.getvalue()
            ran += 1
        elif step.kind == 'command':
            program, *words = step.text.split()
            assert program == 'ik_node'
            done = subprocess.run(
                [sys.executable, '-m', 'ik_node', *words],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            said = done.stdout + done.stderr
            assert matches(step.output, said), said
            ran += 1
    assert ran >= 4


def test_tutorials_are_on_the_home_page(repository):
    """The home page links to every tutorial, and there is no further one."""
    home = (
        (repository / 'docs' / 'index.md').read_text().split('## Tutorials')[1].split('\n## ')[0]
    )
    linked = re.findall(r'^\* \[.*?\]\(tutorials/(\w+)\.md\)', home, flags=re.MULTILINE)
    assert sorted(linked) == sorted(path.stem for path in TUTORIALS.glob('*.md'))
