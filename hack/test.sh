#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

# Runs all checks. The programs of the test bed take longest to build, so that
# is begun first, beside the checks that need none of them.
set -euo pipefail
cd "$(dirname "$0")/.."

log=bin/testbed-build.log
began=$SECONDS
say() { printf '==> [%4ds] %s\n' "$((SECONDS - began))" "$*"; }

make bin/testbed
say "building the programs of the test bed in the background, log: $log"
set -m
bin/testbed build >"$log" 2>&1 &
build=$!
set +m
# What was begun here ends here, with the compilers that it started.
trap 'kill -TERM -- "-$build" 2>/dev/null || true' EXIT

for target in lint check-generated unit; do
	say "$target"
	make "$target"
done

say "waiting for the programs of the test bed"
if ! wait "$build"; then
	tail -n 40 "$log" >&2
	say "cannot build the test bed" >&2
	exit 1
fi
trap - EXIT

for target in envtest e2e e2e-crossplane; do
	say "$target"
	make "$target"
done
say "all checks passed"
