"""Whatever stands in the elements of loops: an IkError or a valid description."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.read import read_description
from support.any_text import check, mutated, tokens_of

SEED = """<robot name="r">
<link name="a"/><link name="b"/><link name="c"/>
<link name="closing_x_1"/><link name="closing_x_2"/>
<link name="closing_x_1_z"/><link name="closing_x_2_z"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="k" type="continuous" independent="false"><parent link="b"/><child link="c"/>
<drake:mimic joint="j" multiplier="2" offset="1"/></joint>
<joint name="m" type="fixed"><parent link="b"/><child link="closing_x_1"/></joint>
<joint name="n" type="fixed"><parent link="c"/><child link="closing_x_2"/></joint>
<joint name="o" type="fixed"><parent link="b"/><child link="closing_x_1_z"/></joint>
<joint name="p" type="fixed"><parent link="c"/><child link="closing_x_2_z"/></joint>
<loop_joint name="q" type="revolute"><parent link="a"/><child link="c"/>
<parent_origin xyz="1 2 3"/><child_origin xyz="4 5 6"/><axis xyz="0 1 0" frame="parent"/>
</loop_joint>
<loop name="r" type="revolute"><predecessor link="a"><origin xyz="1 0 0"/></predecessor>
<successor link="c"><origin rpy="1 0 0"/></successor><axis xyz="1 0 0"/></loop>
<coupling name="s"><predecessor link="b"/><successor link="c"/><ratio value="6"/></coupling>
<constraint name="t" type="universal"><parent link="a"/><parent_axis xyz="0 0 1"/>
<child link="c"/><child_origin xyz="0 1 0"/><child_axis xyz="1 0 0"/></constraint>
<drake:ball_constraint><drake:ball_constraint_body_A name="a"/>
<drake:ball_constraint_body_B name="c"/><drake:ball_constraint_p_AP value="1 2 3"/>
<drake:ball_constraint_p_BQ value="0 0 0"/></drake:ball_constraint>
<frame name="F" link="a" xyz="1 2 3" rpy="0 0 0"/><frame name="G" link="c"/>
<drake:linear_bushing_rpy><drake:bushing_frameA name="F"/><drake:bushing_frameC name="G"/>
<drake:bushing_torque_stiffness value="1 1 0"/><drake:bushing_force_stiffness value="1 0 1"/>
</drake:linear_bushing_rpy>
<gazebo><joint name="u" type="revolute"><parent>a</parent><child>c</child>
<pose relative_to="b">0 0 1 0 0 0</pose><axis><xyz expressed_in="__model__">0 0 1</xyz>
<limit><lower>-1</lower><upper>1e16</upper></limit></axis></joint>
<plugin name="v" filename="x.so"><joint>j</joint><mimicJoint>k</mimicJoint>
<multiplier>2</multiplier></plugin></gazebo>
</robot>"""
ODD = [
    *tokens_of(SEED),
    *('nan', 'inf', '-1', '1e400', '1e300', '0', '', '9' * 400, '0 0 0', 'é', '\t', '&#10;'),
    *('world', 'floating', 'fixed', 'ball', 'screw', '__model__', 'universal', 'revolute2'),
]


def test_the_seed_is_valid():
    """Unchanged, all of it is read."""
    description = read_description(SEED)
    assert len(description.closures) == 7
    assert description.joints['k'].couplings


@settings(max_examples=400, deadline=None)
@given(mutated(SEED, ODD, most=4), st.sampled_from(['fixed', 'floating']))
def test_changed_loops_are_read_or_refused(text, root):
    """Some words are others."""
    check(read_description, '<' + text.lstrip('<'), root=root)
