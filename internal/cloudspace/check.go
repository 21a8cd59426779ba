// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// What names may be. The schemas have the same rules, and refuse at once what
// breaks them; these are for an XR that was made before they did.
var (
	nameRule   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$`)
	userIDRule = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
)

const maxUserID = 63

// bounds are what a quantity may be.
type bounds struct {
	from, to resource.Quantity
	want     string
}

// amounts bounds the quantities of a spec. More than none of the CPU is a billionth of
// a core, since quantities know nothing smaller.
var amounts = map[string]bounds{
	"cpu":     {resource.MustParse("1n"), resource.MustParse("100000"), "a quantity of cores above 0 and at most 100000, such as 4 or 500m"},
	"memory":  {resource.MustParse("1Mi"), resource.MustParse("1Pi"), "a quantity of bytes from 1Mi to 1Pi, such as 8Gi"},
	"storage": {resource.MustParse("1Mi"), resource.MustParse("1Ei"), "a quantity of bytes from 1Mi to 1Ei, such as 50Gi"},
}

// check says what of the spec cannot be made. Each error names a field and the
// remedy.
func (s *Spec) check() error {
	return errors.Join(s.checkUserID(), s.checkName(), s.checkAmounts())
}

func (s *Spec) checkUserID() error {
	switch {
	case s.UserID == "":
		return errors.New("spec.userID is not set: set it to the id of the customer who owns the CloudSpace")
	case len(s.UserID) > maxUserID || !userIDRule.MatchString(s.UserID):
		return fmt.Errorf("spec.userID: %q must have 1 to %d letters, digits, '.', '_' and '-', with a letter or digit at both ends", s.UserID, maxUserID)
	default:
		return nil
	}
}

func (s *Spec) checkName() error {
	const want = "must have 3 to 32 lower-case letters, digits and '-', with a letter or digit at both ends"

	switch name := s.Name(); {
	case nameRule.MatchString(name):
		return nil
	case s.SpaceName != "":
		return fmt.Errorf("spec.spaceName: %q %s", name, want)
	case s.UserID == "":
		return nil // It is said already.
	default:
		return fmt.Errorf("spec.spaceName is not set, and %q, which is made of spec.userID, %s: set spec.spaceName", name, want)
	}
}

func (s *Spec) checkAmounts() error {
	var errs []error

	have := map[string]*resource.Quantity{"cpu": s.CPU, "memory": s.Memory, "storage": s.Storage}
	for _, field := range slices.Sorted(maps.Keys(have)) {
		b, q := amounts[field], have[field]
		if q != nil && (q.Cmp(b.from) < 0 || q.Cmp(b.to) > 0) {
			errs = append(errs, fmt.Errorf("spec.%s: %q must be %s", field, q.String(), b.want))
		}
	}

	return errors.Join(errs...)
}
