// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package helm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"helm.sh/helm/v3/pkg/release"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

func TestH8InstallDoesNotWait(t *testing.T) {
	b := newBed(t)
	values := map[string]any{"text": "x", "gone": nil, "n": 7, "empty": map[string]any{}}
	count := func() float64 { return testutil.ToFloat64(actions.WithLabelValues("install", resultSuccess)) }
	before := count()

	r, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), values)
	b.must(err)
	if r.Revision != 1 || r.Status != StatusDeployed {
		t.Errorf("got revision %d, %s", r.Revision, r.Status)
	}
	if n := count() - before; n != 1 {
		t.Errorf("the counter says %v installs, want 1", n)
	}
	if b.uid("apps/v1", "Deployment", "vc-a") == "" || b.uid("rbac.authorization.k8s.io/v1", "ClusterRole", "vc-a-"+b.namespace) == "" {
		t.Error("objects are missing")
	}

	got := b.state()
	if got.Status != StatusDeployed || got.ChartName != "app" || got.ChartVersion != "1.0.0" || got.Namespace != b.namespace {
		t.Errorf("got %+v", got)
	}
	if !ValuesEqual(values, got.Values) {
		t.Errorf("values came back different: %v", got.Values)
	}
	if age := time.Since(got.Updated); age < 0 || age > time.Minute {
		t.Errorf("written just now, not %s ago", age)
	}
	objs, err := ManifestObjects(got)
	b.must(err)
	if len(objs) != 3 {
		t.Errorf("the manifest has %d objects, want 3", len(objs))
	}

	// Empty values mean none, not the old ones.
	_, err = b.Upgrade(t.Context(), testRelease, b.app("1.1.0"), nil)
	b.must(err)
	got = b.state()
	if diff := cmp.Diff(map[string]any{}, got.Values); diff != "" || got.Revision != 2 || got.ChartVersion != "1.1.0" {
		t.Errorf("got revision %d of %s, values -want, +got:\n%s", got.Revision, got.ChartVersion, diff)
	}
}

// A failed first revision is upgraded, however often it is refused: it may own a volume.
func TestH2UpgradeOverFailedFirstRevision(t *testing.T) {
	b := newBed(t)
	chart := b.app("1.0.0", withTemplate("v.yaml", claimYAML))
	broken := map[string]any{"broken": true}

	_, err := b.Install(t.Context(), testRelease, chart, broken)
	if err == nil || !strings.Contains(err.Error(), "99999999") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("want the API server's refusal on one line, got %v", err)
	}
	failed := b.state()
	if failed.Revision != 1 || failed.Status != StatusFailed || !strings.Contains(failed.Description, "99999999") {
		t.Errorf("got revision %d, %s, %q", failed.Revision, failed.Status, failed.Description)
	}
	kept := b.uid("v1", "PersistentVolumeClaim", "vc-a")
	if kept == "" {
		t.Fatal("the test needs a volume claim that was made before the failure")
	}

	// Refused again, then accepted.
	if _, err := b.Upgrade(t.Context(), testRelease, chart, broken); err == nil {
		t.Fatal("want the refusal again")
	}
	_, err = b.Upgrade(t.Context(), testRelease, chart, nil)
	b.must(err)
	got := b.state()
	if got.Revision != 3 || got.Status != StatusDeployed {
		t.Errorf("got revision %d, %s", got.Revision, got.Status)
	}
	if b.uid("v1", "PersistentVolumeClaim", "vc-a") != kept {
		t.Error("the claim was made anew: what was on its volume is lost")
	}
}

func TestH1Resume(t *testing.T) {
	cases := map[string]struct {
		reason string
		status release.Status
	}{
		"Install":   {reason: "killed in the first install", status: release.StatusPendingInstall},
		"Upgrade":   {reason: "killed in an upgrade", status: release.StatusPendingUpgrade},
		"Rollback":  {reason: "killed in a rollback", status: release.StatusPendingRollback},
		"Uninstall": {reason: "killed in an uninstall, then wanted again", status: release.StatusUninstalling},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
			b.must(err)
			if tc.status == release.StatusPendingUpgrade {
				_, err := b.Upgrade(t.Context(), testRelease, b.app("1.0.0"), map[string]any{"text": "x"})
				b.must(err)
			}
			b.setStatus(tc.status)
			b.delete("apps/v1", "Deployment")
			kept := b.uid("v1", "ConfigMap", "vc-a")

			if _, err := b.Upgrade(t.Context(), testRelease, b.app("1.0.0"), nil); !errors.Is(err, ErrReleaseLocked) {
				t.Fatalf("%s: its writer may live, got %v", tc.reason, err)
			}
			b.must(b.Unlock(t.Context(), b.state()))
			_, err = b.Upgrade(t.Context(), testRelease, b.app("1.0.0"), map[string]any{"text": "resumed"})
			b.must(err)

			if got := b.state(); got.Status != StatusDeployed {
				t.Errorf("%s: got %s", tc.reason, got.Status)
			}
			if b.uid("v1", "ConfigMap", "vc-a") != kept || b.uid("apps/v1", "Deployment", "vc-a") == "" {
				t.Errorf("%s: what exists must be kept, what is missing made", tc.reason)
			}
		})
	}
}

// An upgrade that died after it made an object that no deployed revision knows.
func TestResumeAdoptsOwnObjects(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, newChart(t, "1.0.0", withTemplate("a.yaml", configMapYAML)), nil)
	b.must(err)
	_, err = b.Upgrade(t.Context(), testRelease, b.app("1.1.0"), nil)
	b.must(err)
	b.setStatus(release.StatusPendingUpgrade)
	kept := b.uid("apps/v1", "Deployment", "vc-a")

	b.must(b.Unlock(t.Context(), b.state()))
	_, err = b.Upgrade(t.Context(), testRelease, b.app("1.1.0"), nil)
	b.must(err)
	if got := b.uid("apps/v1", "Deployment", "vc-a"); got != kept {
		t.Errorf("the release's own object should be adopted, got %q instead of %q", got, kept)
	}
}

func TestInstallLeavesForeignObject(t *testing.T) {
	b := newBed(t)
	b.must(b.kube.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "vc-a", Namespace: b.namespace}}))
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	if err == nil || !strings.Contains(err.Error(), `ConfigMap "vc-a"`) {
		t.Errorf("want an error that names the object, got %v", err)
	}
	if n := b.recordCount(); n != 0 {
		t.Errorf("%d records were written", n)
	}
}

// racingSecrets lets another writer in just before an update.
type racingSecrets struct {
	corev1client.SecretInterface
	before func()
}

func (s *racingSecrets) Update(ctx context.Context, obj *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error) {
	s.before()
	return s.SecretInterface.Update(ctx, obj, o)
}

func TestUnlockLosesRace(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	b.setStatus(release.StatusPendingInstall)
	r := b.state()

	slow := *b.client
	slow.secrets = &racingSecrets{b.secrets, func() { b.setStatus(release.StatusDeployed) }}
	if err := slow.Unlock(t.Context(), r); !errors.Is(err, ErrReleaseChanged) {
		t.Errorf("the writer was faster, got %v", err)
	}
	if got := b.state(); got.Status != StatusDeployed {
		t.Errorf("the writer's state was overwritten by %s", got.Status)
	}
}

func TestUpdatedFollowsWrites(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	// As an uninstall long after would leave it.
	long := time.Now().Add(-time.Hour)
	b.rewrite(func(r *release.Release) {
		r.Info.LastDeployed.Time = long
		r.Labels["modifiedAt"] = fmt.Sprint(long.Unix())
		r.Labels["createdAt"] = fmt.Sprint(long.Unix())
	})
	b.setStatus(release.StatusUninstalling)
	if age := time.Since(b.state().Updated); age > time.Minute {
		t.Errorf("written just now, but it says %s ago", age)
	}
}

func TestH5HistoryIsCapped(t *testing.T) {
	const limit = 5
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	for i := range 8 {
		v := map[string]any{"text": fmt.Sprint(i)}
		if i%3 == 0 {
			v["broken"] = true
		}
		_, err := b.Upgrade(t.Context(), testRelease, b.app("1.0.0"), v)
		if (err != nil) != (i%3 == 0) {
			t.Fatalf("upgrade %d: %v", i, err)
		}
		if n := b.recordCount(); n > limit {
			t.Fatalf("%d records after upgrade %d", n, i)
		}
	}
	if got := b.state(); got.Revision != 9 || got.Status != StatusDeployed {
		t.Errorf("got revision %d, %s", got.Revision, got.Status)
	}
	if n := b.recordCount(); n != limit {
		t.Errorf("%d records are left, want %d", n, limit)
	}
}

func TestNamespacesAndHostsAreIndependent(t *testing.T) {
	b := newBed(t)
	other := newBed(t) // a Host and a namespace of its own
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), map[string]any{"text": "one"})
	b.must(err)
	if _, err := other.Get(t.Context(), testRelease); !errors.Is(err, ErrReleaseNotFound) {
		t.Errorf("a release of another namespace shows: %v", err)
	}
	_, err = other.Install(t.Context(), testRelease, other.app("1.0.0"), map[string]any{"text": "two"})
	b.must(err)
	b.must(b.Uninstall(t.Context(), testRelease))
	if got := other.state(); got.Status != StatusDeployed || other.uid("v1", "ConfigMap", "vc-a") == "" {
		t.Errorf("the other release suffered: %s", got.Status)
	}
}

func (b *bed) apply(doc string) {
	b.Helper()
	u := &unstructured.Unstructured{}
	b.must(yaml.Unmarshal([]byte(doc), &u.Object))
	b.must(b.kube.Create(b.Context(), u))
}

func TestKindAppearsLater(t *testing.T) {
	b := newBed(t)
	c := newChart(t, "1.0.0", withTemplate("w.yaml", fmt.Sprintf(widgetYAML, "Later")))
	_, err := b.Install(t.Context(), testRelease, c, nil)
	if err == nil || !strings.Contains(err.Error(), "test.kubeopera.io/v1") {
		t.Fatalf("the kind does not exist yet, got %v", err)
	}
	if n := b.recordCount(); n != 0 {
		t.Errorf("%d records were written", n)
	}

	b.apply(fmt.Sprintf(widgetCRDYAML, "later", "Later"))
	awaitTrue(t, "the release can be installed once its kind is served", func() bool {
		_, err = b.Install(t.Context(), testRelease, c, nil)
		return err == nil
	})
}

func TestChartBringsItsKind(t *testing.T) {
	b := newBed(t)
	c := newChart(t, "1.0.0", withCRD(fmt.Sprintf(widgetCRDYAML, "own", "Own")),
		withTemplate("w.yaml", `{{- if .Capabilities.APIVersions.Has "test.kubeopera.io/v1/Own" }}`+fmt.Sprintf(widgetYAML, "Own")+"{{- end }}"))
	_, err := b.Install(t.Context(), testRelease, c, nil)
	b.must(err)
	if b.uid("test.kubeopera.io/v1", "Own", "vc-a") == "" {
		t.Error("the template did not see the kind that the chart brings")
	}
}

func TestDiscoveryIsShared(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	before := b.requests.discovery.Load()
	if before == 0 {
		t.Fatal("the test does not see discovery")
	}
	for i := range 3 {
		other := b.host.Client(b.newNamespace())
		_, err := other.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
		b.must(err)
		_, err = other.Upgrade(t.Context(), testRelease, b.app("1.0.0"), map[string]any{"text": fmt.Sprint(i)})
		b.must(err)
	}
	if n := b.requests.discovery.Load() - before; n != 0 {
		t.Errorf("6 more actions asked %d times which APIs there are", n)
	}

	writes := b.requests.writes.Load()
	b.state()
	if n := b.requests.writes.Load() - writes; n != 0 {
		t.Errorf("looking wrote %d times", n)
	}
}

func TestCancelledInstall(t *testing.T) {
	b := newBed(t)
	b.hookTimeout = time.Minute
	c := b.app("1.0.0", withTemplate("h.yaml", fmt.Sprintf(hookYAML, "pre-install")))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.Install(ctx, testRelease, c, nil)
		done <- err
	}()
	awaitTrue(t, "the hook has begun", func() bool { return b.uid("batch/v1", "Job", "vc-a-hook") != "" })
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end with its context")
	}

	got := b.state()
	if got.Status != StatusFailed {
		t.Errorf("it should record that it failed, got %s", got.Status)
	}
	b.must(b.throughHook(b.Upgrade, c, func() { b.finish(batchv1.JobComplete) }))

	if _, err := b.Upgrade(ctx, testRelease, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended should stop it at once, got %v", err)
	}
	if b.state().Revision != 2 {
		t.Error("it wrote although its context had ended")
	}
}

func TestH11MissingRights(t *testing.T) {
	b := newBed(t)
	user, err := controlPlane.AddUser(envtest.User{Name: "limited-" + b.namespace}, nil)
	b.must(err)
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "limited-" + b.namespace},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "create", "delete"}}},
	}
	b.must(b.kube.Create(t.Context(), role))
	b.must(b.kube.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "limited", Namespace: b.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "limited-" + b.namespace}},
	}))
	host, err := NewHost(user.Config())
	b.must(err)

	awaitTrue(t, "the role takes effect", func() bool {
		_, err := host.Client(b.namespace).Get(t.Context(), testRelease)
		return errors.Is(err, ErrReleaseNotFound)
	})
	_, err = host.Client(b.namespace).Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	if !errors.Is(err, ErrHostForbids) || !strings.Contains(err.Error(), "the verbs update on secrets are missing") {
		t.Errorf("want the missing verb, got %v", err)
	}
	if n := b.recordCount(); n != 0 || b.uid("v1", "ConfigMap", "vc-a") != "" {
		t.Errorf("%d records were written, and the ConfigMap is %q", n, b.uid("v1", "ConfigMap", "vc-a"))
	}
}

// What Validate lets pass must fit, even if it does not compress.
func TestH5LargestValuesFit(t *testing.T) {
	b := newBed(t)
	raw := make([]byte, maxValuesBytes*3/4-100)
	_, err := rand.NewChaCha8([32]byte{1}).Read(raw)
	b.must(err)
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {text: {{ .Values.text | b64enc | quote }}}\n"
	_, err = b.Install(t.Context(), testRelease, newChart(t, "1.0.0", withTemplate("s.yaml", secret)), map[string]any{
		"text": base64.StdEncoding.EncodeToString(raw),
	})
	b.must(err)
}
