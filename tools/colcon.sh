#!/bin/sh
# colcon build and colcon test of this package, in .venv/colcon so that the checkout stays clean.
# Run it in the environment of .venv: tools/run tools/colcon.sh
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/.venv/colcon
# Beside a sourced ROS 2 the editable install would count as an underlay that is overridden.
AMENT_PREFIX_PATH=${AMENT_PREFIX_PATH#"$root/.venv:"}
rm -rf "$work"
mkdir -p "$work"
cd "$work"

colcon --log-base log build --base-paths "$root" --event-handlers console_cohesion+
set +u
. install/local_setup.sh
set -u
colcon --log-base log test --base-paths "$root" --event-handlers console_direct+ || true
# colcon test answers 0 when tests fail, and test-result answers 0 when there are none.
colcon test-result --all | tee result.txt
grep -Eq '^Summary: [1-9][0-9]* tests?, 0 errors, 0 failures' result.txt
