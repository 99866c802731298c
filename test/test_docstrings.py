"""The examples in the docstrings of public names run and return what they show."""

import doctest
from functools import cached_property
from importlib import import_module
import inspect
import re

import ik_node as ik

from tools.documentation.api import GROUPS

# Errors that need a ROS plan or an executor.
WITHOUT = {'PlanError', 'EngineError'}
# Names without a page in the reference.
MORE = ('cli.check.Check', 'scene.IKRootsHelper', 'scene.mesh_of', 'scene.plot_shapes')


def thing_of(name):
    """Return the class, function or value with a name of the reference."""
    module, _, last = name.rpartition('.')
    return getattr(import_module(f'ik_node.{module}') if module else ik, last)


def package_classes(cls):
    """Return a class and the classes of the package that it derives from."""
    return [each for each in cls.__mro__ if each.__module__.startswith('ik_node')]


NAMES = [name for group in GROUPS.values() for name in group if callable(thing_of(name))]
CLASSES = [name for name in NAMES if inspect.isclass(thing_of(name))]
NAMES += MORE


def examples(thing):
    """Return the doctests of a class with its methods, or of a function."""
    finder = doctest.DocTestFinder(recurse=inspect.isclass(thing))
    parts = package_classes(thing) if inspect.isclass(thing) else [thing]
    return [each for part in parts for each in finder.find(part) if each.examples]


RAN = set()


def test_examples_of_public_name_run():
    """Each as at a fresh prompt."""
    for name in NAMES:
        thing = thing_of(name)
        found = examples(thing)
        assert name in WITHOUT or any(each.name == thing.__name__ for each in found), 'no example'
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        for each in found:
            if (
                each.filename,
                each.lineno,
            ) in RAN:  # inherited from a class that was tested before
                continue
            RAN.add((each.filename, each.lineno))
            each.globs = {}
            report = []
            runner.run(each, out=report.append)
            assert not report, ''.join(report)


def test_examples_show_every_method_and_property():
    """A method with a longer docstring has an example of its own."""
    missing = {name: members_without_example(thing_of(name)) for name in CLASSES}
    assert {name: members for name, members in missing.items() if members} == {}


def members_without_example(cls):
    """Return the names of public methods and properties that no example of a class uses."""
    shown = '\n'.join(line.source for each in examples(cls) for line in each.examples)
    missing = set()
    for member in {member for part in package_classes(cls) for member in vars(part)}:
        value = inspect.getattr_static(cls, member)
        function = getattr(value, '__func__', value)
        if member[0] == '_' or member in getattr(cls, '_internal', ()):
            continue
        if not (inspect.isfunction(function) or isinstance(value, (property, cached_property))):
            continue
        own = inspect.isfunction(function) and len(inspect.signature(function).parameters) > 1
        if own and '\n' in function.__doc__:
            missing |= set() if '>>>' in function.__doc__ else {member}
        else:
            missing |= {member} - {*re.findall(r'\.(\w+)', shown)}
    return missing


def test_completion_shows_what_users_need():
    """Names that only other modules of the package use are left out."""
    robot = ik.load_robot('arm6')
    names = [name for name in dir(ik.Solver(robot)) if name[0] != '_']
    assert {'solve', 'solve_pose', 'drive', 'limits', 'options', 'q'} <= set(names)
    assert not {'accept', 'task', 'lock', 'arrays_for', 'batch_work'} & set(names)
    names = dir(robot.joints['j1'])
    assert {'set_dof_value', 'set_limits', 'lock', 'couple', 'matrix_world'} <= set(names)
    assert not {'describe_value', 'partners', 'revision', 'matrix_dof_needs_update'} & set(names)
    assert 'add_child' not in dir(robot.add_goal('tool_link'))
    assert not {'bit_count', 'numerator'} & set(dir(robot.mobility))
