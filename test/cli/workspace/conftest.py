"""Robots in a plane, and how to run `reach` on them."""

import csv
import io

from ik_node.cli.main import main
import pytest
from support.planar_reach import FREE


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(FREE)
    return path


@pytest.fixture
def fivebar(repository):
    return repository / 'urdf' / 'fivebar.urdf'


@pytest.fixture
def run(tmp_path, capsys):
    """Return how to run the command; gives the exit code, both outputs and the table."""
    out = tmp_path / 'out.csv'

    def call(robot, *words):
        code = main(['reach', str(robot), '-o', str(out), *map(str, words)])
        printed = capsys.readouterr()
        rows = list(csv.DictReader(io.StringIO(out.read_text()))) if out.is_file() else []
        return code, printed.out, printed.err, rows

    call.out = out
    return call
