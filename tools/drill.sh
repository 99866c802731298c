#!/bin/sh
# Run a drill, a test that is too long for `make test`; pytest's arguments may follow.
#
#   tools/drill.sh soak [SECONDS=600]    run the node under faults, check every message it publishes
#   tools/drill.sh edits [EDITS=100000]  edit robots at random and check every answer; 40 minutes
#   tools/drill.sh native                compare bits of Numba, library and C, check memory and
#                                        indices; ten minutes
#   tools/drill.sh screenshots           take pictures of ten robots on the page anew; five minutes
#   tools/drill.sh coverage              count the lines that tests reach: kernels as plain Python,
#                                        nodes as they run
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh
name=${1:-}
number() {
    case ${1:-} in [1-9]*) echo "$1" ;; *) echo "$2" ;; esac
}
[ $# -eq 0 ] || shift
case $name in
soak)
    SOAK_SECONDS=$(number "${1:-}" 600) && export SOAK_SECONDS
    case ${1:-} in [1-9]*) shift ;; esac
    tools/test -s --timeout 0 test/ros/drill_soak.py "$@"
    ;;
edits)
    IK_NODE_EDITS=$(number "${1:-}" 100000) && export IK_NODE_EDITS
    case ${1:-} in [1-9]*) shift ;; esac
    tools/test -n 2 --dist load --timeout 0 -k edited_robot test/solver/test_edits.py "$@"
    ;;
native)
    tools/test -s --timeout 0 test/native/drill_same_bits.py test/native/drill_memory.py "$@"
    IK_NODE_CHECK_BOUNDS=1 tools/test -n 3 test/solver test/test_truth.py test/test_scenarios.py
    ;;
screenshots) tools/test -s --timeout 0 test/viewer/drill_screenshots.py "$@" ;;
coverage)
    IK_NODE_KERNELS=python tools/test -n 3 --dist loadfile --cov --cov-report= \
        --ignore test/ros --ignore test/ros_client "$@"
    tools/test --cov --cov-append --cov-report=term-missing:skip-covered test/ros test/ros_client
    ;;
*)
    sed -n 's/^#   //p' "$0" >&2
    exit 2
    ;;
esac
