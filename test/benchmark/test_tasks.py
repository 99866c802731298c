"""The benchmark problems have solutions and are the same for every solver."""

import numpy as np
from tasks.all_tasks import GROUPS, tasks_of
from tasks.judge import errors, limit_excess

TASKS = list(tasks_of(list(GROUPS), 8))


FORMS = [form for task in TASKS for form in task.forms.values()]


def test_every_problem_has_a_solution():
    for form in FORMS:
        worst = errors(form.mechanism, form.goals, form.targets, form.witness)
        assert worst.max() < 1e-13
        assert limit_excess(form.mechanism, form.witness).max() == 0.0


def test_starts_keep_limits_and_loops_but_miss_goals():
    for form in FORMS:
        assert limit_excess(form.mechanism, form.starts).max() == 0.0
        assert errors(form.mechanism, [], form.targets[:, :0], form.starts).max() < 1e-13
        reached = errors(form.mechanism, form.goals, form.targets, form.starts).max(axis=1)
        given = np.abs(form.starts[:, form.driven_columns] - form.driven_values)
        assert (reached + given.max(axis=1, initial=0.0) > 1e-3).all()


def test_forms_of_a_task_have_same_goals():
    for task in TASKS:
        forms = list(task.forms.values())
        for other in forms[1:]:
            np.testing.assert_allclose(other.targets, forms[0].targets, atol=1e-12)
            assert other.driven == forms[0].driven
            np.testing.assert_allclose(other.driven_values, forms[0].driven_values, atol=1e-12)
