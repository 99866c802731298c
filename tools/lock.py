"""
Write requirements/kilted.txt, jazzy.txt and docs.txt: exact versions with hashes.

Run it as `tools/run python tools/lock.py`.

Each lock pins all packages, transitive ones included, that requirements/python.in and
requirements/DISTRO.in need, or requirements/docs.in, with the sha256 of every file that may be
installed. It serves every supported Python: where they need different versions, a marker says
which one is for which Python.

Versions in an existing lock are kept as long as they fit. Arguments go to `uv pip compile`:
`tools/run python tools/lock.py --upgrade` takes the newest versions.
"""

import os
from pathlib import Path
import subprocess
import sys

OLDEST_PYTHON = '3.10'
SOURCES = {
    'kilted': ('python.in', 'kilted.in'),
    'jazzy': ('python.in', 'jazzy.in'),
    'docs': ('docs.in',),
}
REQUIREMENTS = Path(__file__).resolve().parent.parent / 'requirements'

if __name__ == '__main__':
    for name, sources in SOURCES.items():
        # Where this machine gets its packages from stays out of the lock.
        command = [
            'uv', 'pip', 'compile', '--quiet', '--universal', '--python-version', OLDEST_PYTHON,
            '--generate-hashes', '--strip-extras', '--no-annotate', *sys.argv[1:],
            '--output-file', f'{name}.txt', *sources,
        ]  # fmt: skip
        environment = {**os.environ, 'UV_CUSTOM_COMPILE_COMMAND': 'tools/lock.py'}
        subprocess.run(command, cwd=REQUIREMENTS, env=environment, check=True)
        print(f'wrote requirements/{name}.txt', flush=True)
