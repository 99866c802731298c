"""The library of compiled kernels: which one is used, how it is called, and what it answers."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import shutil
import subprocess
import sys

from ik_node.native import build, library, places
from ik_node.native.bound import bind, BoundKernels
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

needs_library = pytest.mark.skipif(
    library.library().path is None, reason='kernels are not compiled'
)

# Solves a few mechanisms and prints every answer to seventeen digits.
PROGRAM = """
import sys, warnings
from pathlib import Path
{prelude}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    from ik_node.native import is_compiled
    from support.mechanisms import MECHANISMS
    from ik_node.solver.options import SolverOptions
    print('compiled', is_compiled())
warnings.simplefilter('error')  # plain Python must not warn of what compiled code does in silence
ours = [w for w in caught if 'plain Python' in str(w.message)]
print('warnings', len(ours), *[w.category.__name__ for w in ours])
print('loaded', *[name for name in ('numba', 'llvmlite') if sys.modules.get(name)])
print(*[w.message for w in ours], end='\\n' if ours else '')
for name in {names!r}:
    m = MECHANISMS[name]()
    solver = m.solver(SolverOptions(restarts=1, max_iterations=30))
    for shift in (0.02, 2.0):
        poses = {{n: m.pose_of(g.child.name) for n, g in m.goals.items()}}
        goals = {{n: (p + (shift, -0.5 * shift, 0.01), r) for n, (p, r) in poses.items()}}
        solution = solver.solve_pose(goals)
        print(name, solution.status.name, *[repr(float(v)) for v in solution.q])
        many = {{n: ([p, p + 0.01], [r, r]) for n, (p, r) in goals.items()}}
        for each in (solver.solve_batch(many), solver.solve_path(many)):
            for point in each:
                print(name, point.status.name, *[repr(float(v)) for v in point.q])
"""


NAMES = ('arm6', 'fourbar', 'coupled', 'ball', 'universal_and_distance', 'planar')


def run(repository, prelude='', names=NAMES, **environment):
    """Run the program in a separate process; return its lines."""
    environment = {'IK_NODE_KERNELS': '', **environment}
    result = subprocess.run(
        [sys.executable, '-c', PROGRAM.format(prelude=prelude, names=names)],
        env={**os.environ, 'PYTHONPATH': f'{repository}:{repository / "test"}', **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.fixture(scope='module')
def compiled_answers(repository):
    """Return the answers of the library, from a process that imports neither Numba nor LLVM."""
    lines = run(repository)
    assert lines[:3] == ['compiled True', 'warnings 0', 'loaded']
    return lines[3:]


def same_answers(found, wanted):
    """Compare two lists of answers: statuses exactly, values to 1e-9."""
    assert found
    for one, other in zip(found, wanted, strict=True):
        one, other = one.split(), other.split()
        assert one[:2] == other[:2]
        np.testing.assert_allclose(
            [float(v) for v in one[2:]], [float(v) for v in other[2:]], atol=1e-9, err_msg=one[0]
        )


@needs_library
def test_plain_python_gives_same_answers_without_warning(repository, compiled_answers):
    """IK_NODE_KERNELS=python selects it, for single solves, batches and paths."""
    lines = run(repository, IK_NODE_KERNELS='python')
    assert lines[:3] == ['compiled False', 'warnings 0', 'loaded']
    same_answers(lines[3:], compiled_answers)


# No library is found, and one is built in an empty folder.
NO_LIBRARY = """
from ik_node.native import library, places
places.roots = library.roots = lambda: (Path({folder!r}) / 'a', Path({folder!r}) / 'b')
"""


@needs_library
@pytest.mark.parametrize(
    ('missing', 'environment', 'words'),
    [
        ("sys.modules['numba'] = None", {}, 'pip install numba'),
        ("sys.modules['ziglang'] = None", {'PATH': '', 'CC': ''}, 'no C compiler'),
    ],
)
def test_missing_tool_means_plain_python_and_one_warning(
    repository, compiled_answers, tmp_path, missing, environment, words
):
    """Where a library can neither be found nor built, the warning says what to install."""
    said = f'{NO_LIBRARY.format(folder=str(tmp_path))}\n{missing}\n'
    lines = run(repository, said, NAMES[1:2], **environment)
    assert lines[:3] == ['compiled False', 'warnings 1 RuntimeWarning', 'loaded']
    assert words in lines[3]
    same_answers(lines[4:], [line for line in compiled_answers if line.split()[0] == NAMES[1]])


def chain_of(name):
    """Return the chain, a start, the table of joints and the options of a mechanism's solve."""
    m = MECHANISMS[name]()
    solver = m.solver(SolverOptions(restarts=1, max_iterations=30))
    problem = solver.problem_for(tuple(m.goals))
    problem.refresh(solver.options)
    return problem.chains[0], solver.q, JointTable(solver.tree).rows, solver.options.packed()


@needs_library
@pytest.mark.parametrize('name', ['arm6', 'hexapod', 'coupled', 'fivebar'])
def test_every_way_to_call_library_gives_same_bits(name):
    """`call.c` and ctypes."""
    chain, start, joints, packed = chain_of(name)
    answers = []
    for kind in ('compiled', 'ctypes'):
        arrays = [array.copy() for array in chain.arrays]
        way = (
            bind(*arrays)
            if kind == 'compiled'
            else BoundKernels(library.library().functions, tuple(arrays))
        )
        q = start + 0.05
        statuses = [way.advance(q, joints, packed, *TABLE_POSES, 0, -3)]
        while statuses[-1] < 0 or statuses[-1] > 4:
            statuses.append(way.advance(q, joints, packed, *TABLE_POSES, 0, 3))
        way.linearise(q, joints, packed)
        way.external_step(q, joints, packed)
        out, speeds = np.zeros((2, len(q))), np.ones(len(q))
        twists = np.zeros((len(chain.names.constraints), 6))
        twists[-1] = 0.5
        statuses.append(way.velocity(q, joints, packed, speeds, twists, out, 0.1))
        assert out[0].any()
        answers.append((statuses, *(array.tobytes() for array in (q, out, *arrays))))
    assert answers[0] == answers[1]


def test_argument_that_is_no_plain_array_is_refused():
    """With a TypeError, and without a change of the workspace."""
    for way in ['library', 'python']:
        for change in [
            lambda a: {**a, 'q': a['q'][:-1]},
            lambda a: {**a, 'q': a['q'][None]},
            lambda a: {**a, 'q': a['q'].astype('f4')},
            lambda a: {**a, 'q': np.repeat(a['q'], 2)[::2]},
            lambda a: {**a, 'joints': a['joints'][:, :-1]},
            lambda a: {**a, 'options': a['options'][:-1]},
            lambda a: {**a, 'positions': np.zeros((2, 3))},
            lambda a: {**a, 'positions': np.zeros((1, 4))},
            lambda a: {**a, 'positions': 'abc'},
            lambda a: {**a, 'positions': ((0.0, 'x', 0.0),)},
            lambda a: {**a, 'positions': np.zeros((1, 3), '>f8')},
            lambda a: {**a, 'positions': np.ma.zeros((1, 3))},
            lambda a: {**a, 'quats_xyzw': None},
        ]:
            chain, start, joints, packed = chain_of('arm6')
            arrays = [array.copy() for array in chain.arrays]
            functions = library.library().functions
            called = bind(*arrays) if way == 'library' else BoundKernels(functions, tuple(arrays))
            given = {
                'q': start,
                'joints': joints,
                'options': packed,
                'positions': np.zeros((1, 3)),
                'quats_xyzw': np.array([[0.0, 0.0, 0.0, 1.0]]),
            }
            before = [array.tobytes() for array in arrays]
            with pytest.raises(TypeError):
                called.advance(*change(given).values(), 1, -10)
            assert [array.tobytes() for array in arrays] == before


@needs_library
def test_rows_in_any_container_give_same_bits():
    """Tuples, lists, mixed ones, arrays with strides, transposed and unaligned ones."""
    m = MECHANISMS['two_arms']()
    solver = m.solver(SolverOptions(restarts=0))
    names = tuple(m.goals)
    poses = [m.pose_of(goal.child.name) for goal in m.goals.values()]
    positions = np.array([p for p, _ in poses]) + 0.01
    quats = np.array([q for _, q in poses])
    chains = [c for c in solver.problem_for(names).chains if c.names.goals]
    chain, goals = chains[0], [names.index(name) for _, name in chains[0].names.goals]
    positions, quats = positions[goals], quats[goals]
    unaligned = np.frombuffer(b'x' + positions.tobytes(), np.uint8)[1:].view(np.float64)
    wide = np.zeros((len(goals), 8))
    wide[:, :6:2], wide[:, 3] = positions, 7.0
    table, packed = JointTable(solver.tree).rows, solver.options.packed()
    answers = set()
    for given in (
        positions,
        tuple(map(tuple, positions.tolist())),
        positions.tolist(),
        list(positions),
        wide[:, :6:2],
        np.asfortranarray(positions),
        unaligned.reshape(positions.shape),
    ):
        arrays = [array.copy() for array in chain.arrays]
        q = solver.q
        status = bind(*arrays).advance(q, table, packed, given, quats, len(goals), -500)
        answers.add((status, q.tobytes()))
    assert len(answers) == 1


def copy_of_sources(repository, folder):
    """Copy the sources that enter the digest into another package."""
    package = folder / 'ik_node'
    for name in ('kernels', 'native'):
        shutil.copytree(
            repository / 'ik_node' / name,
            package / name,
            ignore=shutil.ignore_patterns('__pycache__', 'lib'),
        )
    (package / '__init__.py').write_text('')
    shutil.copy(repository / 'ik_node' / 'errors.py', package)
    return package


def printed(folder, code, **environment):
    """Return what code prints that uses the copied package."""
    result = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, 'PYTHONPATH': str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.strip()


@pytest.mark.parametrize('source', ['kernels/numba_ext/vectors.py', 'native/call.c'])
def test_library_of_other_sources_is_not_used(repository, tmp_path, source):
    """An edit of any source changes the folder in which the library is looked for."""
    package = copy_of_sources(repository, tmp_path)
    ask = 'from ik_node.native.places import digest; print(digest())'
    ask_kernels = ask.replace('digest', 'kernels_digest')
    before, kernels = printed(tmp_path, ask), printed(tmp_path, ask_kernels)
    assert printed(tmp_path, ask) == before == places.digest()
    assert printed(tmp_path, ask, IK_NODE_CHECK_BOUNDS='1') != before
    with (package / source).open('a') as file:
        file.write('\n')
    assert printed(tmp_path, ask) != before
    # After an edit of a C source no kernel is compiled.
    assert (printed(tmp_path, ask_kernels) == kernels) == source.endswith('.c')


@needs_library
def test_library_with_another_digest_is_not_opened(tmp_path):
    """A file that was copied to the wrong folder."""
    content = library.library().path.read_bytes()
    wrong = content.replace(places.digest().encode(), b'0' * 16)
    assert wrong != content
    (tmp_path / places.LIBRARY).write_bytes(content)
    assert library._opened(tmp_path) is not None
    other = tmp_path / 'other'
    other.mkdir()
    (other / places.LIBRARY).write_bytes(wrong)
    assert library._opened(other) is None


@pytest.mark.parametrize('content', [None, b'', b'\x7fELF and no more'])
def test_file_that_is_no_library_is_passed_over(tmp_path, content):
    """A build that was interrupted, or a file for another processor."""
    if content is not None:
        (tmp_path / places.LIBRARY).write_bytes(content)
    assert library._opened(tmp_path) is None


def test_install_without_write_access_builds_in_cache_of_user(monkeypatch, tmp_path):
    """Where nothing can be written beside the code."""
    blocked = tmp_path / 'file where the folder should be'
    blocked.write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.setattr(places, 'HERE', blocked)
    assert build.writable_root() == tmp_path / 'cache' / 'ik_node'
    assert (tmp_path / 'cache').stat().st_mode & 0o777 == 0o700


@pytest.fixture
def cached(monkeypatch, tmp_path):
    """Return the library of this process in a cache of its own, with nothing beside the code."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    folder = tmp_path / 'cache' / 'ik_node' / places.digest()
    folder.mkdir(parents=True, mode=0o755)
    for each in (folder.parent, folder.parent.parent):
        each.chmod(0o755)
    path = shutil.copy(library.library().path, folder)
    monkeypatch.setattr(places, 'HERE', tmp_path / 'no such folder')
    return Path(path)


def test_library_in_cache_of_user_is_loaded(cached):
    """Its folders and the file itself belong to the user, and nobody else can write to them."""
    cached.chmod(0o755)
    assert places.why_untrusted(cached) == ''
    assert library._load().path == cached


def refuse(*_):
    """Stand for a build that fails."""
    raise build.BuildError('not built here')


@pytest.mark.parametrize('shared', ['libik_node.so', 'its folder', 'ik_node', 'cache'])
def test_library_that_others_can_write_to_is_not_loaded(monkeypatch, cached, shared):
    """Neither a file that others can change nor one that they can replace runs in a process."""
    cached.chmod(0o755)
    at = ['libik_node.so', 'its folder', 'ik_node', 'cache'].index(shared)
    (cached, *cached.parents)[at].chmod(0o777)
    monkeypatch.setattr(build, '_compile', refuse)
    with pytest.warns(RuntimeWarning, match='plain Python'):
        assert library._load().path is None


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can give a file away')
def test_library_of_another_user_is_not_loaded(cached):
    """A file planted by another user does not run, even if only that user can write to it."""
    cached.chmod(0o755)
    os.chown(cached, 1234, -1)
    assert '1234' in places.why_untrusted(cached)


class SlowBuild:
    """A compilation that takes a while and is counted."""

    def __init__(self, monkeypatch):
        self.count = 0
        monkeypatch.setattr(build, '_compile', self.take_a_while)
        monkeypatch.setattr(build, '_link', self.link)

    def take_a_while(self, levels, folder, say):
        import time

        self.count += 1
        time.sleep(0.2)

    def link(self, compiler, levels, objects, folder):
        """Write a file in place of a library."""
        (folder / places.LIBRARY).write_text(' '.join(levels))


def test_two_processes_share_one_build(monkeypatch, tmp_path):
    """The second one waits for the first and uses its library."""
    slow = SlowBuild(monkeypatch)
    with ThreadPoolExecutor(3) as threads:
        folders = {each.result() for each in [threads.submit(build.build, (), tmp_path)] * 3}
        folders |= {threads.submit(build.build, (), tmp_path).result() for _ in range(2)}
    assert folders == {tmp_path / places.digest()}
    assert slow.count == 1
    assert not list(tmp_path.glob('.building*')), 'nothing is left over'


def test_targets_stand_for_levels_and_unknown_ones_are_refused():
    """Each kind of processor has a library of its own."""
    (one,) = build.libraries_of(None)
    assert one == ((), None)
    found = build.libraries_of(['x86_64', 'aarch64'], Path('made'))
    assert [levels for levels, _ in found] == [
        ('x86_64_v4', 'x86_64_v3', 'x86_64_v2'),
        ('aarch64',),
    ]
    folders = {str(folder) for _, folder in found}
    assert len(folders) == 2
    with pytest.raises(build.OptionError, match=r"target: 'z80' cannot be used.*x86_64"):
        build.libraries_of(['z80'])
