# The node on ROS 2 Jazzy.
#
#   docker build -t ik_node .
#   docker run --rm --network host ik_node                                   # the hexapod, with the node
#   docker run --rm --network host -v $PWD:/robot ik_node \
#       ros2 run ik_node ik_node node /robot/my_robot.urdf
FROM ros:jazzy-ros-base

SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /ws
COPY . src/ik_node
RUN apt-get update \
    && rosdep update --rosdistro jazzy \
    && rosdep install --from-paths src --ignore-src -y -t build -t exec \
    && source /opt/ros/jazzy/setup.bash \
    && colcon build --packages-select ik_node \
    && rm -rf build log src /var/lib/apt/lists/*
# The image's own entry point sources ROS 2; this one also the workspace.
RUN printf '#!/bin/bash\nset -e\nsource /ws/install/setup.bash\nexec "$@"\n' >/entrypoint.sh \
    && chmod +x /entrypoint.sh \
    && useradd --create-home robot
USER robot
ENTRYPOINT ["/ros_entrypoint.sh", "/entrypoint.sh"]
CMD ["ros2", "launch", "ik_node", "hexapod.launch.py"]
