"""The table of the reference library's names is complete, and its names and tests exist."""

import json
import re
import subprocess
import sys

import ik_node as ik
import pytest

HEADINGS = {
    'names': '| there | in | ours | difference, and why |',
    'faults': '| there | shown by |',
    'defaults': '| there | default there | ours | default here | reason |',
}

# Defaults of the reference library (shared/reference/closed_chain_ik_js.md, section 1.8).
THEIRS = {
    'useSVD': False,
    'maxIterations': 5,
    'stallThreshold': 1e-4,
    'divergeThreshold': 0.01,
    'dampingFactor': 0.001,
    'restPoseFactor': 0.01,
    'translationConvergeThreshold': 1e-3,
    'rotationConvergeThreshold': 1e-5,
    'translationFactor': 1,
    'rotationFactor': 1,
    'translationErrorClamp': 0.1,
    'rotationErrorClamp': 0.1,
    'translationStep': 1e-3,
    'rotationStep': 1e-3,
}

# Reads names that are given as JSON, after `import ik_node as ik` alone.
READ = """
import json, sys
import ik_node as ik
for name in json.loads(sys.argv[1]):
    found = ik
    for part in name.split('.'):
        if isinstance(found, type) and not hasattr(found, part):
            found = found()
        found = getattr(found, part)
"""


@pytest.fixture(scope='module')
def text(repository):
    """Return the page."""
    return (repository / 'docs' / 'migration' / 'closed_chain_ik.md').read_text()


def tables(text, kind):
    """Return (section, cells) of every row of the tables of a kind."""
    found, section, inside = [], '', False
    for line in text.splitlines():
        if line.startswith('### '):
            section = line[4:]
        if not line.startswith('|'):
            inside = False
        elif line in HEADINGS.values():
            inside = line == HEADINGS[kind]
        elif inside and not line.startswith('| ---'):
            found.append((section, [cell.strip() for cell in line.strip('|').split('|')]))
    return found


def named(cell):
    """Return the texts between back quotes."""
    return re.findall(r'`([^`]+)`', cell)


def test_python_names_exist_in_fresh_interpreter(text):
    """Attribute access imports what it needs; each group of names has its own interpreter."""
    groups = {}
    for _, cells in tables(text, 'names'):
        for name in named(cells[2]):
            groups.setdefault(name.split('.')[0], []).append(name)
    assert {'scene', 'kernels', 'Frame', 'SolverOptions'} <= set(groups)
    for names in groups.values():
        run = [sys.executable, '-c', READ, json.dumps(names)]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_every_default_that_differs_has_a_row_with_its_reason(text):
    """The numbers are those of both libraries, and all other defaults are equal."""
    option_of = {
        cells[0]: named(cells[2])[0].split('.')[1]
        for _, cells in tables(text, 'names')
        if named(cells[2])[0].startswith('SolverOptions.')
    }
    assert set(option_of) == set(THEIRS)
    rows = {cells[0]: cells for _, cells in tables(text, 'defaults')}
    for there, default in THEIRS.items():
        ours = getattr(ik.SolverOptions(), option_of[there])
        if ours == default:
            assert there not in rows
            continue
        _, told, option, here, reason = rows[there]
        assert (float(told), float(here)) == (default, ours)
        assert named(option) == [f'SolverOptions.{option_of[there]}']
        assert reason


def test_tests_named_in_table_of_faults_exist(text, repository):
    """Every test that is to show something is there."""
    for _, cells in tables(text, 'faults'):
        assert named(cells[1]), f'{cells[0]}: no test'
        for name in named(cells[1]):
            path, _, function = name.partition('::')
            assert f'def {function}(' in (repository / 'test' / path).read_text(), name


def test_table_lists_every_name_of_reference_readme(text, shared):
    """Constants, functions, classes, members and options."""
    readme = (shared / 'reference' / 'sources' / 'closed_chain_ik_js_readme.txt').read_text()
    api = readme.split('\nAPI\n')[1].split('\nAbout\n')[0]
    members = re.findall(r'^\.(\w+)$', api, re.MULTILINE)
    functions = re.findall(r'^(?:\w+\()?(\w+)\(', api, re.MULTILINE)
    options = re.findall(r'^(\w+) = [^;]+;', api, re.MULTILINE)
    dofs = re.findall(r'\b(?:DOF|SOLVE_STATUS)\.\w+', api)
    found = {*members, *functions, *options, *dofs} - {'constructor'}
    assert len(found) > 75
    theirs = ' '.join(cells[0] for _, cells in tables(text, 'names'))
    assert sorted(name for name in found if not re.search(rf'\b{name}\b', theirs)) == []
