#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if make generate changes anything in the named folders. It compares
# files, not commits, so that it can be run before a commit too.
set -euo pipefail
cd "$(dirname "$0")/.."

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
for dir in "$@"; do
	mkdir -p "$before/$dir"
	cp -R "$dir/." "$before/$dir"
done

make --no-print-directory generate

for dir in "$@"; do
	if ! diff -ru "$before/$dir" "$dir"; then
		echo "what is generated in $dir was not up to date: it is now, commit it" >&2
		exit 1
	fi
done
