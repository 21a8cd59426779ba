// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
)

const testNamespace = "vcluster-alice"

// recordClient is a client whose records are in a fake API server.
func recordClient(cs *fake.Clientset) *client {
	secrets := cs.CoreV1().Secrets(testNamespace)
	return &client{
		namespace: testNamespace,
		secrets:   secrets,
		records: func(ctx context.Context, name string) ([]metav1.ObjectMeta, error) {
			l, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: notSynced(recordSelector(name))})
			if err != nil {
				return nil, err
			}
			var out []metav1.ObjectMeta
			for _, s := range l.Items {
				out = append(out, s.ObjectMeta)
			}
			return out, nil
		},
	}
}

// storeRevision writes a revision as Helm does.
func storeRevision(t *testing.T, cs *fake.Clientset, rev int, status release.Status) {
	t.Helper()
	r := &release.Release{
		Name: "vc-alice", Namespace: testNamespace, Version: rev,
		Info: &release.Info{
			Status:       status,
			Description:  "failed pre-install: 1 error occurred:\n\t* job x\n\n",
			LastDeployed: helmtime.Unix(1000, 0),
		},
		Chart:    &chart.Chart{Metadata: &chart.Metadata{Name: "vcluster", Version: "0.21.2"}},
		Config:   map[string]any{"n": float64(rev)},
		Manifest: "kind: Service\n",
		Labels:   map[string]string{"team": "a"},
	}
	d := driver.NewSecrets(cs.CoreV1().Secrets(testNamespace))
	if err := d.Create(recordName(rev), r); err != nil {
		t.Fatal(err)
	}
}

func recordName(rev int) string {
	return "sh.helm.release.v1.vc-alice.v" + string(rune('0'+rev))
}

func damage(t *testing.T, cs *fake.Clientset, rev int) {
	t.Helper()
	s, err := cs.CoreV1().Secrets(testNamespace).Get(t.Context(), recordName(rev), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Data["release"] = []byte("rubbish")
	if _, err := cs.CoreV1().Secrets(testNamespace).Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestStatusPending(t *testing.T) {
	t.Parallel()
	cases := map[Status]bool{
		StatusUnknown: false, StatusDeployed: false, StatusUninstalled: false, StatusSuperseded: false, StatusFailed: false,
		StatusUninstalling: true, StatusPendingInstall: true, StatusPendingUpgrade: true, StatusPendingRollback: true,
	}
	for s, want := range cases {
		if got := s.Pending(); got != want {
			t.Errorf("%s: got %t, want %t", s, got, want)
		}
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	cases := map[string]struct {
		reason  string
		prepare func(*testing.T, *fake.Clientset)
		want    *Release
		err     error
		says    string
	}{
		"Absent": {reason: "no records, no release", prepare: func(*testing.T, *fake.Clientset) {}, err: ErrReleaseNotFound},
		"Newest": {
			reason: "the newest revision is the one with the highest number",
			prepare: func(t *testing.T, cs *fake.Clientset) {
				storeRevision(t, cs, 2, release.StatusSuperseded)
				storeRevision(t, cs, 3, release.StatusFailed)
				storeRevision(t, cs, 1, release.StatusSuperseded)
			},
			want: &Release{
				Name: "vc-alice", Namespace: testNamespace, Revision: 3, Status: StatusFailed,
				Description: "failed pre-install: 1 error occurred: * job x",
				ChartName:   "vcluster", ChartVersion: "0.21.2",
				Values: map[string]any{"n": 3.0}, Manifest: "kind: Service\n", Labels: map[string]string{"team": "a"},
			},
		},
		"Damaged": {
			reason: "a damaged newest record is neither absent nor a panic",
			prepare: func(t *testing.T, cs *fake.Clientset) {
				storeRevision(t, cs, 1, release.StatusSuperseded)
				storeRevision(t, cs, 2, release.StatusDeployed)
				damage(t, cs, 2)
			},
			says: "damaged",
		},
		"Unreachable": {
			reason: "unknown is never taken for absent",
			prepare: func(_ *testing.T, cs *fake.Clientset) {
				cs.PrependReactor("list", "secrets", func(kubetesting.Action) (bool, runtime.Object, error) { return true, nil, boom })
			},
			err: boom,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cs := fake.NewClientset()
			tc.prepare(t, cs)
			got, err := recordClient(cs).Get(t.Context(), "vc-alice")
			if tc.err != nil && !errors.Is(err, tc.err) || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}
			if tc.err == nil && errors.Is(err, ErrReleaseNotFound) {
				t.Errorf("%s: %v is not absence", tc.reason, err)
			}
			if tc.want == nil {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if time.Since(got.Updated) > time.Minute {
				t.Errorf("%s: the record was written just now, not at %s", tc.reason, got.Updated)
			}
			got.Updated = time.Time{}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnlock(t *testing.T) {
	t.Parallel()
	for _, s := range []release.Status{release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusPendingRollback, release.StatusUninstalling} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			cs := fake.NewClientset()
			storeRevision(t, cs, 1, s)
			c := recordClient(cs)
			r, err := c.Get(t.Context(), "vc-alice")
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Unlock(t.Context(), r); err != nil {
				t.Fatalf("cannot unlock: %v", err)
			}
			got, err := c.Get(t.Context(), "vc-alice")
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != StatusFailed || !strings.Contains(got.Description, s.String()) {
				t.Errorf("got %s, %q", got.Status, got.Description)
			}
			if diff := cmp.Diff(r.Labels, got.Labels); diff != "" {
				t.Errorf("labels changed: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestUnlockRefuses(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(corev1.Resource("secrets"), recordName(1), errors.New("written"))
	cases := map[string]struct {
		reason string
		change func(*testing.T, *fake.Clientset, *Release)
	}{
		"NewerRevision": {reason: "another writer has gone on", change: func(t *testing.T, cs *fake.Clientset, _ *Release) {
			storeRevision(t, cs, 2, release.StatusPendingUpgrade)
		}},
		"WrittenSince": {reason: "its writer is alive", change: func(_ *testing.T, _ *fake.Clientset, r *Release) {
			r.Updated = r.Updated.Add(-time.Minute)
		}},
		"Conflict": {reason: "its writer was faster", change: func(_ *testing.T, cs *fake.Clientset, _ *Release) {
			cs.PrependReactor("update", "secrets", func(kubetesting.Action) (bool, runtime.Object, error) { return true, nil, conflict })
		}},
		"NotPending": {reason: "its writer has finished", change: func(t *testing.T, cs *fake.Clientset, r *Release) {
			if err := recordClient(cs).Unlock(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cs := fake.NewClientset()
			storeRevision(t, cs, 1, release.StatusPendingInstall)
			c := recordClient(cs)
			r, err := c.Get(t.Context(), "vc-alice")
			if err != nil {
				t.Fatal(err)
			}
			tc.change(t, cs, r)
			if err := c.Unlock(t.Context(), r); !errors.Is(err, ErrReleaseChanged) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

// What the state of the records alone decides.
func TestActRefuses(t *testing.T) {
	t.Parallel()
	ch := newChart(t, "1.0.0", withSchema(testSchema))
	upgrade := func(c *client, v map[string]any) error {
		_, err := c.Upgrade(t.Context(), "vc-alice", ch, v)
		return err
	}
	install := func(c *client, v map[string]any) error {
		_, err := c.Install(t.Context(), "vc-alice", ch, v)
		return err
	}
	good := map[string]any{"mode": "a"}

	cases := map[string]struct {
		reason    string
		status    release.Status
		act       func(*client, map[string]any) error
		values    map[string]any
		forbidden []string
		want      error
		says      string
	}{
		"InstallPending":     {reason: "its writer may live", status: release.StatusPendingInstall, act: install, values: good, want: ErrReleaseLocked},
		"InstallDeployed":    {reason: "there is nothing to install", status: release.StatusDeployed, act: install, values: good, want: ErrReleaseChanged},
		"InstallFailed":      {reason: "a failed revision is upgraded", status: release.StatusFailed, act: install, values: good, want: ErrReleaseChanged},
		"UpgradeAbsent":      {reason: "there is nothing to upgrade", act: upgrade, values: good, want: ErrReleaseNotFound},
		"UpgradePending":     {reason: "its writer may live", status: release.StatusPendingUpgrade, act: upgrade, values: good, want: ErrReleaseLocked},
		"UpgradeRemoving":    {reason: "its writer may live", status: release.StatusUninstalling, act: upgrade, values: good, want: ErrReleaseLocked},
		"UpgradeUninstalled": {reason: "there is nothing left to upgrade", status: release.StatusUninstalled, act: upgrade, values: good, want: ErrReleaseNotFound},
		"InstallValues":      {reason: "values are refused before anything is written", act: install, values: map[string]any{"mode": "z"}, want: ErrValuesRefused, says: "mode:"},
		"UpgradeValues":      {reason: "values are refused before anything is written", status: release.StatusDeployed, act: upgrade, want: ErrValuesRefused, says: "mode: required"},
		"H11: update of Secrets is missing": {
			reason: "missing rights are found before anything is written, and named",
			act:    install, values: good, forbidden: []string{"update"}, want: ErrHostForbids, says: "update",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cs := fake.NewClientset()
			if tc.status != "" {
				storeRevision(t, cs, 1, tc.status)
			}
			cs.ClearActions()
			c := recordClient(cs)
			c.forbidden = func(context.Context) ([]string, error) { return tc.forbidden, nil }
			err := tc.act(c, tc.values)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
			for _, a := range cs.Actions() {
				if a.GetVerb() != "list" {
					t.Errorf("%s: wrote by %s", tc.reason, a.GetVerb())
				}
			}
		})
	}
}

func TestUninstallAbsent(t *testing.T) {
	t.Parallel()
	cs := fake.NewClientset()
	if err := recordClient(cs).Uninstall(t.Context(), "vc-alice"); err != nil {
		t.Errorf("an absent release should be a success, got %v", err)
	}
	boom := errors.New("boom")
	cs.PrependReactor("list", "secrets", func(kubetesting.Action) (bool, runtime.Object, error) { return true, nil, boom })
	if err := recordClient(cs).Uninstall(t.Context(), "vc-alice"); !errors.Is(err, boom) {
		t.Errorf("unknown is not absent, got %v", err)
	}
}

func TestManifestObjects(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		manifest string
		kinds    []string
		want     []string
		err      bool
	}{
		"Empty": {reason: "no manifest, no objects"},
		"Several": {
			reason:   "documents keep their order, empty ones are none",
			manifest: "---\n# Source: a\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: b}\n",
			want:     []string{"Service/a", "ClusterRole/b"},
		},
		"List": {
			reason:   "lists are taken apart",
			manifest: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: p}}\n- {apiVersion: v1, kind: Secret, metadata: {name: q}}\n",
			want:     []string{"Secret/p", "Secret/q"},
		},
		"Kinds": {
			reason: "only what is asked for, also of lists, and not what only mentions it",
			manifest: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: p}}\n- {apiVersion: v1, kind: \"Service\", metadata: {name: q}}\n" +
				"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n---\nkind: Pod\n---\n{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"t\"}}\n",
			kinds: []string{"StatefulSet", "Service"},
			want:  []string{"Service/q", "Service/t"},
		},
		"Rubbish": {reason: "what is not YAML is an error", manifest: "a: b: c", err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objs, err := ManifestObjects(&Release{Manifest: tc.manifest}, tc.kinds...)
			if (err != nil) != tc.err {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}
			var got []string
			for _, o := range objs {
				got = append(got, o.GetKind()+"/"+o.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
