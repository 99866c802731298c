"""Run a command: `python -m ik_node <command>`."""

from __future__ import annotations

import sys

from ik_node.cli.main import main

if __name__ == '__main__':
    sys.exit(main())
