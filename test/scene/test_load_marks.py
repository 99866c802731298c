"""The arrow of a load."""

from ik_node.scene import Arrow, Segment, Text
from ik_node.scene.load_marks import load_shapes
from ik_node.scene.look import Look
import numpy as np
import pytest

LOOK = Look(scale=0.4)
START = np.array((0.1, -0.2, 0.3))
WAY = np.array((2.0, -1.0, 2.0)) / 3.0


def test_arrow_leads_from_the_point_of_application_to_its_handle():
    """Its tip is just before the end, where the handle is; the text is beyond."""
    end = START + 0.7 * WAY
    shaft, head, text = load_shapes(START, end, '70 N', LOOK, 'tool')
    assert (type(shaft), type(head), type(text)) == (Segment, Arrow, Text)
    assert {shape.of for shape in (shaft, head, text)} == {'tool'}
    np.testing.assert_allclose(shaft.start, START, atol=1e-12)
    assert (end - head.end) @ WAY == pytest.approx(0.06 * 0.4)
    assert (shaft.end - np.array(head.position)) @ WAY > 0.0
    assert (text.position - end) @ WAY > 0.0
    assert text.text == '70 N'


def test_arrows_of_all_lengths_have_few_meshes():
    """Heads of short arrows are halved; a head never begins before the arrow."""
    heads = set()
    for length in np.linspace(0.02, 5.0, 300):
        for shape in load_shapes(START, START + length * WAY, '', LOOK):
            if isinstance(shape, Arrow):
                heads.add((shape.length, shape.radius))
                assert (shape.position - START) @ WAY > -1e-9
    assert 1 < len(heads) <= 6


def test_force_of_zero_has_no_arrow():
    """Nor has one that is shorter than its handle."""
    assert load_shapes(START, START, '0 N', LOOK) == []
    assert load_shapes(START, START + 0.02 * WAY, '1 N', LOOK) == []
