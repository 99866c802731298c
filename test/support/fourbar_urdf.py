"""URDFs of four-bars for several tests."""

TEMPLATE = """<robot name="{name}">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <link name="lamp"/><link name="shade"/>{links}
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="0 0 1.9"/><axis xyz="0 0 1"/></joint>
  <joint name="drive" type="revolute"><parent link="ground"/><child link="crank"/>
    <axis xyz="0 0 1"/><limit lower="0.2" upper="2.8" effort="1" velocity="3"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="nod" type="revolute"><parent link="ground"/><child link="lamp"/>
    <origin xyz="0 1 0"/><axis xyz="{nod}"/>
    <limit lower="-1" upper="1" effort="1" velocity="2"/></joint>
  <joint name="shake" type="prismatic"><parent link="lamp"/><child link="shade"/>
    <axis xyz="0 0 1"/><limit lower="-0.3" upper="0.3" effort="1" velocity="2"/>
    <mimic joint="nod" multiplier="0.5" offset="0.1"/></joint>{joints}
  <loop_joint name="tie" type="revolute">
    <link1 link="coupler" xyz="1.1 0 0" rpy="0 0 0"/>
    <link2 link="rocker" xyz="0.9 0 0" rpy="0 0 0"/></loop_joint>
</robot>"""

# A four-bar with its loop inside the description, a mimic joint on a side branch.
FOURBAR = TEMPLATE.format(name='bars', nod='0 1 0', links='', joints='')
# The same with a slanting lamp, a ball joint, and a branch that only looks nice.
MACHINE = TEMPLATE.format(
    name='machine',
    nod='0.6 0.8 0',
    links="""<link name="paint"><inertial><mass value="3"/>
  <origin xyz="0 0 1"/></inertial></link><link name="gloss"/><link name="hand"/>""",
    joints="""
  <joint name="wrist" type="ball"><parent link="shade"/><child link="hand"/>
    <origin xyz="0 0 0.2"/></joint>
  <joint name="painted" type="fixed"><parent link="crank"/><child link="paint"/></joint>
  <joint name="glossed" type="fixed"><parent link="paint"/><child link="gloss"/></joint>""",
)
# A crank-rocker in the x-z plane, its hinges turned about x by angles that exporters round.
TURNED = """<robot name="fourbar">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="crank" type="revolute"><parent link="ground"/><child link="crank"/>
    <origin rpy="{quarter} 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0" rpy="{half} 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="-{quarter} 0 0"/><axis xyz="0 0 1"/></joint>
  <loop_joint name="tie" type="{kind}"><link1 link="coupler" xyz="1.1 0 0"/>
    <link2 link="rocker" xyz="0.9 0 0"/></loop_joint></robot>"""
