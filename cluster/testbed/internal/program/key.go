// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// keyLength is how many hexadecimal digits of the hash a key shows.
const keyLength = 12

// Key names one build of the program: name, version and a short hash of all
// that decides what the build makes, the Go version among it.
func Key(p Program, goVersion string) (string, error) {
	files, err := source(p.Module)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %t %q\n", p.Package, p.Version, p.LDFlags, p.Tags, p.CGO, goVersion)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %q\n", name, files[name])
	}
	return fmt.Sprintf("%s-%s-%s", p.Name, p.Version, hex.EncodeToString(h.Sum(nil))[:keyLength]), nil
}
