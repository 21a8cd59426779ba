#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if a source file lacks the two lines of the licence header near its top.
set -euo pipefail
cd "$(dirname "$0")/.."

copyright='SPDX-FileCopyrightText: 2026 The KubeOpera Authors'
licence='SPDX-License-Identifier: Apache-2.0'
missing=0
files=$(mktemp)
trap 'rm -f "$files"' EXIT
git ls-files -z --cached --others --exclude-standard -- \
	'*.go' '*.go.txt' '*.sh' '*.yaml' '*.yml' Makefile .ci/run ':!package/crds' >"$files"
[[ -s $files ]]

while IFS= read -r -d '' file; do
	[[ -f $file ]] || continue
	top=$(head -n 4 "$file")
	if [[ $top != *"$copyright"* || $top != *"$licence"* ]]; then
		echo "$file: add the licence header of hack/boilerplate.go.txt" >&2
		missing=1
	fi
done <"$files"
exit "$missing"
