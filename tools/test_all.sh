#!/usr/bin/env bash
# Run the tests for each Python and each ROS 2 that there are wheels for, one after the other.
#
#   tools/test_all.sh [DISTRO-pyX.Y ...] [-- pytest's arguments]      tools/test_all.sh
#
# Each combination has its environment below .venvs; .venv is left alone. An interpreter is looked
# for as pythonX.Y on the PATH; what is missing is named and passed over. Exit code 1 when a
# combination fails, or when not one could run.
set -u
cd "$(dirname "$0")/.." || exit 2

combinations=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    combinations+=("$1")
    shift
done
[ $# -eq 0 ] || shift
[ ${#combinations[@]} -gt 0 ] ||
    combinations=(kilted-py3.10 kilted-py3.11 kilted-py3.12 jazzy-py3.12 jazzy-py3.13)

for each in "${combinations[@]}"; do
    [[ $each =~ ^(kilted|jazzy)-py3\.1[0-3]$ ]] || {
        echo "test_all: no wheels are locked for '$each': kilted or jazzy, -py3.10 to -py3.13" >&2
        exit 2
    }
done

# The wheels are tested, not a ROS 2 that happens to be sourced.
unset ROS_DISTRO AMENT_PREFIX_PATH PYTHONPATH LD_LIBRARY_PATH
mkdir -p .venvs
rows=() failed=0 ran=0
for each in "${combinations[@]}"; do
    distro=${each%-py*} python=python${each##*-py}
    # A shim on the PATH may have nothing behind it: it must run, and be what its name says.
    if [ "$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null)" != "$python" ]; then
        echo "== $each: skipped, no $python on the PATH"
        rows+=("$(printf '%-14s skipped          no %s on the PATH' "$each" "$python")")
        continue
    fi
    echo "== $each"
    begin=$SECONDS
    IK_NODE_VENV=.venvs/$each PYTHON=$python make --no-print-directory test \
        DISTRO="$distro" ARGS="$*" 2>&1 | tee ".venvs/$each.log"
    code=${PIPESTATUS[0]}
    ran=$((ran + 1)) result=passed
    [ "$code" -eq 0 ] || { result=FAILED failed=$((failed + 1)); }
    # pytest's own last word, or whatever came instead of it.
    said=$(sed -n 's/^=* *\([0-9].* in [0-9.]*s\).*/\1/p' ".venvs/$each.log" | tail -n 1)
    said=${said:-$(grep -v '^make' ".venvs/$each.log" | tail -n 1)}
    rows+=("$(printf '%-14s %-7s %6d s  %s' "$each" "$result" $((SECONDS - begin)) "$said")")
done

echo
printf '%s\n' "${rows[@]}"
if [ $ran -eq 0 ]; then
    echo 'test_all: not one combination could run: no interpreter' >&2
    exit 1
fi
[ $failed -eq 0 ]
