"""
Write requirements/DISTRO-pyX.Y.txt for each supported Python: exact versions with hashes.

Each lock pins all packages, transitive ones included, that requirements/python.in and
requirements/DISTRO.in need, with the sha256 of every file that pip may install. docs-pyX.Y.txt
does so for requirements/docs.in. pip-compile resolves them with the Python in question, because
markers and wheels differ between Pythons.

Versions in an existing lock are kept as long as they fit. Arguments go to pip-compile:
`make lock ARGS=--upgrade` takes the newest versions.
"""

import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile

PIP_TOOLS = 'pip-tools==7.6.2'
PYTHONS = ('3.10', '3.11', '3.12', '3.13')
# Sources of each lock, by the first part of its name.
SOURCES = {
    'kilted': ('python.in', 'kilted.in'),
    'jazzy': ('python.in', 'jazzy.in'),
    'docs': ('docs.in',),
}
REQUIREMENTS = Path(__file__).resolve().parent.parent / 'requirements'


def runs(python: str) -> bool:
    """Return True if this interpreter starts; a pyenv shim on the PATH may not."""
    found = shutil.which(python)
    return bool(found) and subprocess.run([python, '-c', ''], capture_output=True).returncode == 0


def lock(python: str, arguments: list[str]) -> None:
    """Write all locks for one interpreter, e.g. 'python3.11'."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, '-m', 'venv', folder], check=True)
        subprocess.run([f'{folder}/bin/pip', 'install', '--quiet', PIP_TOOLS], check=True)
        for name, sources in SOURCES.items():
            path = f'{name}-{python.replace("python", "py")}.txt'
            # --allow-unsafe: setuptools is pinned, too. --no-emit-options: where this machine
            # gets its packages from stays out of the lock.
            command = [
                f'{folder}/bin/pip-compile', '--quiet', '--generate-hashes', '--allow-unsafe',
                '--strip-extras', '--no-annotate', '--no-emit-options', *arguments,
                '--output-file', path, *sources,
            ]  # fmt: skip
            environment = {**os.environ, 'CUSTOM_COMPILE_COMMAND': 'make lock'}
            subprocess.run(command, cwd=REQUIREMENTS, env=environment, check=True)
            print(f'wrote requirements/{path}', flush=True)


def main() -> int:
    """Write the locks. Return 1 if an interpreter is missing, because its locks are now stale."""
    pythons = [f'python{version}' for version in PYTHONS]
    missing = [python for python in pythons if not runs(python)]
    for python in pythons:
        if python not in missing:
            lock(python, sys.argv[1:])
    if missing:
        print(f'not locked, no such interpreter on the PATH: {missing}', file=sys.stderr)
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main())
