"""
Pages of the site that are made from other files: help texts, tables and docstrings.

Sphinx calls `write_pages` before it reads the sources.
"""

from __future__ import annotations

from pathlib import Path
import re

from tools.documentation.api import api_pages
from tools.documentation.commands import commands_page
from tools.documentation.parameters import parameters_page

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGINS = REPOSITORY / 'plugins'
# Files beside docs/ that pages link to, and their page on the site.
SITE_PAGES = {
    'README.md#commands': 'commands.md',
    'examples': 'examples.md',
    'examples/cpp': 'examples_cpp.md',
    'plugins/ik_node_moveit/README.md': 'plugin_moveit.md',
    'plugins/ik_node_ros2_control/README.md': 'plugin_ros2_control.md',
    'config/ik_node.yaml': 'parameters.md',
    'ik_node/__init__.py': 'api/index.md',
    'CHANGELOG.rst': 'changelog.rst',
    'CONTRIBUTING.md': 'contributing.md',
}


def write_pages(folder: Path) -> None:
    """Write all generated pages into a folder, which must be one level below docs/."""
    pages = {
        'commands.md': commands_page(),
        'parameters.md': parameters_page(),
        'examples.md': examples_page(),
        'examples_cpp.md': moved((REPOSITORY / 'examples/cpp/README.md').read_text()),
        **{
            f'plugin_{name}.md': moved((PLUGINS / f'ik_node_{name}' / 'README.md').read_text())
            for name in ('moveit', 'ros2_control')
        },
        'contributing.md': moved((REPOSITORY / 'CONTRIBUTING.md').read_text()),
        'changelog.rst': (REPOSITORY / 'CHANGELOG.rst').read_text(),
        **{f'api/{name}': text for name, text in api_pages().items()},
    }
    old = {path for path in folder.rglob('*') if path.is_file()}
    for name, text in pages.items():
        path = folder / name
        old.discard(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Sphinx reads again what has a new date.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in old:
        path.unlink()


def navigation(index: str) -> str:
    """
    Return the home page with hidden tables of contents for the sidebar.

    The lists of links below the headings of the page are the order of the sidebar.
    """
    parts = re.split(r'^(?=## )', index, flags=re.MULTILINE)
    tables = []
    for part in parts[1:]:
        pages = re.findall(r'^\* \[.*?\]\(([\w/.]+)\)', part, flags=re.MULTILINE)
        caption = part.splitlines()[0].removeprefix('## ')
        tables.append(
            '\n'.join(['```{toctree}', ':hidden:', f':caption: {caption}', *pages, '```'])
        )
    return index + '\n' + '\n\n'.join(tables) + '\n'


def moved(text: str) -> str:
    """Return a text from beside docs/ with links for a page in docs/generated/."""
    return re.sub(r'\]\((?:\.\./)*docs/', '](../', text)


def examples_page() -> str:
    """Return the page of all example scripts."""
    parts = ['# Examples', 'Short scripts with one task each. They are in the folder `examples/`.']
    for path in sorted((REPOSITORY / 'examples').glob('*.py')):
        code = path.read_text()
        number, _, words = path.stem.partition('_')
        parts.append(f'## {int(number)}. {words.replace("_", " ").capitalize()}')
        parts.append(f'`{path.name}`\n\n```python\n{code.rstrip()}\n```')
    return '\n\n'.join(parts) + '\n'
