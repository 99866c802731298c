"""The legend of colours."""

from ik_node.scene.look import COLOURS, PASSIVE
from ik_node.viewer.panels.legend import legend_html


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
