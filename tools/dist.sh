#!/bin/sh
# Build the sdist and the wheels of a release into dist/, and check what an index would refuse.
#
#   tools/dist.sh [x86_64] [aarch64]
#
# Wheels are built from the unpacked sdist, so that a file missing there is noticed. There is one for
# each Python from 3.10 to 3.13 on the PATH. Without a C compiler for a target, ziglang is used.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- x86_64 aarch64
unset PYTHONPATH
tools=$PWD/.venvs/dist
[ -x "$tools/bin/twine" ] || {
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/python" -m pip --quiet --disable-pip-version-check install \
        build==1.6.1 twine==7.0.0 check-wheel-contents==0.6.3 auditwheel==6.8.2 ziglang==0.17.1
}
for machine; do
    [ "$machine" = "$(uname -m)" ] || command -v "$machine-linux-gnu-gcc" >/dev/null ||
        export "CC_$(echo "$machine" | tr a-z A-Z)=$tools/bin/python -m ziglang cc -target $machine-linux-gnu.2.17"
done
rm -rf dist
"$tools/bin/python" -m build --sdist
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar xzf dist/*.tar.gz -C "$unpacked" --strip-components 1
"$tools/bin/python" -m compileall -q "$unpacked/ik_node"
cp -r tools "$unpacked"
"$unpacked/tools/wheels.sh" "$@"
cp "$unpacked"/dist/*.whl dist
"$tools/bin/twine" check --strict dist/*
"$tools/bin/check-wheel-contents" dist/*.whl
# The tag of each wheel promises glibc 2.17: the symbols of its libraries must be that old.
for wheel in dist/*.whl; do
    "$tools/bin/auditwheel" show "$wheel" | tee "$unpacked/audit" | grep '"manylinux'
    grep -Eq '"manylinux_2_(5|12|17)_' "$unpacked/audit"
done
ls -l dist
