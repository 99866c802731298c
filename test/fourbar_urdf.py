"""A four-bar as a URDF that several tests load."""

# A four-bar with its loop inside the description, a mimic joint on a side branch.
FOURBAR = """<robot name="bars">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <link name="lamp"/><link name="shade"/>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="0 0 1.9"/><axis xyz="0 0 1"/></joint>
  <joint name="drive" type="revolute"><parent link="ground"/><child link="crank"/>
    <axis xyz="0 0 1"/><limit lower="0.2" upper="2.8" effort="1" velocity="3"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="nod" type="revolute"><parent link="ground"/><child link="lamp"/>
    <origin xyz="0 1 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="2"/></joint>
  <joint name="shake" type="prismatic"><parent link="lamp"/><child link="shade"/>
    <axis xyz="0 0 1"/><limit lower="-0.3" upper="0.3" effort="1" velocity="2"/>
    <mimic joint="nod" multiplier="0.5" offset="0.1"/></joint>
  <loop_joint name="tie" type="revolute">
    <link1 link="coupler" xyz="1.1 0 0" rpy="0 0 0"/>
    <link2 link="rocker" xyz="0.9 0 0" rpy="0 0 0"/></loop_joint>
</robot>"""
