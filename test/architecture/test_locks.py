"""Lock files list exact versions with known hashes for every requirement."""

from importlib.metadata import distributions
from pathlib import Path
import re
import runpy
import sys

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest

FOLDER = Path(__file__).parents[2] / 'requirements'
LOCKS = ['jazzy', 'kilted', 'docs']
PYTHONS = [f'3.{minor}' for minor in range(10, 14)]
PINNED = re.compile(
    r'(?P<name>[a-z0-9-]+)==(?P<version>[^\s;*]+)( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+'
)


def lines_of(text):
    """Return the requirements and options in a text, continued lines joined, without comments."""
    lines = (line.strip() for line in text.replace('\\\n', ' ').splitlines())
    return [line for line in lines if line and not line.startswith('#')]


def not_pinned(text):
    """Return every line that is not one name with one exact version and hashes."""
    return [line for line in lines_of(text) if not PINNED.fullmatch(line)]


@pytest.mark.parametrize('lock', LOCKS)
def test_lock_pins_every_requirement_with_hashes(lock):
    """Each line is name==version with a sha256, without range, URL, index or other options."""
    text = (FOLDER / f'{lock}.txt').read_text()
    assert lines_of(text)
    assert not_pinned(text) == []


@pytest.mark.parametrize('python', [PYTHONS[0], PYTHONS[-1]])
@pytest.mark.parametrize('lock', LOCKS)
def test_lock_has_one_version_of_every_requirement(lock, python):
    """An edit of a .in file requires `tools/lock.py`."""
    pins = {}
    for line in lines_of((FOLDER / f'{lock}.txt').read_text()):
        pin = Requirement(line.partition('--hash')[0])
        if pin.marker is None or pin.marker.evaluate(environment(python)):
            assert pin.name not in pins, line
            pins[pin.name] = str(pin.specifier).removeprefix('==')
    for source in ['docs.in'] if lock == 'docs' else ['python.in', f'{lock}.in']:
        for line in lines_of((FOLDER / source).read_text()):
            required = Requirement(line)
            if required.marker and not required.marker.evaluate(environment(python)):
                continue
            name = canonicalize_name(required.name)
            assert name in pins, f'{source} requires {line}'
            assert required.specifier.contains(pins[name]), f'{source} requires {line}'


def environment(python):
    """Return what markers are evaluated with for a Python such as 3.10."""
    return {'python_version': python, 'python_full_version': f'{python}.5', 'extra': ''}


def test_page_of_licences_has_every_locked_package(repository):
    """A new dependency requires `tools/licences.py`."""
    page = (repository / 'THIRD_PARTY.md').read_text()
    rows = dict(re.findall(r'^\| ([a-z0-9-]+) \| (.+) \|$', page, re.MULTILINE))
    texts = [(FOLDER / f'{lock}.txt').read_text() for lock in LOCKS]
    pinned = {match['name'] for text in texts for match in map(PINNED.fullmatch, lines_of(text))}
    assert set(rows) - {'package'} == pinned
    assert all(licence.strip() for licence in rows.values())


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason='the page is written with Python 3.11')
def test_page_of_licences_has_what_installed_packages_declare(repository):
    """A new version with another licence requires `tools/licences.py`."""
    tool = runpy.run_path(str(repository / 'tools' / 'licences.py'))
    rows = tool['written']((repository / 'THIRD_PARTY.md').read_text())
    locks = ''.join((FOLDER / f'{lock}.txt').read_text() for lock in LOCKS)
    compared = 0
    for package in distributions():
        name = canonicalize_name(package.metadata['Name'])
        licence = tool['declared'](package)
        if licence and f'\n{name}=={package.version} ' in locks:
            assert rows[name] == licence
            compared += 1
    assert compared > 50
