"""
The same bits from three ways of calling the kernels, on all scenarios and truth sets.

They are (a) Numba in the process, (b) the library through Python, (c) the library through a C
program. Not collected by itself; `pytest -s test/native/drill_same_bits.py` prints the counts.
"""

import os
from pathlib import Path
import shutil
import subprocess
import sys

from ik_node import SolverOptions, Status
from ik_node.export import export_robot
from ik_node.native import build as native_build
from ik_node.native import places
from ik_node.native.levels import LEVELS, own_level
from ik_node.solver.problem.joint_table import JointTable
import numpy as np
import pytest
from support.c_programs import compile_c, run
from support.truth_sets import TRUTH_SETS
from test_scenarios import build, NAMES, scenarios
from test_truth import Known

RANDOM = 200  # problems of each truth set
SPREAD = 0.5  # of their starts around the first pose [rad or m]
HERE = Path(__file__)


def scenario_problems(name, shared):
    """Return solver, goal names, and (q0, poses) of all problems of a scenario."""
    scenario = scenarios.__wrapped__(shared)[name]
    m, order = build(scenario)
    solver = m.solver(SolverOptions())
    place = [order.index(joint) for joint in solver.joint_names]
    goals = list(scenario['problems'][0]['goals'])
    problems = [
        (
            np.array(problem['start'])[place],
            [(problem['goals'][goal]['xyz'], problem['goals'][goal]['quat']) for goal in goals],
        )
        for problem in scenario['problems']
    ]
    return solver, goals, problems


def truth_problems(name, shared):
    """Return the same for random starts and poses of a truth set."""
    known = Known(name, shared)
    rng = np.random.default_rng(20)
    entries = known.truth['poses']
    home = known.q(entries[0])
    low, high = known.robot.lower, known.robot.upper
    problems = []
    for _ in range(RANDOM):
        poses = known.goals(entries[rng.integers(len(entries))])
        start = np.clip(home + rng.uniform(-SPREAD, SPREAD, home.size), low, high)
        problems.append((start, list(poses.values())))
    return known.solver, list(poses), problems


SETS = dict.fromkeys(NAMES, scenario_problems) | dict.fromkeys(TRUTH_SETS, truth_problems)


def answers(solver, goals, problems):
    """Return status and q of every problem, (count, 1 + nq)."""
    found = []
    for q0, poses in problems:
        solution = solver.solve_pose(dict(zip(goals, poses, strict=True)), q0)
        found.append([float(solution.status), *solution.q])
    return np.array(found)


def c_answers(solver, goals, problems, folder, program):
    """Return the same from the C program."""
    (folder / 'robot.ikr').write_bytes(export_robot(solver, goals))
    rows = [
        np.concatenate([q0, *(np.ravel([pose[k] for pose in poses]) for k in (0, 1))])
        for q0, poses in problems
    ]
    np.array(rows).tofile(folder / 'problems')
    run(program, *(folder / name for name in ('robot.ikr', 'problems', 'answers')))
    found = np.fromfile(folder / 'answers').reshape(len(problems), -1)
    return np.delete(found, 1, axis=1)[:, : 1 + len(solver.joint_names)]


def equal_rows(one, other):
    """Return the number of problems with the same bits."""
    return sum(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@pytest.fixture(scope='module')
def numba_answers(shared, tmp_path_factory):
    """Return the answers of a process that compiles the kernels for itself."""
    path = tmp_path_factory.mktemp('numba') / 'answers.npz'
    here = HERE.parents[2]
    environment = {
        **os.environ,
        'IK_NODE_KERNELS': 'numba',
        'NUMBA_CPU_NAME': LEVELS[own_level()].cpu,
        'NUMBA_CPU_FEATURES': LEVELS[own_level()].features,
        'PYTHONPATH': os.pathsep.join((str(here), str(here / 'test'))),
    }
    subprocess.run(
        [sys.executable, str(HERE), str(shared), str(path)], check=True, env=environment
    )
    return np.load(path)


def test_numba_library_and_c_program_give_the_same_bits(shared, numba_answers, tmp_path):
    """Status and configuration of every problem."""
    program = compile_c('solve_file', tmp_path)
    print(f'\n{"set":<24} {"problems":>8} {"converged":>9} {"numba":>6} {"C":>6}')
    differing = 0
    for name, problems_of in SETS.items():
        given = problems_of(name, shared)
        expected = answers(*given)
        equal = (
            equal_rows(expected, numba_answers[name]),
            equal_rows(expected, c_answers(*given, tmp_path, program)),
        )
        count, converged = len(expected), int((expected[:, 0] == 0.0).sum())
        print(f'{name:<24} {count:>8} {converged:>9} {equal[0]:>6} {equal[1]:>6}')
        differing += 2 * count - sum(equal)
    assert differing == 0


@pytest.fixture(scope='module')
def aarch64_program(tmp_path_factory):
    """Return a script that runs the C program for aarch64, with the library for it, in qemu."""
    gcc, qemu = 'aarch64-linux-gnu-gcc', 'qemu-aarch64'
    if not (shutil.which(gcc) and shutil.which(qemu)):
        pytest.skip(f'needs {gcc} and {qemu} (gcc-aarch64-linux-gnu, qemu-user)')
    folder = tmp_path_factory.mktemp('aarch64')
    made = native_build.build(('aarch64',), folder)
    flags = ('-std=c11', '-O1', f'-I{places.HERE.parents[1] / "include"}')
    linked = (str(made / places.LIBRARY), f'-Wl,-rpath,{made}', '-lm')
    source = str(HERE.parent / 'solve_file.c')
    subprocess.run([gcc, *flags, source, *linked, '-o', str(folder / 'program')], check=True)
    script = folder / 'run'
    script.write_text(f'#!/bin/sh\nexec {qemu} -L /usr/aarch64-linux-gnu {folder}/program "$@"\n')
    script.chmod(0o755)
    return script


def is_isolated(solver, goals, answer):
    """Return True if no other configuration near an answer meets the goals as well."""
    if answer[0] != Status.CONVERGED:
        return False
    packed, table = solver.options.packed(), JointTable(solver.tree).rows
    for chain in solver.problem_for(tuple(goals)).chains:
        _, jacobian, _ = chain.linearise_by_size(answer[1:].copy(), table, packed)
        values = np.linalg.svd(jacobian, compute_uv=False)
        if np.sum(values > 1e-3 * values.max(initial=0.0)) < jacobian.shape[1]:
            return False
    return True


def test_aarch64_gives_the_same_statuses_and_isolated_solutions(shared, aarch64_program, tmp_path):
    """Products and sums are rounded in one or in two there, so other bits are allowed."""
    print(f'\n{"set":<24} {"problems":>8} {"statuses":>9} {"isolated":>9} {"1e-9":>6}')
    differing = 0
    for name, problems_of in SETS.items():
        given = problems_of(name, shared)
        expected = answers(*given)
        found = c_answers(*given, tmp_path, aarch64_program)
        statuses = int((expected[:, 0] == found[:, 0]).sum())
        rows = [at for at, row in enumerate(expected) if is_isolated(*given[:2], row)]
        near = np.abs(expected[rows, 1:] - found[rows, 1:]).max(axis=1, initial=0.0) <= 1e-9
        count = len(expected)
        print(f'{name:<24} {count:>8} {statuses:>9} {len(rows):>9} {int(near.sum()):>6}')
        differing += count - statuses + len(rows) - int(near.sum())
    assert differing == 0


if __name__ == '__main__':
    folder = Path(sys.argv[1])
    np.savez(sys.argv[2], **{n: answers(*make(n, folder)) for n, make in SETS.items()})
