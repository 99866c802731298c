"""The documentation site: every link leads somewhere, and no public name or page is missing."""

from pathlib import Path
import re
import shutil
import subprocess

import ik_node as ik
from ik_node.cli.main import COMMANDS
from ik_node.ros.parameters.parameter_table import parameter_table
import pytest

from tools.documentation.api import api_pages, GROUPS
from tools.documentation.commands import commands_page
from tools.documentation.pages import navigation, SITE_PAGES, write_pages
from tools.documentation.parameters import parameters_page

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / 'docs'
PAGES = sorted(path for path in DOCS.rglob('*.md') if path.parent.name not in ('generated', 'api'))
DOCS_PYTHON = REPOSITORY / '.venvs' / 'docs' / 'bin' / 'python'
# The search of the site, in Node.js; it prints the pages of the results, the best last.
SEARCH = """
const fs = require('fs'), vm = require('vm');
const [folder, ...queries] = process.argv.slice(1);
const nothing = () => {};
const context = vm.createContext({
  _: (text) => text, _ready: nothing, _removeChildren: nothing, SPHINX_HIGHLIGHT_ENABLED: false,
  document: { getElementById: nothing }, localStorage: { setItem: nothing },
});
context.window = context;
for (const name of ['_static/language_data.js', '_static/searchtools.js', 'searchindex.js'])
  vm.runInContext(fs.readFileSync(`${folder}/${name}`, 'utf8'), context);
for (context.query of queries) {
  const code = 'Search._performSearch(...Search._parseQuery(query)).map((each) => each[0])';
  console.log(vm.runInContext(code, context).reverse().join(' '));
}
"""


def prose(path):
    """Return the text of a page without its code."""
    text = re.sub(r'^```.*?^```', '', path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r'`[^`\n]*`', lambda code: re.sub(r'[][()]', '', code[0]), text)


def anchors(path):
    """Return the names that a forge and the site give to the headings of a page."""
    headings = re.findall(r'^#+ (.*)$', prose(path), flags=re.MULTILINE)
    flat = (re.sub(r'[^\w\- ]', '', heading.lower()) for heading in headings)
    return {heading.strip().replace(' ', '-') for heading in flat}


def test_links_and_pictures_of_pages_exist():
    """Files, folders and headings that a page links to exist, and so do its pictures."""
    missing = []
    for page in (*PAGES, REPOSITORY / 'README.md', REPOSITORY / 'CONTRIBUTING.md'):
        text = prose(page)
        targets = re.findall(r'\]\(([^)\s]+)\)', text)
        for target in targets + re.findall(r'(?:src|href)="([^"]+)"', text):
            if target.startswith(('http://', 'https://')):
                continue
            name, _, heading = target.partition('#')
            path = page.parent / name if name else page
            if not path.exists() or (heading and heading not in anchors(path)):
                missing.append(f'{page.name}: {target}')
    assert missing == []


def test_every_page_is_in_the_sidebar_once():
    """The five lists of the home page name each page; only records and generated parts do not."""
    home = (DOCS / 'index.md').read_text()
    sidebar = navigation(home).removeprefix(home).split()
    named = {str(path.relative_to(DOCS)) for path in PAGES}
    named = {name for name in named if not re.match(r'decisions/\d|index', name)}
    assert named <= {*sidebar}
    assert sidebar.count(':caption:') == 5
    pages = [word for word in sidebar if word.endswith('.md')]
    assert sorted(pages) == sorted({*pages})


def test_every_public_name_is_in_the_api_reference_once():
    """The groups of the reference have exactly the names that the package exports."""
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(name for name in names if '.' not in name) == sorted(ik.__all__)
    text = '\n'.join(api_pages().values())
    assert text.count(':: ik_node.') == len(names)


def test_generated_pages_have_every_parameter_and_command():
    """The tables are made from those of the node and the command line."""
    parameters, commands = parameters_page(), commands_page()
    assert all(f'\n| `{spec.name}` |' in parameters for spec in parameter_table())
    assert all(f'\n## {name}\n' in commands for name in COMMANDS)
    assert commands.count('usage: ik_node') == len(COMMANDS)


def test_generated_pages_replace_each_file_outside_docs(tmp_path):
    """Pages that the site shows instead of other files are written, and old ones removed."""
    (tmp_path / 'old.md').write_text('of an earlier version')
    write_pages(tmp_path)
    assert not (tmp_path / 'old.md').exists()
    for source, page in SITE_PAGES.items():
        assert (REPOSITORY / source.partition('#')[0]).exists()
        assert (tmp_path / page).stat().st_size > 500
    text = (tmp_path / 'contributing.md').read_text()
    assert text.startswith('# Contributing')
    assert '](docs/' not in text


def test_code_on_home_page_runs(monkeypatch, capsys):
    """The lines of the home page solve."""
    (code,) = re.findall(r'^```python\n(.*?)^```', (DOCS / 'index.md').read_text(), re.S | re.M)
    monkeypatch.chdir(REPOSITORY / 'urdf')
    exec(code, {})
    assert 'Solution: CONVERGED' in capsys.readouterr().out


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """Return the folder of the built site; a warning of Sphinx fails."""
    if not DOCS_PYTHON.exists():
        pytest.skip('needs the environment of the site: make docs')
    folder = tmp_path_factory.mktemp('site')
    run = [str(DOCS_PYTHON), '-m', 'sphinx', '-b', 'html', '-q', '-W', str(DOCS), str(folder)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, '')
    return folder


def test_site_needs_no_network(site):
    """No page loads a script, a style or a font from elsewhere."""
    for page in site.rglob('*.html'):
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="([^"]+)"', page.read_text())
        assert [url for url in loaded if url.startswith(('http', '//'))] == [], page.name
    assert (site / 'searchindex.js').stat().st_size > 100_000
    assert 'hexapod' in (site / 'gallery.html').read_text()


def test_search_finds_pages_first(site):
    """Each search has its page as the first result, and records of decisions come last."""
    node = shutil.which('node')
    if node is None:
        pytest.skip('needs Node.js, which runs the search of the site')
    first = {
        'two arms': 'gallery',
        'quaternion order': 'glossary',
        'hinge': 'bring_your_robot',
        'rest pose': 'cookbook',
        'jacobian': 'cookbook',
        'transmission': 'transmission',
        'collisions': 'collisions',
    }
    run = [node, '-e', SEARCH, str(site), *first]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    for query, line in zip(first, done.stdout.splitlines(), strict=True):
        results = line.split()
        assert results[0] == first[query], query
        # Entries of the generated index come after all others.
        pages = [result for result in results if not result.startswith('generated/')]
        records = [page.startswith('decisions/') for page in pages]
        assert records == sorted(records), query
