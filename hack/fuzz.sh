#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

# Runs each fuzz target for so long, one after the other, and prints a table of what they did. It fails if
# one finds something: the input is then in testdata/fuzz of the target's package. FUZZ_PARALLEL is how many
# workers a target has, FUZZ_RUN a pattern of the targets to run.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-10m}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 ran=0

printf '%-55s %8s %12s %6s %s\n' TARGET TIME EXECS NEW RESULT
for package in $(grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -n1 dirname | sort -u); do
	targets=$(go test -list '^Fuzz' "./$package")
	for target in $(grep '^Fuzz' <<<"$targets"); do
		if [[ ! $target =~ ${FUZZ_RUN:-.} ]]; then
			continue
		fi

		ran=$((ran + 1))
		result=ok
		if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel "${FUZZ_PARALLEL:-1}" "./$package" >"$work/log" 2>&1; then
			result=FAILED
			failed=1
		fi

		# The last line of progress, such as
		# fuzz: elapsed: 1m0s, execs: 4711 (78/sec), new interesting: 9 (total: 42)
		last=$(grep -o 'elapsed: .*new interesting: [0-9]*' "$work/log" | tail -n 1 || true)
		execs=${last#*execs: }
		printf '%-55s %8s %12s %6s %s\n' "$package $target" "$(cut -d, -f1 <<<"${last#elapsed: }")" "${execs%% *}" "${last##* }" "$result"
		if [[ $result = FAILED ]]; then
			sed 's/^/    /' "$work/log" | grep -v 'fuzz: elapsed' | tail -n 40
		fi
	done
done

if [[ $ran = 0 ]]; then
	echo "no fuzz target matches ${FUZZ_RUN:-.}" >&2
	exit 1
fi

exit "$failed"
