"""What the links of an SDFormat file look like."""

from ik_node.description.visuals import read_visuals
import pytest

HALF = 0.5**0.5
FRAME = """
<sdf version="1.9"><model name="m">
  <frame name="tilted"><pose>0 0 3 0 0 1.5707963267948966</pose></frame>
  <link name="a"><pose>1 0 0 0 0 0</pose>{}</link>
</model></sdf>
"""


def visual(inside, **more):
    """Return the only visual of a link."""
    (found,) = read_visuals(FRAME.format(f'<visual name="v">{inside}</visual>', **more))
    return found


def test_every_shape_is_read():
    """Its size, in its link."""
    for geometry, kind, size in [
        ('<box><size>1 2 3</size></box>', 'box', (1.0, 2.0, 3.0)),
        ('<cylinder><radius>1</radius><length>2</length></cylinder>', 'cylinder', (1.0, 2.0)),
        ('<sphere><radius>2</radius></sphere>', 'sphere', (2.0,)),
        ('<sphere/>', 'sphere', (1.0,)),
        ('<capsule><radius>1</radius><length>2</length></capsule>', 'capsule', (1.0, 2.0)),
        ('<ellipsoid><radii>1 2 3</radii></ellipsoid>', 'ellipsoid', (1.0, 2.0, 3.0)),
        ('<plane><size>2 3</size></plane>', 'plane', (2.0, 3.0)),
    ]:
        found = visual(f'<pose>0 0 1 1.5707963267948966 0 0</pose><geometry>{geometry}</geometry>')
        assert (found.link, found.kind, found.size, found.rgba) == ('a', kind, size, None)
        assert found.position == (0.0, 0.0, 1.0)
        assert found.quat_xyzw == pytest.approx((HALF, 0.0, 0.0, HALF))


def test_mesh_is_read():
    """Its file as written, and its factors."""
    mesh = '<geometry><mesh><uri> model://m/a.stl </uri><scale>1 2 3</scale></mesh></geometry>'
    found = visual(mesh)
    assert (found.kind, found.file, found.size) == ('mesh', 'model://m/a.stl', (1.0, 2.0, 3.0))


def test_pose_relative_to_another_frame_is_resolved():
    """A visual may stand where some frame says."""
    found = visual('<pose relative_to="tilted">1 0 0 0 0 0</pose><geometry><box/></geometry>')
    assert found.position == pytest.approx((-1.0, 1.0, 3.0))
    assert found.quat_xyzw == pytest.approx((0.0, 0.0, HALF, HALF))


def test_normal_of_a_plane_rotates_it():
    """Its z lies along the normal."""
    plane = '<geometry><plane><normal>{}</normal></plane></geometry>'
    found = visual(plane.format('2 0 0'))
    assert found.quat_xyzw == pytest.approx((0.0, HALF, 0.0, HALF))
    assert visual(plane.format('0 0 -1')).quat_xyzw == pytest.approx((0.0, 1.0, 0.0, 0.0))


def test_colour_is_read():
    """What it looks like in plain light."""
    for inside, rgba in [
        ('<material><diffuse>1 0.5 0 0.5</diffuse></material>', (1.0, 0.5, 0.0, 0.5)),
        ('<material><diffuse>1 0.5 0</diffuse></material>', (1.0, 0.5, 0.0, 1.0)),
        (
            '<material><diffuse>1 0 0 0.5</diffuse></material><transparency>0.5</transparency>',
            (1.0, 0.0, 0.0, 0.25),
        ),
        ('<transparency>0.25</transparency>', (0.6, 0.6, 0.6, 0.75)),
        ('<material><ambient>1 0 0 1</ambient></material>', None),
    ]:
        assert visual(f'<geometry><box/></geometry>{inside}').rgba == rgba


@pytest.mark.parametrize(
    ('inside', 'what'),
    [
        ('<geometry><polyline/></geometry>', '<polyline> of a'),
        ('<geometry><mesh/></geometry>', 'no size or file'),
        ('<geometry><box><size>1 x 1</size></box></geometry>', "'x' is not a number"),
        ('<pose relative_to="gone">0 0 0 0 0 0</pose><geometry><box/></geometry>', 'gone'),
    ],
)
def test_unreadable_visual_has_kind_unread(inside, what):
    """It stands for itself, and nothing is raised."""
    found = visual(inside)
    assert (found.link, found.kind) == ('a', 'unread')
    assert what in found.file


@pytest.mark.parametrize('inside', ['', '<geometry/>', '<geometry><empty/></geometry>'])
def test_invisible_visuals_are_omitted(inside):
    """A visual without a shape is none."""
    assert read_visuals(FRAME.format(f'<visual name="v">{inside}</visual>')) == []


def test_links_of_nested_models_have_visuals():
    """They have the names that the robot's links have."""
    box = '<visual name="v"><geometry><box/></geometry></visual>'
    inner = f'<model name="hand"><link name="b">{box}</link></model>'
    text = f'<sdf version="1.9"><model name="m"><link name="a">{box}</link>{inner}</model></sdf>'
    assert [found.link for found in read_visuals(text)] == ['a', 'hand::b']
