"""The C++ examples and the page about the interface compile, link by CMake and run."""

import os
import re
import shutil
import subprocess
import sys

from ik_node.cli.main import main
import pytest
from support.c_programs import compile_c, run, shared_library

needs_cmake = pytest.mark.skipif(
    shutil.which('cmake') is None or shutil.which('g++') is None, reason='no cmake or no g++'
)


def cmake(source, into, repository, *more):
    """Configure and build a project with warnings as errors; return its folder."""
    shared_library()
    flags = ('-DCMAKE_CXX_FLAGS=-Werror', '-DCMAKE_C_FLAGS=-Werror')
    python = f'-DPython3_EXECUTABLE={sys.executable}'
    environment = {**os.environ, 'PYTHONPATH': str(repository)}
    for words in (
        ['cmake', '-S', str(source), '-B', str(into), python, *flags, *more],
        ['cmake', '--build', str(into)],
    ):
        ended = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    return into


@pytest.fixture
def hexapod(repository, tmp_path):
    """Export the hexapod, and return the file."""
    path = tmp_path / 'hexapod.ikr'
    urdf = str(repository / 'urdf' / 'hexapod.urdf')
    words = ['--goal', 'platform_link', '--option', 'restarts=0']
    assert main(['export', urdf, '-o', str(path), *words]) == 0
    return path


@needs_cmake
def test_control_loop_reaches_every_goal_at_1_khz(repository, tmp_path, hexapod):
    """All examples compile, also the skeletons of plugins; the loop runs for 0.2 s."""
    made = cmake(repository / 'examples' / 'cpp', tmp_path / 'build', repository)
    said = run(made / 'control_loop', hexapod, 0.2)
    assert said.startswith('hexapod: 200 ticks, 200 converged, 0 out of steps\n')
    assert re.search(r'^solve .*worst', said, flags=re.MULTILINE)
    assert re.search(r'^wake-up .*worst', said, flags=re.MULTILINE)


@needs_cmake
def test_programs_of_the_page_compile_and_run(repository, tmp_path, hexapod, capsys):
    """docs/c_interface.md: the CMake project, the C program and the C++ program."""
    page = (repository / 'docs' / 'c_interface.md').read_text()
    found = {
        kind: re.findall(rf'^```{kind}\n(.*?)^```', page, flags=re.DOTALL | re.MULTILINE)
        for kind in ('cmake', 'c', 'cpp')
    }
    for (text, *_), name in zip(
        found.values(), ('CMakeLists.txt', 'solve.c', 'solve.cpp'), strict=True
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / 'ankle.c').write_text(found['c'][1])
    urdf, ankle = str(repository / 'urdf' / 'ankle.urdf'), str(tmp_path / 'ankle.ikr')
    assert main(['export', urdf, '-o', ankle, '--joints', 'ankle_pitch', 'ankle_roll']) == 0
    said = run(compile_c(tmp_path / 'ankle', tmp_path), ankle)
    assert said.startswith('CONVERGED: 0.')
    assert main(['warm', '--cmake']) == 0
    folder = capsys.readouterr().out.splitlines()[-1]
    made = cmake(tmp_path, tmp_path / 'build', repository, f'-Dik_node_DIR={folder}')
    for program in ('solve_c', 'solve_cpp'):
        assert run(made / program, hexapod).startswith('CONVERGED')


@needs_cmake
def test_installed_layout_is_found_without_python(repository, tmp_path):
    """share/ik_node/cmake finds headers and library in lib/python3/site-packages of its prefix."""
    path = shared_library()
    package = tmp_path / 'prefix' / 'lib' / 'python3.99' / 'site-packages' / 'ik_node' / 'native'
    config = tmp_path / 'prefix' / 'share' / 'ik_node' / 'cmake'
    native = repository / 'ik_node' / 'native'
    shutil.copytree(native / 'include', package / 'include')
    shutil.copytree(native / 'cmake', config)
    (package / 'lib' / 'digest').mkdir(parents=True)
    shutil.copy(path, package / 'lib' / 'digest')
    (tmp_path / 'main.cpp').write_text(
        '#include "ik_node/ik_node.hpp"\n'
        'int main() { return ik_node_interface() - IK_NODE_INTERFACE; }\n'
    )
    (tmp_path / 'CMakeLists.txt').write_text(
        'cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nfind_package(ik_node REQUIRED)\n'
        'add_executable(p main.cpp)\ntarget_link_libraries(p ik_node::ik_node)\n'
    )
    prefix = f'-DCMAKE_PREFIX_PATH={tmp_path / "prefix"}'
    made = cmake(
        tmp_path, tmp_path / 'build', repository, prefix, '-DPython3_EXECUTABLE=/bin/false'
    )
    run(made / 'p')
    assert str(package) in (made / 'CMakeFiles' / 'p.dir' / 'link.txt').read_text()
