#!/bin/sh
# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

# Bounds the digits of quantities in the CRDs of a folder. The pattern that is generated takes any
# exponent, and whoever then parses 1e-999999999, such as the provider, works on it for years. It takes
# 1000E, too, which Kubernetes' own type reads and then writes as 1: there is no suffix above E.
set -eu

old='^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'
new='^(\+|-)?('
for digits in '20 (([KMGTPE]i)|[num]|([eE](\+|-)?[0-9]{1,2}))?' '17 k' '14 M' '11 G' '8 T' '5 P' '2 E'; do
	new="$new([0-9]{1,${digits%% *}}(\.[0-9]{0,32})?|\.[0-9]{1,32})${digits#* }|"
done
new="${new%|})$"

for file in "$1"/*.yaml; do
	OLD=$old NEW=$new awk '
		{ while (i = index($0, ENVIRON["OLD"])) $0 = substr($0, 1, i - 1) ENVIRON["NEW"] substr($0, i + length(ENVIRON["OLD"])); print }
	' "$file" > "$file.new"
	mv "$file.new" "$file"
done
