"""
Notebooks of the tutorials, made from the same Markdown as the pages.

    python -m tools.documentation.notebooks FOLDER [--run]

With --run every notebook is executed in a kernel of Jupyter, and stored with its outputs.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import re
import sys
import tempfile

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.documentation.steps import NOTEBOOKS, Step, steps_of

TUTORIALS = Path(__file__).resolve().parents[2] / 'docs' / 'tutorials'


def main() -> int:
    """Write all notebooks into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--run', action='store_true', help='execute them')
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in NOTEBOOKS:
        notebook = notebook_of((TUTORIALS / f'{name}.md').read_text())
        if args.run:
            run(notebook)
        nbformat.write(notebook, args.folder / f'{name}.ipynb')
        print(args.folder / f'{name}.ipynb', flush=True)
    return 0


def notebook_of(page: str) -> nbformat.NotebookNode:
    """Return a notebook whose code cells save the page's files and run its commands and code."""
    cells = [cell_of(step) for step in steps_of(page)]
    for number, cell in enumerate(cells):
        cell['id'] = f'step-{number}'
    kernel = {'name': 'python3', 'display_name': 'Python 3', 'language': 'python'}
    return new_notebook(cells=cells, metadata={'kernelspec': kernel})


def cell_of(step: Step) -> nbformat.NotebookNode:
    """Return the cell of a step."""
    if step.kind == 'words':
        # Pictures and pages are beside the tutorial, not beside the notebook.
        return new_markdown_cell(re.sub(r'!?\[([^]]*)\]\((?!http)[^)]*\)', r'*\1*', step.text))
    if step.kind == 'shell':
        return new_markdown_cell(f'```bash\n{step.text}```')
    if step.kind == 'file':
        return new_code_cell(f'%%writefile {step.name}\n{step.text}'.rstrip())
    if step.kind == 'command':
        words = step.text.removeprefix('ik_node ')
        return new_code_cell(f'!{{__import__("sys").executable}} -m ik_node {words}')
    return new_code_cell(step.text.rstrip())


def run(notebook: nbformat.NotebookNode) -> None:
    """Execute a notebook in a folder of its own; raise if a cell fails."""
    from nbclient import NotebookClient

    environment = {**os.environ, 'PYTHONPATH': str(TUTORIALS.parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, resources={'metadata': {'path': folder}})
        client.execute(env=environment)


if __name__ == '__main__':
    sys.exit(main())
