"""
The test programs of the C interface under valgrind.

Not collected by itself; `pytest -s test/native/drill_memory.py` takes some minutes.
"""

import shutil
import subprocess

from ik_node.export import export_robot
import pytest
from support.c_programs import compile_c
from support.mechanisms import heavy_arm, MECHANISMS


@pytest.mark.skipif(shutil.which('valgrind') is None, reason='no valgrind')
@pytest.mark.parametrize('name', [*MECHANISMS, 'heavy arm'])
def test_valgrind_finds_nothing(tmp_path, name):
    """No read or write outside of the memory, no use of unset memory, no leak."""
    m = heavy_arm('centre_of_mass') if name == 'heavy arm' else MECHANISMS[name]()
    (tmp_path / 'robot.ikr').write_bytes(export_robot(m.solver(), list(m.goals)))
    program = compile_c('use_file', tmp_path)
    command = ['valgrind', '-q', '--error-exitcode=9', '--leak-check=full']
    command += [str(program), str(tmp_path / 'robot.ikr')]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-5000:]
