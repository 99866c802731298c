#!/bin/sh
# Install what a lock names into an environment: tools/install.sh VENV LOCK
#
# uv, which the lock names too, takes a tenth of the processor time that pip takes. pip serves where
# uv does not run or finds no index, for example because only pip's configuration names one.
set -eu
venv=$1 lock=$2
# The lock names everything that is needed, uv and what builds those packages that come as sources.
sed -n '/^\(uv\|setuptools\)==/,/[^\\]$/p' "$lock" >"$venv/first.txt"
"$venv/bin/python" -m pip install --require-hashes --no-deps -r "$venv/first.txt"
VIRTUAL_ENV=$venv "$venv/bin/uv" pip install --require-hashes --no-deps --no-build-isolation -r "$lock" || {
    echo 'uv did not install the lock, see above: pip does it'
    # Without --no-deps an older pip looks for the newest release of whatever a package asks for
    # with an extra, as coverage[toml], and then refuses it because the lock has another.
    "$venv/bin/python" -m pip install --require-hashes --no-deps --no-build-isolation --use-pep517 -r "$lock"
}
"$venv/bin/python" -m pip check
