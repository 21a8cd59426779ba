// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// chartOption changes a test chart.
type chartOption func(*chart.Chart)

func withTemplate(name, body string) chartOption {
	return func(c *chart.Chart) {
		c.Templates = append(c.Templates, &chart.File{Name: "templates/" + name, Data: []byte(body)})
	}
}

func withSchema(s string) chartOption {
	return func(c *chart.Chart) { c.Schema = []byte(s) }
}

func withDefaults(v map[string]any) chartOption {
	return func(c *chart.Chart) { c.Values = v }
}

func withCRD(body string) chartOption {
	return func(c *chart.Chart) {
		c.Files = append(c.Files, &chart.File{Name: "crds/crd.yaml", Data: []byte(body)})
	}
}

func withSubchart(condition string, sub *chart.Chart) chartOption {
	return func(c *chart.Chart) {
		c.AddDependency(sub)
		c.Metadata.Dependencies = append(c.Metadata.Dependencies, &chart.Dependency{
			Name: sub.Name(), Version: sub.Metadata.Version, Condition: condition,
		})
	}
}

func helmChart(name, version string, opts ...chartOption) *chart.Chart {
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: version}}
	for _, o := range opts {
		o(c)
	}
	if c.Values == nil {
		c.Values = map[string]any{}
	}
	return c
}

// archive packs a chart as helm package does.
func archive(t *testing.T, c *chart.Chart) []byte {
	t.Helper()
	// Save writes values.yaml from the raw file, not from Values.
	y, err := chartutil.Values(c.Values).YAML()
	if err != nil {
		t.Fatal(err)
	}
	c.Raw = append(c.Raw, &chart.File{Name: chartutil.ValuesfileName, Data: []byte(y)})
	p, err := chartutil.Save(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// newChart is a chart named app.
func newChart(t *testing.T, version string, opts ...chartOption) *Chart {
	t.Helper()
	c, err := LoadChart(archive(t, helmChart("app", version, opts...)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadChart(t *testing.T) {
	t.Parallel()
	good := archive(t, helmChart("app", "1.2.3", withDefaults(map[string]any{"a": "b"})))

	cases := map[string]struct {
		reason  string
		archive []byte
		want    error
	}{
		"Good":      {reason: "a packed chart loads", archive: good},
		"Empty":     {reason: "nothing is no chart", want: ErrChartInvalid},
		"Rubbish":   {reason: "what is not gzip is no chart", archive: []byte("rubbish"), want: ErrChartInvalid},
		"Truncated": {reason: "half a chart is no chart", archive: good[:len(good)/2], want: ErrChartInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := LoadChart(tc.archive)
			if !errors.Is(err, tc.want) {
				t.Fatalf("%s: got error %v, want %v", tc.reason, err, tc.want)
			}
			if tc.want != nil {
				return
			}
			if c.Name() != "app" || c.Version() != "1.2.3" {
				t.Errorf("%s: got %s %s", tc.reason, c.Name(), c.Version())
			}
		})
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	raw := archive(t, helmChart("app", "1.0.0"))
	load := func(raw []byte) string {
		c, err := LoadChart(raw)
		if err != nil {
			t.Fatal(err)
		}
		return c.Digest()
	}
	other := load(archive(t, helmChart("app", "1.0.0", withTemplate("a.yaml", "kind: A"))))
	if a, b := load(raw), load(raw); a != b || a == other || len(a) != len("sha256:")+64 {
		t.Errorf("equal content gives %s and %s, other content %s", a, b, other)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	sub := helmChart("sub", "0.1.0", withDefaults(map[string]any{"x": "y"}))
	values := func() map[string]any {
		return map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": "d"}}}}
	}
	c := newChart(t, "1.0.0", withDefaults(values()), withSubchart("sub.enabled", sub))

	// This removes the disabled subchart from what it is given.
	first := c.clone()
	off := map[string]any{"sub": map[string]any{"enabled": false}}
	if err := chartutil.ProcessDependenciesWithMerge(first, off); err != nil {
		t.Fatal(err)
	}
	if n := len(first.Dependencies()); n != 0 {
		t.Fatalf("the disabled subchart should be gone, %d are left", n)
	}

	first.Values["a"].(map[string]any)["b"].([]any)[0].(map[string]any)["c"] = "changed"

	second := c.clone()
	if diff := cmp.Diff(values(), second.Values); diff != "" {
		t.Errorf("a change of one clone's values shows in the next: -want, +got:\n%s", diff)
	}
	if len(second.Dependencies()) != 1 || len(second.Metadata.Dependencies) != 1 {
		t.Error("what Helm did to one clone shows in the next")
	}
	if second.Dependencies()[0].Parent() != second {
		t.Error("a cloned subchart has another parent than the clone")
	}
}
