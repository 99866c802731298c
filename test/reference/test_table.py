"""The table of the reference library's names: whole, and nothing in it that does not exist."""

from dataclasses import fields, is_dataclass
import importlib
import re

import ik_node as ik
import pytest

HEADINGS = {
    'names': '| there | in | ours | difference, and why |',
    'faults': '| there | shown by |',
    'tests': '| there | ours |',
}

# Attributes that exist once an object does.
MADE = {
    'Frame': lambda: ik.Frame(),
    'Link': lambda: ik.Link(),
    'Joint': lambda: ik.Joint(),
    'Goal': lambda: ik.Goal(),
    'Solver': lambda: ik.Solver(ik.Link()),
}


@pytest.fixture(scope='module')
def text(repository):
    """Return the page."""
    return (repository / 'docs' / 'reference_api.md').read_text()


def tables(text, kind):
    """Return (section, cells) of every row of the tables of a kind."""
    found, section, inside = [], '', False
    for line in text.splitlines():
        if line.startswith('## '):
            section = line[3:]
        if not line.startswith('|'):
            inside = False
        elif line in HEADINGS.values():
            inside = line == HEADINGS[kind]
        elif inside and not line.startswith('| ---'):
            found.append((section, [cell.strip() for cell in line.strip('|').split('|')]))
    return found


def named(cell):
    """Return what stands between back quotes."""
    return re.findall(r'`([^`]+)`', cell)


def lookup(name):
    """Return what a dotted name of the package stands for; AttributeError if nothing does."""
    found, parts = ik, name.split('.')
    for at, part in enumerate(parts):
        if hasattr(found, part):
            found = getattr(found, part)
        elif found is ik or hasattr(found, '__path__'):
            module = '.'.join(['ik_node', *parts[: at + 1]])
            try:
                found = importlib.import_module(module)
            except ModuleNotFoundError:
                raise AttributeError(f'nothing is called {name}') from None
        elif is_dataclass(found) and part in {entry.name for entry in fields(found)}:
            found = None
        else:
            found = getattr(MADE[parts[at - 1]](), part)
    return found


def test_every_row_is_whole(text):
    """No empty cell, no row of another width, and all tables are there."""
    for kind, width, least in (('names', 4, 150), ('faults', 2, 30), ('tests', 2, 35)):
        rows = tables(text, kind)
        assert len(rows) >= least
        assert [cells for _, cells in rows if len(cells) != width or not all(cells)] == []


def test_nothing_comes_twice(text):
    """A name of theirs has one row in its section, and says in which versions it is."""
    rows = tables(text, 'names')
    keys = [(section, cells[0]) for section, cells in rows]
    assert len(set(keys)) == len(keys)
    assert {cells[1] for _, cells in rows} == {'A', 'B', 'A B'}


def test_our_names_exist(text):
    """Every name in the column of ours can be reached from the package."""
    missing = []
    for _, cells in tables(text, 'names'):
        assert named(cells[2]), f'{cells[0]}: no name of ours'
        for name in named(cells[2]):
            try:
                lookup(name)
            except (AttributeError, KeyError):
                missing.append(name)
    assert missing == []


@pytest.mark.parametrize('name', ['Joint.set_dofs', 'Solver.nothing', 'nowhere.Frame', 'no_name'])
def test_a_name_that_does_not_exist_is_noticed(name):
    """The look-up above does not find everything."""
    with pytest.raises((AttributeError, KeyError)):
        lookup(name)


def test_what_the_text_names_exists(text):
    """Names of ours between the tables exist as well."""
    prose = '\n'.join(line for line in text.splitlines() if not line.startswith('|'))
    for name in named(prose):
        if re.fullmatch(r'(Goal|Joint|Solver|SolverOptions)\.\w+', name):
            lookup(name)


@pytest.mark.parametrize('kind', ['faults', 'tests'])
def test_the_tests_it_names_exist(text, repository, kind):
    """Every test that is to show something is there."""
    for _, cells in tables(text, kind):
        assert named(cells[1]), f'{cells[0]}: no test'
        for name in named(cells[1]):
            path, _, function = name.partition('::')
            assert f'def {function}(' in (repository / 'test' / path).read_text(), name


def test_every_test_of_a_fault_is_in_the_table(text, repository):
    """A fault that is tested for is told of."""
    told = {name for _, cells in tables(text, 'faults') for name in named(cells[1])}
    for path in (repository / 'test' / 'reference').glob('test_bugs_*.py'):
        for function in re.findall(r'^def (test_\w+)', path.read_text(), re.MULTILINE):
            assert f'reference/{path.name}::{function}' in told


def test_every_name_of_their_readme_is_in_the_table(text, shared):
    """All constants, functions, classes, members and options that it documents."""
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
