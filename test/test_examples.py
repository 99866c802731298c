"""The scripts in examples/ run unchanged and print their results."""

from pathlib import Path
import re
import subprocess
import sys

FOLDER = Path(__file__).parents[1] / 'examples'
# What one line of the output has to match.
LINE_OF = {
    '01_first_loop.py': r'CONVERGED after \d+ steps',
    '02_mechanism_from_objects.py': r'crank 1\.5 rad, rocker 1\.562 rad: CONVERGED',
    '03_partial_goals_and_priorities.py': r'gaze: .* rad',
    '04_follow_a_path.py': r'100 points, 0 not reached',
    '05_many_goals.py': r'2000 of 2000 goals reached',
    '06_control_loop.py': r'platform 0\.0\d\d um from where it is wanted',
    '07_in_the_background.py': r'CONVERGED: platform lifted by 0\.010 m',
    '08_grasp_and_release.py': r'box held again: CONVERGED',
    '09_singularities.py': r'0\.04 m up: condition number 13\.2, CONVERGED',
    '11_a_goal_of_your_own.py': r'CONVERGED after \d+ steps',
    '10_several_processes.py': r'CONVERGED after \d+ steps',
}


def test_example_runs_and_prints_its_result():
    """Each script exits with 0, writes nothing to stderr, and prints its result."""
    for name in sorted(path.name for path in FOLDER.glob('*.py')):
        script = [sys.executable, str(FOLDER / name)]
        done = subprocess.run(script, capture_output=True, text=True, timeout=300, check=False)
        assert (done.returncode, done.stderr) == (0, '')
        assert re.search(f'^{LINE_OF[name]}$', done.stdout, re.MULTILINE), done.stdout
