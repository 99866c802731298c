"""The legend of colours, and the units of plots."""

from types import SimpleNamespace

from ik_node.scene.chain_report import ChainReport
from ik_node.scene.look import COLOURS, PASSIVE
from ik_node.viewer.panels.legend import legend_html
from ik_node.viewer.panels.plot_panel import History, PlotPanel


def test_legend_explains_the_colours_of_visible_layers():
    """Each colour once, with its meaning; hidden layers are left out."""
    html = legend_html(['axes', 'links', 'goals'])
    for rgba, meaning in (
        (COLOURS['axes'], 'motor'),
        (PASSIVE, 'passive joint'),
        (COLOURS['goals'], 'goal'),
    ):
        colour = '#' + ''.join(f'{round(255 * part):02x}' for part in rgba[:3])
        assert f'{colour}"></span>{meaning}<' in html
    assert 'loop' not in html
    assert 'joint range' not in html


def test_plots_have_units():
    """Titles have units, and the time axis has a label."""
    made = []

    def add_uplot(**about):
        made.append(about)
        return SimpleNamespace(data=None, remove=lambda: None)

    history = History()
    history.add(0.0, [ChainReport('arm', 'CONVERGED', '', 1, 1e-3, {}, {})])
    PlotPanel(SimpleNamespace(add_uplot=add_uplot)).refresh(history)
    titles = [plot['title'] for plot in made]
    assert titles == ['largest residual [log10 of m or rad]', 'solve time [ms]']
    assert all(plot['axes'][0]['label'] == 'time [s]' for plot in made)
