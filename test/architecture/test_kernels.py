"""Compilation of the kernels: one signature, a cache that detects edits, and no Numba."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

from ik_node.kernels import _jit
from ik_node.kernels.external_step import linearise
from ik_node.kernels.solve import advance
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

needs_compiler = pytest.mark.skipif(not _jit.compiled, reason='kernels are not compiled')

# Solves a few mechanisms and prints every answer to seventeen digits.
PROGRAM = """
import sys, warnings
{prelude}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    from ik_node.kernels import _jit
    from support.mechanisms import MECHANISMS
    from ik_node.solver.options import SolverOptions
warnings.simplefilter('error')  # plain Python must not warn of what compiled code does in silence
print('compiled', _jit.compiled)
ours = [w for w in caught if 'plain Python' in str(w.message)]
print('warnings', len(ours), *[w.category.__name__ for w in ours])
for name in ('arm6', 'fourbar', 'coupled', 'ball', 'universal_and_distance', 'planar'):
    m = MECHANISMS[name]()
    solver = m.solver(SolverOptions(restarts=1, max_iterations=30))
    for shift in (0.02, 2.0):
        poses = {{n: m.pose_of(g.child.name) for n, g in m.goals.items()}}
        goals = {{n: (p + (shift, -0.5 * shift, 0.01), r) for n, (p, r) in poses.items()}}
        solution = solver.solve_pose(goals)
        print(name, solution.status.name, *[repr(float(v)) for v in solution.q])
"""


def run(repository, prelude='', **environment):
    """Run the program in a separate process; return its lines."""
    result = subprocess.run(
        [sys.executable, '-c', PROGRAM.format(prelude=prelude)],
        env={**os.environ, 'PYTHONPATH': f'{repository}:{repository / "test"}', **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.fixture(scope='module')
def compiled_answers(repository):
    """Return the lines of the compiled kernels."""
    lines = run(repository, NUMBA_DISABLE_JIT='0')
    assert lines[:2] == ['compiled True', 'warnings 0']
    return lines[2:]


def same_answers(found, wanted):
    """Compare two lists of answers: statuses exactly, values to 1e-9."""
    assert len(found) == len(wanted) == 12
    for one, other in zip(found, wanted, strict=True):
        one, other = one.split(), other.split()
        assert one[:2] == other[:2]
        np.testing.assert_allclose(
            [float(v) for v in one[2:]], [float(v) for v in other[2:]], atol=1e-9, err_msg=one[0]
        )


@needs_compiler
def test_disabled_jit_gives_same_answers(repository, compiled_answers):
    """NUMBA_DISABLE_JIT=1 runs the same code in plain Python, without a warning."""
    lines = run(repository, NUMBA_DISABLE_JIT='1')
    assert lines[:2] == ['compiled False', 'warnings 0']
    same_answers(lines[2:], compiled_answers)


@needs_compiler
def test_missing_numba_gives_same_answers_and_one_warning(repository, compiled_answers):
    """Where Numba cannot be imported the answers are the same, after one warning."""
    lines = run(repository, prelude="sys.modules['numba'] = None")
    assert lines[:2] == ['compiled False', 'warnings 1 RuntimeWarning']
    same_answers(lines[2:], compiled_answers)


@needs_compiler
def test_bounds_checks_find_no_index_error(repository, compiled_answers):
    """The answers are the same with bounds checks."""
    lines = run(repository, NUMBA_DISABLE_JIT='0', NUMBA_BOUNDSCHECK='1')
    assert lines[:2] == ['compiled True', 'warnings 0']
    same_answers(lines[2:], compiled_answers)


@needs_compiler
def test_each_entry_is_compiled_for_one_signature():
    """For all robots."""
    for name in ('arm6', 'hexapod', 'coupled', 'universal_and_distance', 'snake', 'two_arms'):
        m = MECHANISMS[name]()
        solver = m.solver(SolverOptions(restarts=1))
        solver.warm()
        solver.solve_pose({n: (np.ones(3), (0, 0, 0, 1)) for n in m.goals})
        solver.solve_pose(
            {n: ((1, 1, 1), [0, 0, 0, 1]) for n in m.goals}, max_step=np.ones(99)[: len(solver.q)]
        )
        solver.solve()
        solver.step()
    assert len(advance.signatures) == 1
    assert len(linearise.signatures) <= 1
    (signature,) = advance.signatures
    arrays = [argument for argument in signature if hasattr(argument, 'layout')]
    assert len(arrays) == 9
    assert {array.layout for array in arrays} == {'C'}
    assert {str(array.dtype) for array in arrays} == {'int64', 'float64'}
    # Numba looks at a read-only array for half a microsecond a call.
    assert all(array.mutable for array in arrays)


def copy_of_kernels(repository, folder):
    """Copy the sources that enter the digest into another package."""
    package = folder / 'ik_node' / 'kernels'
    shutil.copytree(
        repository / 'ik_node' / 'kernels', package, ignore=shutil.ignore_patterns('__pycache__')
    )
    (folder / 'ik_node' / '__init__.py').write_text('')
    return package


def cache_folder_of(folder, **environment):
    """Return the cache folder of a copy of the kernels, from a separate process."""
    result = subprocess.run(
        [sys.executable, '-c', 'from ik_node.kernels import _jit; print(_jit.cache_folder)'],
        env={**os.environ, 'PYTHONPATH': str(folder), 'NUMBA_DISABLE_JIT': '0', **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(result.stdout.strip())


@needs_compiler
@pytest.mark.parametrize(
    'source', ['rotation.py', 'solve.py', 'layout.py', 'numba_ext/vectors.py']
)
def test_edit_of_any_kernel_changes_cache_folder(repository, tmp_path, source):
    """Otherwise Numba would run stale code when the file of a callee changes."""
    package = copy_of_kernels(repository, tmp_path)
    before = cache_folder_of(tmp_path)
    assert before.parent == package / '__pycache__'
    assert cache_folder_of(tmp_path) == before
    path = package / source
    path.write_text(path.read_text() + '\n# another\n')
    assert cache_folder_of(tmp_path) != before


@needs_compiler
def test_bounds_checked_kernels_have_separate_cache(repository, tmp_path):
    """Code compiled with and without bounds checks is not mixed up."""
    copy_of_kernels(repository, tmp_path)
    plain = cache_folder_of(tmp_path, NUMBA_BOUNDSCHECK='')
    assert cache_folder_of(tmp_path, NUMBA_BOUNDSCHECK='1') != plain


@needs_compiler
def test_read_only_install_uses_cache_of_user(repository, tmp_path):
    """Where nothing can be written beside the code, the user's cache folder is used."""
    package = copy_of_kernels(repository, tmp_path)
    (package / '__pycache__').write_text('a file where the folder should be')
    found = cache_folder_of(tmp_path, XDG_CACHE_HOME=str(tmp_path / 'cache'))
    assert found.parent == tmp_path / 'cache' / 'ik_node'
    assert found.name.startswith('kernels-')


def test_two_threads_share_one_compilation(monkeypatch):
    """The second thread also gets the kernel if nothing more can be compiled."""

    class Dispatcher:
        """A slow compiler that compiles each kind once, and refuses more like Numba does."""

        def __init__(self):
            self.overloads = {}
            self.asked = 0

        def make(self, types):
            self.asked += 1
            if self.asked > 1:
                raise RuntimeError('compilation disabled')
            time.sleep(0.2)
            library = SimpleNamespace(get_pointer_to_function=lambda name: 4711)
            described = SimpleNamespace(llvm_func_name='kernel')
            self.overloads[types] = SimpleNamespace(library=library, fndesc=described)

        def __getattr__(self, name):
            return {'compile': self.make}[name]

    monkeypatch.setattr(_jit, 'compiled', True)
    monkeypatch.setattr(_jit, 'numba', SimpleNamespace(typeof=type))
    dispatcher = Dispatcher()
    with ThreadPoolExecutor(2) as threads:
        found = [threads.submit(_jit.code_address, dispatcher, (1.0,)) for _ in range(2)]
        assert [each.result() for each in found] == [4711, 4711]
