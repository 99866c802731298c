"""
Change the code at random and report changes that no test detects.

Run it as `tools/run python tools/mutants.py`.

cosmic-ray says what can be changed (operators, comparisons, numbers, conditions, decorators ...);
a random sample of it is tried in a copy of the checkout, each change against the tests of its
folder, and if they pass, against more of the tests. Changes of kernels are tried with the kernels
as plain Python. A change that no test notices is printed: it shows either a test that is missing
or code that makes no difference.
"""

from __future__ import annotations

import argparse
import difflib
import os
from pathlib import Path
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / '.venvs' / 'mutants'
# The tests of each folder: those that need no node in a process of its own and no compiler.
TESTS = {
    'model': ['test/model'],
    'kernels': [
        'test/kernels',
        'test/solver/test_statuses.py',
        'test/solver/test_targets_and_priorities.py',
        'test/solver/test_limits.py',
        'test/solver/test_partial_goals.py',
    ],
    'analysis': ['test/analysis', 'test/cli/test_check_wrong_parts.py'],
    'transmission': ['test/transmission'],
    'motion': ['test/motion', 'test/cli/test_motion.py'],
    'solver': [
        'test/solver',
        '--ignore=test/solver/test_edits.py',
        '--ignore=test/solver/background/test_async_thread.py',
        '--ignore=test/solver/test_driven_parallel.py',
    ],
    'ros': ['test/ros', 'test/ros_client', '-m', 'not ros'],
}
# More tests of a folder or file, if these pass. As plain Python, whole solves take minutes.
MORE_TESTS = {
    'model': ['test/solver', 'test/description', 'test/test_prompt.py', *TESTS['solver'][1:]],
    'kernels/batch.py': ['test/solver/batch/test_batch.py'],
    'kernels/best_effort.py': ['test/solver/test_unreachable.py', 'test/solver/test_traps.py'],
    'kernels/external_step.py': ['test/solver/methods/test_through_solver.py'],
    'kernels/links.py': ['test/native/test_c_kinematics.py', '-k', 'plain_python'],
    'kernels/lm_step.py': ['test/solver/test_unreachable.py', 'test/solver/test_rounding.py'],
    'kernels/out_of_reach.py': ['test/solver/test_unreachable.py'],
    'kernels/path.py': ['test/solver/batch/test_path.py', 'test/solver/batch/test_paths.py'],
    'kernels/redundant.py': ['test/solver/test_rounding.py', 'test/solver/problem'],
    'kernels/start.py': [
        'test/solver/test_traps.py',
        'test/solver/test_targets_and_priorities.py',
    ],
    'kernels/transmit.py': ['test/transmission'],
    'kernels/velocity.py': ['test/solver/test_velocity.py'],
    'kernels': ['test/solver/test_goal_kinds.py', 'test/solver/test_closed_form.py'],
    'solver': ['test/cli', 'test/analysis', 'test/gallery', 'test/test_robot.py'],
    'analysis': ['test/cli/test_check.py', 'test/test_robot.py'],
    'motion': ['test/benchmark/test_human_motion.py'],
    'transmission': ['test/cli/test_transmission.py', 'test/ros/plans'],
    'ros': ['test/ros'],
}
# Lines that no test is to notice: types and what is said to people.
PASSED_OVER = ('from ', 'import ', '@', '"""', 'if TYPE_CHECKING')
TYPES = re.compile(r'(: |-> )[^=(]*\|')


def inside() -> None:
    """Restart with the Python that has cosmic-ray, after installing it once."""
    python = VENV / 'bin' / 'python'
    if not (VENV / 'ready').exists():
        print(f'Installing cosmic-ray into {VENV.relative_to(ROOT)} (once) ...', flush=True)
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, '-m', 'venv', str(VENV)], check=True)
        subprocess.run([str(python), '-m', 'pip', 'install', '-q', 'cosmic-ray'], check=True)
        (VENV / 'ready').touch()
    environment = {**os.environ, 'MUTANTS_PYTHON': sys.executable}
    os.execve(python, [str(python), *sys.argv], environment)


def places(path: Path) -> list[tuple[str, int, int]]:
    """Return operator, occurrence and line of every possible change in a file."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.plugins import get_operator, operator_names

    tree, lines, found = get_ast_from_path(path), path.read_text().splitlines(), []
    for name in operator_names():
        if get_operator(name).arguments():
            continue  # those that must be told what to put in
        operator = get_operator(name)()
        at = [
            begin[0] for node in ast_nodes(tree) for begin, _ in operator.mutation_positions(node)
        ]
        found += [
            (name, occurrence, line)
            for occurrence, line in enumerate(at)
            if not lines[line - 1].lstrip().startswith(PASSED_OVER)
            and not ('BitOr' in name and TYPES.search(lines[line - 1]))
            and not ('TrueWithFalse' in name and 'strict=True' in lines[line - 1])
        ]
    return found


def run_tests(copy: Path, tests: list[str], timeout: float, *, compiled: bool) -> str:
    """Return 'survived', 'killed' or 'timeout'."""
    command = [os.environ['MUTANTS_PYTHON'], '-m', 'pytest', '-x', '-q', '-n', '0']
    command += ['-p', 'no:cacheprovider', *tests]
    environment = {**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'}
    if not compiled:
        environment['IK_NODE_KERNELS'] = 'python'
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, timeout=timeout,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 'timeout'
    if done.returncode not in (0, 1, 2):
        print(done.stdout[-2000:], file=sys.stderr)
    return 'killed' if done.returncode else 'survived'


def more_tests(path: Path) -> list[str]:
    """Return the tests of the file, or of the folder it is in, that are tried last."""
    own = [key for key in MORE_TESTS if path.as_posix().startswith(key)]
    return MORE_TESTS[max(own, key=len)]


class Trial:
    """A copy of the checkout in which one file at a time is changed."""

    def __init__(self, copy: Path, *, compiled: bool) -> None:
        self._copy, self._compiled = copy, compiled
        self._patience: dict[str, float] = {}

    def of(self, path: Path, text: str, tests: list[str]) -> str:
        """Return how the tests end with another text of a file; see `run_tests`."""
        key = ' '.join(tests)
        if key not in self._patience:
            begin = time.monotonic()
            if run_tests(self._copy, tests, 3600.0, compiled=self._compiled) != 'survived':
                raise SystemExit(f'mutants: {key} fail without any change')
            self._patience[key] = 60.0 + 5.0 * (time.monotonic() - begin)
        # Those named after the file first: they mostly notice, and the others need not run.
        own = [
            str(test)
            for folder in tests
            for test in sorted((self._copy / folder).glob(f'**/test_{path.stem}.py'))
        ]
        before, patience = path.read_text(), self._patience[key]
        path.write_text(text)
        outcome = run_tests(self._copy, [*own, *tests], patience, compiled=self._compiled)
        path.write_text(before)
        return outcome


def changed_lines(before: str, after: str) -> str:
    """Return the changed lines in the format of a patch."""
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm='', n=0)
    return '\n'.join(f'    {row}' for row in rows if row[:3] not in ('---', '+++', '@@ '))


def try_part(copy: Path, part: str, tests: list[str], args: argparse.Namespace) -> list[str]:
    """Try some changes of a folder or file; return their results."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    trial = Trial(copy, compiled=not part.startswith('kernels'))
    place = copy / 'ik_node' / part
    # What is for Numba alone does nothing in plain Python.
    paths = [path for path in sorted(place.rglob('*.py')) if 'numba_ext' not in path.parts]
    paths = paths if place.is_dir() else [place]
    sources = {path: path.read_text() for path in paths}
    everything = [(path, *change) for path in paths for change in places(path)]
    sample = random.Random(args.seed).sample(everything, min(args.count, len(everything)))
    print(f'{part}: {len(sample)} of {len(everything)} changes', flush=True)
    outcomes = []
    for path, name, occurrence, line in sample:
        if time.monotonic() > args.ends:
            break
        after = mutate_code(sources[path], get_operator(name)(), occurrence)
        if after is None or after == sources[path]:
            continue
        outcome = trial.of(path, after, tests)
        if outcome == 'survived' and not args.tests:
            outcome = trial.of(path, after, more_tests(path.relative_to(copy / 'ik_node')))
        outcomes.append(outcome)
        where = f'{path.relative_to(copy)}:{line}'
        print(f'  {outcome:8} {where}  {name.removeprefix("core/")}', flush=True)
        if outcome == 'survived':
            print(changed_lines(sources[path], after), flush=True)
    return outcomes


def main() -> int:
    """Print the result of each change, and the score of each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        'parts',
        nargs='*',
        default=list(TESTS),
        help='folders and files of ik_node; all: %(default)s',
    )
    parser.add_argument('--tests', nargs='+', help='other tests than those of the folder')
    parser.add_argument('--count', type=int, default=25, help='changes for each part')
    parser.add_argument('--seed', type=int, default=0, help='which of them')
    parser.add_argument('--minutes', type=float, default=1e6, help='for all parts together')
    args = parser.parse_args()
    for part in args.parts:
        if part.partition('/')[0] not in TESTS or not (ROOT / 'ik_node' / part).exists():
            parser.error(f'{part!r} is none of {" ".join(TESTS)}, and no file in them')
    if Path(sys.prefix).resolve() != VENV.resolve():
        inside()
    args.ends = time.monotonic() + 60.0 * args.minutes
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / 'checkout'
        files = subprocess.run(
            ['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, files.stdout.split('\0')):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
        library = Path('ik_node', 'native', 'lib')
        shutil.copytree(ROOT / library, copy / library, dirs_exist_ok=True)
        for part in args.parts:
            tests = args.tests or TESTS[part.partition('/')[0]]
            got = try_part(copy, part, tests, args)
            alive = got.count('survived')
            rows.append(f'{part:20} {len(got):5} {len(got) - alive:8} {alive:9}')
            if got:
                rows[-1] += f' {100.0 * (len(got) - alive) / len(got):7.0f} %'
    print('                     tried  noticed  survived   score', *rows, sep='\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
