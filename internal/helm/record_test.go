// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// TestLabelSynced holds that the label is the one by which all else knows what is synced.
func TestLabelSynced(t *testing.T) {
	t.Parallel()

	if labelSynced != vcluster.LabelSyncedBy {
		t.Errorf("it is %q, and %q elsewhere", labelSynced, vcluster.LabelSyncedBy)
	}
}

func TestIsRecord(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		name   string
		want   bool
	}{
		"Own":     {"what Helm writes", "sh.helm.release.v1.vc-a.v12", true},
		"Synced":  {"a virtual cluster adds where it came from", "sh.helm.release.v1.vc-a.v99-x-default-x-vc-a", false},
		"Another": {"the labels name one, the name another", "sh.helm.release.v1.vc-b.v1", false},
		"Longer":  {"a release whose name begins alike", "sh.helm.release.v1.vc-a.v1.v1", false},
		"None":    {"a revision is a number", "sh.helm.release.v1.vc-a.v", false},
		"Any":     {"any other Secret", "token", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := &metav1.ObjectMeta{Name: tc.name, Labels: map[string]string{"owner": "helm", "name": "vc-a", "version": "99"}}
			if got := isRecord(m); got != tc.want {
				t.Errorf("%s: isRecord(%q) is %t", tc.reason, tc.name, got)
			}
		})
	}
}

// TestForgedRecords holds that no Secret that only looks like a record is taken for one,
// by us or by Helm itself.
func TestForgedRecords(t *testing.T) {
	t.Parallel()

	const synced = "-x-default-x-vc-alice"

	cases := map[string]struct {
		reason string
		forge  func(s *corev1.Secret)
	}{
		"Synced": {"a tenant's Secret, synced out of its virtual cluster", func(s *corev1.Secret) { s.Name += synced }},
		"Named":  {"whatever its name is", func(s *corev1.Secret) { s.Labels["vcluster.loft.sh/managed-by"] = "vc-alice" }},
		"Unlabeled": {"a revision that is none blocks nothing", func(s *corev1.Secret) {
			s.Name += synced
			s.Labels["version"] = "x"
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cs := fake.NewClientset()
			storeRevision(t, cs, 1, release.StatusDeployed)
			storeRevision(t, cs, 9, release.StatusDeployed)
			secrets := cs.CoreV1().Secrets(testNamespace)

			forged, err := secrets.Get(t.Context(), recordName(9), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}

			if err := secrets.Delete(t.Context(), forged.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}

			forged.ResourceVersion = ""
			tc.forge(forged)

			if _, err := secrets.Create(t.Context(), forged, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}

			c := recordClient(cs)
			if last, err := c.store(t.Context()).Last("vc-alice"); err != nil || last.Version != 1 {
				t.Errorf("%s: Helm's newest is %v, %v", tc.reason, last, err)
			}

			if got, err := c.Get(t.Context(), "vc-alice"); err != nil || got.Revision != 1 {
				t.Errorf("%s: ours is %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestRecordThatUnpacksIntoTooMuch(t *testing.T) {
	t.Parallel()

	cs := fake.NewClientset()
	storeRevision(t, cs, 1, release.StatusDeployed)
	secrets := cs.CoreV1().Secrets(testNamespace)

	s, err := secrets.Get(t.Context(), recordName(1), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}

	var b bytes.Buffer

	z := gzip.NewWriter(&b)
	if _, err := io.CopyN(z, zeros{}, maxRecord+1); err != nil {
		t.Fatal(err)
	}

	if err := z.Close(); err != nil {
		t.Fatal(err)
	}

	s.Data[recordKey] = []byte(base64.StdEncoding.EncodeToString(b.Bytes()))
	if _, err := secrets.Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	if _, err := recordClient(cs).Get(t.Context(), "vc-alice"); err == nil || !strings.Contains(err.Error(), "unpacks into more than 16 MiB") {
		t.Errorf("got %v", err)
	}
}

// TestTrimmedRecord holds that a record keeps of its chart what Helm asks of it later, and
// no more, and that the release in hand stays whole.
func TestTrimmedRecord(t *testing.T) {
	t.Parallel()

	ch := helmChart("app", "1.0.0", withTemplate("a.yaml", "a: b"), withSchema(`{"type": "object"}`), withCRD("kind: CustomResourceDefinition"),
		withDefaults(map[string]any{"text": "default", "n": 1.0}))
	r := &release.Release{
		Name: "vc-alice", Namespace: testNamespace, Version: 1, Chart: ch, Manifest: "a: b",
		Config: map[string]any{"n": 2.0}, Info: &release.Info{Status: release.StatusPendingInstall},
	}
	c := recordClient(fake.NewClientset())
	store := c.store(t.Context())

	if err := store.Create(r); err != nil {
		t.Fatal(err)
	}

	r.SetStatus(release.StatusDeployed, "")

	if err := store.Update(r); err != nil {
		t.Fatal(err)
	}

	if len(r.Chart.Templates) == 0 || len(r.Chart.Schema) == 0 || len(r.Chart.Files) == 0 {
		t.Error("the release in hand was trimmed")
	}

	stored, err := store.Last(r.Name)
	if err != nil {
		t.Fatal(err)
	}

	if s := stored.Chart; len(s.Templates) > 1 || len(s.Schema) > 0 || len(s.Files) > 0 {
		t.Errorf("%d templates, %d bytes of schema and %d files are stored", len(s.Templates), len(s.Schema), len(s.Files))
	}

	// Nothing rendered would be an upgrade that takes everything away.
	values, err := chartutil.ToRenderValues(stored.Chart, nil, chartutil.ReleaseOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}

	if out, err := engine.Render(stored.Chart, values); err == nil || !strings.Contains(err.Error(), "does not keep chart app 1.0.0") {
		t.Errorf("the chart of a record was rendered: %v, %v", out, err)
	}

	if got, err := c.Get(t.Context(), r.Name); err != nil || got.ChartName != "app" || got.ChartVersion != "1.0.0" || got.Manifest != r.Manifest || got.Status != StatusDeployed {
		t.Errorf("got %+v, %v", got, err)
	}

	getter := action.NewGetValues(&action.Configuration{Releases: store, KubeClient: &kubefake.PrintingKubeClient{Out: io.Discard}})
	getter.AllValues = true

	all, err := getter.Run(r.Name)
	if diff := cmp.Diff(map[string]any{"text": "default", "n": 2.0}, all); err != nil || diff != "" {
		t.Errorf("helm get values --all: %v; -want, +got:\n%s", err, diff)
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
