"""
Write requirements/DISTRO-pyX.Y.txt for every Python found on this machine.

Each lock holds what pip would install today for requirements/python.in and
requirements/DISTRO.in, exact versions, transitive ones included. Run it by `make lock`.
"""

import json
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile

PYTHONS = ('3.10', '3.11', '3.12', '3.13')
DISTROS = ('kilted', 'jazzy')
REQUIREMENTS = Path(__file__).resolve().parent.parent / 'requirements'


def resolve(python: str, distro: str) -> list[str]:
    """Let pip resolve the requirements with this interpreter; return sorted 'name==version'."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.json'
        subprocess.run([python, '-m', 'venv', folder], check=True)
        command = [
            f'{folder}/bin/pip', 'install', '--quiet', '--dry-run', '--ignore-installed',
            '--report', str(report),
            '--requirement', str(REQUIREMENTS / 'python.in'),
            '--requirement', str(REQUIREMENTS / f'{distro}.in'),
        ]  # fmt: skip
        subprocess.run(command, check=True)
        installs = json.loads(report.read_text())['install']
    pins = ((item['metadata']['name'], item['metadata']['version']) for item in installs)
    return sorted(f'{re.sub("[-_.]+", "-", name).lower()}=={version}' for name, version in pins)


def main() -> int:
    """Write the locks; 1 when an interpreter is missing, so that no lock goes stale unseen."""
    missing = [version for version in PYTHONS if not shutil.which(f'python{version}')]
    for version in PYTHONS:
        if version in missing:
            continue
        for distro in DISTROS:
            lock = REQUIREMENTS / f'{distro}-py{version}.txt'
            pins = resolve(f'python{version}', distro)
            lock.write_text('\n'.join(['# Written by `make lock`.', *pins, '']))
            print(f'{lock.relative_to(REQUIREMENTS.parent)}: {len(pins)} packages', flush=True)
    if missing:
        print(f'not locked, no such interpreter on PATH: {missing}', file=sys.stderr)
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main())
