"""What stands above the panels."""

from ik_node.scene.chain_report import ChainReport
from ik_node.solver.result import PoseError
from ik_node.viewer.panels.status_html import MOST, notes_html, status_html


def report(status='CONVERGED', goals=None, loops=None, message='why it is so'):
    """Return a report."""
    return ChainReport('x', status, message, 7, 0.00123, goals or {}, loops or {})


def test_each_chain_shows_status_steps_and_time():
    """One line a chain, with its goals."""
    text = status_html('robot', '', [report(goals={'hand': PoseError(2e-3, 3e-4)})])
    for part in ('robot', 'CONVERGED', '7 steps', '1.23 ms', 'hand', '2.0e-03 m', '3.0e-04 rad'):
        assert part in text


def test_reason_of_unmet_goal_is_shown():
    """The sentence stands on the page when it is needed."""
    assert '>why it is so<' not in status_html('robot', '', [report()])
    assert '>why it is so<' in status_html('robot', '', [report('STALLED')])


def test_closed_loops_take_one_line_and_open_ones_their_own():
    """The worst of the closed ones is shown; open ones are named one by one."""
    closed = {f'loop{number}': PoseError(1e-9 * number, 0.0) for number in range(6)}
    text = status_html('robot', '', [report(loops=closed)])
    assert '6 loops' in text
    assert 'loop5' in text
    assert 'loop4' not in text
    text = status_html('robot', '', [report(loops={**closed, 'wide': PoseError(0.02, 0.0)})])
    assert 'wide' in text
    assert 'loop5' not in text


def test_long_lists_are_cut_and_counted():
    """What is left out is counted."""
    goals = {f'goal_{number:02}': PoseError(0.0, 0.0) for number in range(MOST + 3)}
    text = status_html('robot', '', [report(goals=goals)])
    assert 'and 3 more' in text
    assert f'goal_{MOST:02}' not in text


def test_notes_and_advice_are_shown():
    """A note comes first; without goals and loops there is advice."""
    assert 'waiting for it' in status_html('robot', 'waiting for it', [])
    assert 'click a link' in status_html('robot', '', [])


def test_names_are_escaped():
    """A name out of a description never becomes markup."""
    bad = '<img src=x onerror=alert(1)>"'
    error = {bad: PoseError(1.0, 1.0)}
    text = status_html(bad, bad, [report(bad, error, error, bad)])
    assert '<img' not in text
    assert '"' not in text.replace('&quot;', '').split('&lt;img', 1)[1].split('&gt;')[0]


def test_notes_on_the_file_are_shown():
    """Warnings stand open, the other notes are folded up and counted, and names are escaped."""
    assert notes_html([]) == ''
    text = notes_html(['warning: <pin> is open', 'no <axis>', 'no <limit>'])
    warning, folded = text.split('<details>')
    assert '>warning: &lt;pin&gt; is open<' in warning
    assert '<summary>2 notes on the file</summary>' in folded
    assert '>no &lt;limit&gt;<' in folded
