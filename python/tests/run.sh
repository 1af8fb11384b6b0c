#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one file of the package's tests on the package of a build, or prints why not (exit status 77).
# usage: run.sh SOURCE BUILD PYTHON FILE.py [MODULE...]    MODULE: what has to be there beside numpy
# GRAFT_TEST_PYTHON, where it is set, is the Python to use: one that has torch and transformers, say.
set -eu
source=$1
build=$2
python=${GRAFT_TEST_PYTHON:-$3}
file=$4
shift 4
for module in numpy "$@"; do
    "$python" -c "import $module" 2>/dev/null || {
        echo "skipped: $python has no module $module (GRAFT_TEST_PYTHON names another Python)"
        exit 77
    }
done
export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
export GRAFT_PLUGINS_DIR="$build/plugins" GRAFT_TEST_GOLDENS="$build/tests/goldens/models" GRAFT_TEST_BUILD="$build"
cd "$source/python/tests"
exec "$python" -W error::ResourceWarning -m unittest -v "${file%.py}"
