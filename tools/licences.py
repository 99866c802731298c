"""
Write THIRD_PARTY.md: the licence of every package in the locks.

Run it as `tools/run python tools/licences.py`.

The licence is what the installed package declares: its licence expression, else the classifiers,
else the field `License`; for packages of ROS 2 the `package.xml` that the wheel installs; else
what the text of the licence says. A row is kept from the page where none of these exists, and for
packages that only another Python or ROS 2 needs. Run it with Python 3.11, after `make docs`, which
installs the packages that build the site: versions differ.
"""

from importlib.metadata import Distribution, distributions
from pathlib import Path
import re
import sys
import xml.etree.ElementTree as ElementTree

from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'THIRD_PARTY.md'
TEXTS = {
    'Permission is hereby granted, free of charge': 'MIT',
    'Apache License': 'Apache-2.0',
    'Neither the name of the copyright holder': 'BSD-3-Clause',
}
INTRODUCTION = """# Licences of dependencies

The wheel and the sdist contain no code of others. Below are all packages that
`requirements/*.txt` lock, for the package itself, its extras, its tests, linters, site and
ROS 2, with the licence that each declares. At run time the package needs numpy, scipy, pyyaml and
tqdm; numba and llvmlite compile the kernels. `tools/licences.py` writes this page.

| package | licence |
|---|---|
"""


def locked() -> set[str]:
    """Return the names of all locked packages."""
    texts = (path.read_text() for path in (ROOT / 'requirements').glob('*.txt'))
    return {name for text in texts for name in re.findall(r'^([a-z0-9-]+)==', text, re.MULTILINE)}


def declared(package: Distribution) -> str:
    """Return the licence that a package declares; '' if it declares none."""
    about = package.metadata
    if about.get('License-Expression'):
        return about['License-Expression']
    found = (each.split(' :: ') for each in about.get_all('Classifier') or [])
    named = [each[-1] for each in found if each[0] == 'License' and len(each) > 2]
    text = (about.get('License') or '').strip()
    return ', '.join(named) or named_by(text) or text.split('\n')[0]


def named_by(text: str) -> str:
    """Return the licence that has these words; '' if it is unknown."""
    return next((name for words, name in TEXTS.items() if words in text), '')


def of_text(package: Distribution) -> str:
    """Return the licence whose words are in the package's own licence file; '' if unknown."""
    for path in package.files or []:
        if path.name == 'LICENSE' and path.parent.name == 'licenses':
            return named_by(path.locate().read_text())
    return ''


def of_ros(name: str) -> str:
    """Return the licence in the package.xml of a wheel of ROS 2; '' if there is none."""
    stem = re.sub(r'^ros-((kilted|jazzy)-)?', '', name).replace('-', '_')
    path = Path(sys.prefix) / 'share' / stem / 'package.xml'
    if not path.exists():
        return ''
    root = ElementTree.parse(path).getroot()
    return ', '.join(dict.fromkeys(each.text.strip() for each in root.iter('license')))


def written(text: str) -> dict[str, str]:
    """Return the rows of the page."""
    return dict(re.findall(r'^\| ([a-z0-9-]+) \| (.+) \|$', text, re.MULTILINE))


def page(before: str) -> str:
    """Return the page; raise ValueError if the licence of a package is unknown."""
    places = [*map(str, (ROOT / '.venvs' / 'docs').glob('lib/python*/site-packages')), *sys.path]
    packages = distributions(path=places)
    installed = {canonicalize_name(each.metadata['Name']): each for each in packages}
    rows = written(before)
    found = {}
    for name in sorted(locked()):
        package = installed.get(name)
        own = package and (declared(package) or of_ros(name) or of_text(package))
        found[name] = own or of_ros(name) or rows.get(name, '')
    unknown = [name for name, licence in found.items() if not licence]
    if unknown:
        raise ValueError(f'no licence found, write it into the page by hand: {unknown}')
    return INTRODUCTION + ''.join(f'| {name} | {found[name]} |\n' for name in found)


if __name__ == '__main__':
    PAGE.write_text(page(PAGE.read_text() if PAGE.exists() else ''))
    print(f'wrote {PAGE.name}: {len(locked())} packages')
