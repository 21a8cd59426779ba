// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rubbish

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Inner stands in another struct.
type Inner struct {
	Port intstr.IntOrString `json:"port"`
}

type spec struct {
	Inner `json:",inline"`

	Name  string                       `json:"name,omitempty"`
	Count *int32                       `json:"count,omitempty"`
	Raw   []byte                       `json:"raw,omitempty"`
	On    bool                         `json:"on,omitempty"`
	Rows  []Inner                      `json:"rows,omitempty"`
	Hard  map[string]resource.Quantity `json:"hard,omitempty"`
	Any   *apiextensionsv1.JSON        `json:"any,omitempty"`
}

// TestOf holds that no field is left out, that each spec differs in its field only, and
// that what it was made of stays as it is.
func TestOf(t *testing.T) {
	t.Parallel()

	given := spec{Name: "alice", Rows: []Inner{{intstr.FromInt32(1)}}}
	before := given

	got := map[string]int{}
	for _, s := range Of(t, &given) {
		got[s.Field]++

		var out map[string]any
		if err := json.Unmarshal(s.JSON, &out); err != nil || s.Field != "spec.name" && out["name"] != "alice" {
			t.Errorf("%s: %s, %v", s.Field, s.JSON, err)
		}
	}

	want := map[string]int{
		"spec.port": 2, "spec.name": len(texts), "spec.count": 4, "spec.on": 1, "spec.rows": 2, "spec.rows[0].port": 2, "spec.raw": len(texts) - 1,
		"spec.hard": len(texts), "spec.hard.cpu": len(quantities), "spec.hard.limits.cpu": len(quantities), "spec.any": len(documents),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if !reflect.DeepEqual(before, given) {
		t.Errorf("it was changed: %+v", given)
	}
}
