"""Every option is checked by type and range, and the error lists the allowed values."""

from dataclasses import fields, FrozenInstanceError, replace
import math

from ik_node.errors import OptionError
from ik_node.robot import load_robot
from ik_node.solver import Solver
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest

FIELDS = {entry.name: entry for entry in fields(SolverOptions)}
WORDS = [n for n, e in FIELDS.items() if isinstance(e.default, str)]
TRUTHS = [n for n, e in FIELDS.items() if isinstance(e.default, bool)]
NUMBERS = [n for n in FIELDS if n not in (*WORDS, *TRUTHS, 'comfort', 'avoid_collisions')]
FLOATS = [n for n in NUMBERS if isinstance(FIELDS[n].default, float)]
COUNTS = [n for n in NUMBERS if n not in FLOATS]


def refused(name, value):
    """Verify that a value is refused with name, value and allowed values."""
    with pytest.raises(OptionError) as caught:
        SolverOptions(**{name: value})
    assert caught.value.name == name
    assert str(caught.value).startswith(f'{name}: {value!r} cannot be used; use ')
    return caught.value.allowed


def test_number_outside_its_range_is_refused():
    """Minimum and maximum themselves are accepted."""
    for name in NUMBERS:
        low, high = FIELDS[name].metadata['range']
        below = low - 1 if name in COUNTS else math.nextafter(low, -math.inf)
        assert f'from {low:g} to {high:g}' in refused(name, below)
        if math.isfinite(high):
            refused(name, int(high) + 1 if name in COUNTS else math.nextafter(high, math.inf))
        for end in (low, high):
            SolverOptions(**{name: int(end) if name in COUNTS else end})


def test_value_of_wrong_type_is_refused():
    """Only `comfort` and `avoid_collisions` may be None."""
    for value in ['3', None, (1, 2), math.nan, 1j]:
        for name in FIELDS:
            if name in ('comfort', 'avoid_collisions') and value is None:
                assert getattr(SolverOptions(**{name: None}), name) is None
            else:
                refused(name, value)


def test_unknown_word_error_lists_allowed_words():
    """A word that is not allowed is answered with those that are."""
    for name in WORDS:
        words = FIELDS[name].metadata['allowed']
        assert refused(name, 'guess') == ' or '.join(words)
        assert refused(name, words[0].upper()) == ' or '.join(words)
        for word in words:
            assert getattr(SolverOptions(**{name: word}), name) == word


def test_options_are_frozen_and_replaced_copy_is_checked():
    """A changed copy is checked as well."""
    options = SolverOptions()
    with pytest.raises(FrozenInstanceError, match=r'replace\(solver.options, seed=3\)'):
        options.seed = 3
    assert replace(options, seed=3).seed == 3
    assert replace(options, method='ccd').method == 'ccd'
    assert hash(replace(options, seed=3)) == hash(SolverOptions(seed=3))
    assert replace(options, seed=3) != options
    with pytest.raises(OptionError, match='seed'):
        replace(options, seed=-1)


def test_unknown_option_names_a_similar_one():
    """Given to the constructor, to `replace`, or assigned."""
    for use in (
        lambda: SolverOptions(max_iteration=5),
        lambda: replace(SolverOptions(), max_iteration=5),
        lambda: setattr(SolverOptions(), 'max_iteration', 5),
    ):
        with pytest.raises(OptionError, match="use 'max_iterations'"):
            use()


def test_every_option_documents_unit_range_and_meaning():
    """Its default is allowed."""
    for field in FIELDS.values():
        metadata, default = field.metadata, field.default
        assert set(metadata) == {'unit', 'range', 'doc', 'allowed', 'parameter'}
        assert len(metadata['doc']) > 10
        # The node has parameters of its own for collisions.
        own = field.name in ('collision_margin', 'cycle_time', 'influence_distance')
        assert metadata['parameter'] == (default is not None and not own)
        low, high = metadata['range']
        assert default in metadata['allowed'] or default is None or low <= default <= high


@pytest.mark.parametrize(('name', 'method'), [('hexapod', 'dls'), ('arm6', 'slsqp')])
def test_rows_with_factor_zero_do_not_count_but_loops_close(name, method):
    """The JavaScript library allows it; a goal's position counts alone."""
    robot = load_robot(name)
    solver = Solver(robot, SolverOptions(rotation_factor=0, method=method, max_iterations=500))
    link = list(robot.links)[-1] if name == 'arm6' else 'platform_link'
    position = np.add(robot.links[link].get_world_position(), (0.005, 0.0, 0.003))
    solution = solver.solve_pose({link: (position, (1.0, 0.0, 0.0, 0.0))})
    assert solution.converged
    assert solution.goal_errors[link].position < 1e-6
    for error in solution.closure_errors.values():
        assert max(error) < 1e-6
