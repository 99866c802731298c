"""What a node says of its chains, read back."""

from types import SimpleNamespace

from ik_node.ros_client.status_reports import released_of, reports_of
import pytest


def message(text, **values):
    """Return a DiagnosticArray-shaped message with one status."""
    pairs = [SimpleNamespace(key=key, value=value) for key, value in values.items()]
    status = SimpleNamespace(name='ik_node: hand, foot', message=text, values=pairs)
    return SimpleNamespace(status=[status])


def test_report_has_residuals_by_name():
    """Names of goals and closures may contain dots."""
    values = {
        'iterations': '7',
        'solve_time': '0.00125',
        'goal.hand.position': '0.002',
        'goal.hand.orientation': '0.5',
        'closure.a.position.position': '1e-9',
        'closure.a.position.orientation': '2e-9',
        'active_limits': 'knee',
    }
    (report,) = reports_of(message('STALLED: no step helps; goal hand', **values))
    assert report.name == 'hand, foot'
    assert (report.status, report.message) == ('STALLED', 'STALLED: no step helps; goal hand')
    assert (report.iterations, report.solve_time) == (7, 0.00125)
    assert report.goal_errors == {'hand': (0.002, 0.5)}
    assert report.closure_errors == {'a.position': (1e-9, 2e-9)}
    assert report.residual == 0.5


@pytest.mark.parametrize('text', ['', 'many', 'nan', 'inf'])
def test_invalid_number_becomes_zero(text):
    """The page accepts messages of other versions of the node."""
    (report,) = reports_of(message('CONVERGED', iterations=text, solve_time=text))
    assert (report.iterations, report.solve_time) == (0, 0.0)
    assert report.status == 'CONVERGED'


def test_closure_without_residual_is_released():
    """Without a solve nothing is known."""
    closures = ('a.b', 'c')
    held = {'iterations': '2', 'closure.a.b.position': '0', 'closure.a.b.orientation': '0'}
    assert released_of(message('STALLED', **held), closures) == {'c'}
    whole = message('CONVERGED', **held, **{'closure.c.position': '0'})
    assert released_of(whole, closures) == set()
    assert released_of(message('CONVERGED: no goal and no loop; a note'), closures) == {'a.b', 'c'}
    assert released_of(message('not solved: no measured joint states'), closures) is None
    assert released_of(SimpleNamespace(status=[]), closures) is None
