// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"cmp"
	"errors"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// errNoImage says that nobody said what is to run.
var errNoImage = errors.New("no image is set: set spec.image, or the provider's --advisor-image (ADVISOR_IMAGE)")

// settingsOf are the AdvisorAgent's own, with the default image where it names none.
func settingsOf(a *v1alpha1.AdvisorAgent, defaultImage string) (v1alpha1.AdvisorSettings, error) {
	s := a.Spec.AdvisorSettings
	if s.Image = cmp.Or(s.Image, defaultImage); s.Image == "" {
		return s, errNoImage
	}

	return s, nil
}

// desire is all that an App Advisor with these settings is made of, marked as the
// owner's. Who has its namespace has the rest.
func desire(o inside.Owner, s v1alpha1.AdvisorSettings) ([]inside.Wanted, error) {
	objs := advisor.Objects(s)
	out := make([]inside.Wanted, len(objs))

	for i, obj := range objs {
		o.Stamp(obj)

		var err error
		if out[i], err = inside.Want(obj, i == 0); err != nil {
			return nil, err
		}
	}

	return out, nil
}
