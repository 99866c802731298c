"""
Install each peer in its own environment below .venvs/peers.

Run it as `tools/run python benchmark/set_up_peers.py`.

What is there already in the right version is left as it is. What cannot be installed on this
Python is named with the reason; the benchmark does without it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import platform
import shutil
import subprocess
import sys
from time import perf_counter

from players import HERE, PEER_VENVS

# Name of the worker -> what is installed for it; the versions that docs/benchmark.md shows.
PACKAGES: dict[str, list[str]] = {
    'rtb': ['roboticstoolbox-python==1.5.0'],
    'placo': ['placo==0.10.2'],
    'pin': ['pin==4.1.0'],
    'mink': ['mink==1.3.0', 'daqp==0.11.0'],
    'eaik': ['EAIK==1.2.2'],
    'ikpy': ['ikpy==4.2.1'],
    'pytracik': ['pytracik==0.0.3'],
    'closed_chain_ik': ['closed-chain-ik@0.0.3'],
}
# Only for the programs in docs/migration, which test/test_migration.py runs.
MORE_PACKAGES: dict[str, list[str]] = {
    'drake': ['drake==1.51.1'],
    'pink': ['pin-pink==4.4.0', 'daqp==0.11.0'],
}


def main() -> int:
    """Install the selected peers; return 0 even if some are not available."""
    parser = argparse.ArgumentParser(prog='benchmark/set_up_peers.py', description=__doc__)
    known = {**PACKAGES, **MORE_PACKAGES}
    some = f'of {", ".join(known)}; all of the benchmark: {", ".join(PACKAGES)}'
    parser.add_argument('names', nargs='*', metavar='NAME', help=some)
    parser.add_argument('--latest', action='store_true', help='newest versions, not the recorded')
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in known]
    if unknown:
        parser.error(f'no peer {unknown[0]!r}; there are: {", ".join(known)}')
    names = args.names or list(PACKAGES)
    missing = []
    for at, name in enumerate(names):
        packages = [without_version(each) if args.latest else each for each in known[name]]
        print(f'[{at + 1}/{len(names)}] {name}: {" ".join(packages)} ... ', end='', flush=True)
        begin = perf_counter()
        trouble = install(name, packages)
        print(trouble or f'done in {perf_counter() - begin:.0f} s', flush=True)
        missing += [name] if trouble and not trouble.startswith('there') else []
    if missing:
        python = platform.python_version()
        print(f'The benchmark goes without {", ".join(missing)} (Python {python}).')
    return 0


def without_version(package: str) -> str:
    """Return a package's name."""
    return package.split('==')[0].split('@')[0]


def install(name: str, packages: list[str]) -> str:
    """Install a peer; return '' or the reason of the failure."""
    folder = PEER_VENVS / name
    key = f'{" ".join(packages)} {platform.python_version()}'
    made = folder / 'made-with'
    if made.is_file() and made.read_text() == key:
        return 'there already'
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    trouble = (npm if name == 'closed_chain_ik' else pip)(folder, packages)
    if trouble:
        shutil.rmtree(folder, ignore_errors=True)
        return f'cannot be installed: {trouble} (all of it: {log_of(name)})'
    made.write_text(key)
    return ''


def log_of(name: str) -> Path:
    """Return the path of the installer's log."""
    return PEER_VENVS / f'{name}.log'


def pip(folder: Path, packages: list[str]) -> str:
    """Create an environment and install a package into it."""
    # Not an environment's Python: its environments would end with it.
    python = sys._base_executable  # type: ignore[attr-defined]
    return run([python, '-m', 'venv', str(folder)], folder.name) or run(
        [str(folder / 'bin' / 'python'), '-m', 'pip', 'install', *packages], folder.name
    )


def npm(folder: Path, packages: list[str]) -> str:
    """Install a package of Node.js."""
    program = shutil.which('npm')
    if program is None or shutil.which('node') is None:
        return 'there is no node with npm'
    folder.mkdir()
    (folder / 'package.json').write_text('{"private": true}\n')
    return run([program, 'install', '--prefix', str(folder), *packages], folder.name)


def run(command: list[str], name: str) -> str:
    """Run an installer; return '' or the most informative line of its output."""
    with log_of(name).open('w') as log:
        done = subprocess.run(
            command, stdout=log, stderr=subprocess.STDOUT, check=False, cwd=HERE.parent
        )
    if done.returncode == 0:
        return ''
    lines = log_of(name).read_text().strip().splitlines() or ['it says nothing']
    errors = [line for line in lines if 'error' in line.lower()]
    return (errors or lines)[-1].strip()[:160]


if __name__ == '__main__':
    sys.exit(main())
