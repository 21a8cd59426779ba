// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// inWords is an allowance as people write it.
func inWords(a quota.Allowance) string {
	cpu, mem := corev1.ResourceCPU, corev1.ResourceMemory
	q := func(l corev1.ResourceList, name corev1.ResourceName) string { v := l[name]; return v.String() }

	return q(a.Requests, cpu) + "/" + q(a.Limits, cpu) + " " + q(a.Requests, mem) + "/" + q(a.Limits, mem)
}

func TestFootprint(t *testing.T) {
	t.Parallel()

	c := newChart(t, sourceYAML, kustomizeYAML, hookYAML, crdYAML)
	cases := map[string]struct {
		reason    string
		overrides map[string]any
		want      string
		pods      int64
	}{
		"Defaults": {
			// The init container of kustomize-controller names nothing: 50m/500m, 64Mi/512Mi.
			"two controllers without a surge; the hook and the CRD count nothing", nil, "75m/1 128Mi/1Gi", 2,
		},
		"Override": {
			"what is rendered counts", map[string]any{"sourceController": map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "2"}}}},
			"75m/2500m 128Mi/1Gi", 2,
		},
		"Off": {
			"what is turned off does not", map[string]any{"kustomizeController": map[string]any{"create": false}}, "25m/500m 64Mi/512Mi", 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for range 2 {
				got, err := Footprint(c, Values(Spec{Overrides: tc.overrides}))
				if err != nil {
					t.Fatalf("%s: %v", tc.reason, err)
				}

				if inWords(got) != tc.want || got.Pods != tc.pods {
					t.Errorf("%s: got %s in %d pods, want %s in %d", tc.reason, inWords(got), got.Pods, tc.want, tc.pods)
				}

				// What a caller does with it is the caller's.
				got.Limits[corev1.ResourceCPU] = resource.MustParse("99")
			}
		})
	}
}

// TestFootprintOfOtherContent holds that the name and version of a chart are not
// what its footprint is remembered by.
func TestFootprintOfOtherContent(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		templates []string
		pods      int64
	}{{[]string{sourceYAML}, 1}, {[]string{sourceYAML, kustomizeYAML}, 2}} {
		got, err := Footprint(newChart(t, tc.templates...), Values(Spec{}))
		if err != nil || got.Pods != tc.pods {
			t.Errorf("got %d pods, want %d: %v", got.Pods, tc.pods, err)
		}
	}
}

// TestInstalled holds that what runs is counted as it was rendered, whatever its
// chart says now.
func TestInstalled(t *testing.T) {
	t.Parallel()

	const job = "\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\n"

	deployment := func(name, limits string) string {
		return `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `}
spec:
  replicas: 1
  strategy: {type: Recreate}
  template: {spec: {containers: [{name: manager, resources: {requests: {cpu: 25m, memory: 64Mi}, limits: ` + limits + `}}]}}
`
	}

	cases := map[string]struct {
		reason   string
		manifest string
		want     string
		pods     int64
		errs     string
	}{
		"Nothing":  {reason: "it makes no pods", manifest: job, want: "0/0 0/0"},
		"One":      {reason: "one controller", manifest: deployment("a", "{cpu: 500m, memory: 512Mi}") + job, want: "25m/500m 64Mi/512Mi", pods: 1},
		"Two":      {reason: "two of them", manifest: deployment("a", "{cpu: 500m, memory: 512Mi}") + deployment("b", "{cpu: 1, memory: 1Gi}"), want: "50m/1500m 128Mi/1536Mi", pods: 2},
		"NoYAML":   {reason: "what cannot be read", manifest: "{", errs: "cannot tell what the installed Flux needs"},
		"NoNumber": {reason: "what cannot be counted is named", manifest: deployment("a", "{cpu: 4 cores}"), errs: `Deployment "a"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for range 2 {
				got, err := Installed(&helm.Release{Name: ReleaseName, Namespace: Namespace, Manifest: tc.manifest})
				if tc.errs != "" {
					if err == nil || !strings.Contains(err.Error(), tc.errs) {
						t.Errorf("%s: got %v", tc.reason, err)
					}

					continue
				}

				if err != nil || inWords(got) != tc.want || got.Pods != tc.pods {
					t.Errorf("%s: got %s in %d pods, %v; want %s in %d", tc.reason, inWords(got), got.Pods, err, tc.want, tc.pods)
					continue
				}

				// What a caller does with it is the caller's.
				got.Limits[corev1.ResourceCPU] = resource.MustParse("99")
			}
		})
	}
}

func TestFootprintRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		values map[string]any
		want   error
		says   string
	}{
		"NotJSON":  {"values that cannot be stored", map[string]any{"n": math.NaN()}, nil, "values of Flux"},
		"TooLarge": {"values that are too large", map[string]any{"s": strings.Repeat("x", 1<<20)}, helm.ErrValuesRefused, "256 KiB"},
		"Uncountable": {
			"a request above its limit",
			Values(Spec{Overrides: map[string]any{"sourceController": map[string]any{"resources": map[string]any{"requests": map[string]any{"cpu": "1"}}}}}),
			quota.ErrNoPods, `Deployment "source-controller": no host cluster runs such pods: container "manager"`,
		},
		"Unrenderable": {"values that the templates cannot take", map[string]any{"sourceController": "x"}, nil, `chart "flux2" 2.18.3`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := Footprint(newChart(t, sourceYAML), tc.values)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %v", tc.reason, err)
			}

			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}

func TestMemo(t *testing.T) {
	t.Parallel()

	m := newMemo[int]()
	calls := 0
	get := func(key string, err error) (int, error) {
		return m.get(key, func() (int, error) { calls++; return calls, err })
	}

	boom := errors.New("boom")
	if _, err := get("a", boom); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}

	for range 3 {
		if n, err := get("a", nil); n != 2 || err != nil {
			t.Errorf("a failure is not kept, a result is: got %d, %v", n, err)
		}
	}

	if n, err := get("b", nil); n != 3 || err != nil {
		t.Errorf("another key has another result: got %d, %v", n, err)
	}

	for i := range maxKept {
		if _, err := get(strings.Repeat("x", i+1), nil); err != nil {
			t.Fatal(err)
		}
	}

	if n := m.kept.Len(); n != maxKept {
		t.Errorf("%d results are kept, want %d", n, maxKept)
	}
}

// TestMemoIsShared holds that callers that come at once wait for one result.
func TestMemoIsShared(t *testing.T) {
	t.Parallel()

	const callers = 8

	m := newMemo[int]()
	made := make(chan struct{}, callers)
	begun, finish := make(chan struct{}), make(chan struct{})

	var wg sync.WaitGroup
	for i := range callers {
		if i == 1 {
			<-begun // the first is at work
		}

		wg.Go(func() {
			n, err := m.get("k", func() (int, error) {
				made <- struct{}{}
				close(begun) // twice would panic
				<-finish

				return 7, nil
			})
			if n != 7 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}

	close(finish)
	wg.Wait()

	if n := len(made); n != 1 {
		t.Errorf("it was made %d times", n)
	}
}
