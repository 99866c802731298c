"""The examples in the docstrings of public names run and return what they show."""

import doctest
import inspect

import ik_node as ik
import pytest

NAMES = [name for name in ik.__all__ if callable(getattr(ik, name))]
# Errors that need a ROS plan or an executor.
WITHOUT = {'PlanError', 'EngineError'}


def examples(thing):
    """Return the doctests of a class with its methods, or of a function."""
    finder = doctest.DocTestFinder(recurse=inspect.isclass(thing))
    return [each for each in finder.find(thing) if each.examples]


@pytest.mark.parametrize('name', NAMES)
def test_examples_of_public_name_run(name):
    """Each as at a fresh prompt."""
    thing = getattr(ik, name)
    found = examples(thing)
    assert name in WITHOUT or any(each.name == thing.__name__ for each in found), 'no example'
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for each in found:
        report = []
        runner.run(each, out=report.append)
        assert not report, ''.join(report)


def test_help_explains_every_option():
    """With type, default, range and unit."""
    text = ik.SolverOptions.__doc__
    for name in ik.SolverOptions.__dataclass_fields__:
        assert f'\n    {name} : ' in text


def test_completion_shows_what_users_need():
    """Names that only other modules of the package use are left out."""
    names = [name for name in dir(ik.Solver(ik.load_robot('arm6'))) if name[0] != '_']
    assert {'solve', 'solve_pose', 'drive', 'limits', 'options', 'q'} <= set(names)
    assert not {'accept', 'task', 'lock', 'prepared_call', 'batch_work'} & set(names)
