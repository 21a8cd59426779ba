// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package helm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
)

func TestUninstall(t *testing.T) {
	status := func(s release.Status) func(*bed) {
		return func(b *bed) { b.setStatus(s) }
	}
	cases := map[string]struct {
		reason  string
		prepare func(*bed)
	}{
		"Deployed":       {reason: "the plain case", prepare: func(*bed) {}},
		"Failed":         {reason: "a failed release", prepare: status(release.StatusFailed)},
		"PendingInstall": {reason: "killed in an install", prepare: status(release.StatusPendingInstall)},
		"PendingUpgrade": {reason: "killed in an upgrade", prepare: status(release.StatusPendingUpgrade)},
		"Uninstalled": {reason: "someone kept the history", prepare: func(b *bed) {
			b.delete("apps/v1", "Deployment")
			b.delete("v1", "ConfigMap")
			b.must(b.kube.Delete(b.Context(), clusterRole(b)))
			b.setStatus(release.StatusUninstalled)
		}},
		"HalfDeleted": {reason: "killed while it deleted objects", prepare: func(b *bed) {
			b.delete("apps/v1", "Deployment")
			b.setStatus(release.StatusUninstalling)
		}},
		"HalfPurged": {reason: "killed while it deleted records", prepare: func(b *bed) {
			b.setStatus(release.StatusUninstalling)
			b.must(b.secrets.Delete(b.Context(), "sh.helm.release.v1.vc-a.v1", metav1.DeleteOptions{}))
		}},
		"DamagedRecord": {reason: "an old record cannot be read", prepare: func(b *bed) {
			s, err := b.secrets.Get(b.Context(), "sh.helm.release.v1.vc-a.v1", metav1.GetOptions{})
			b.must(err)
			s.Data["release"] = []byte("rubbish")
			_, err = b.secrets.Update(b.Context(), s, metav1.UpdateOptions{})
			b.must(err)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
			b.must(err)
			_, err = b.Upgrade(t.Context(), testRelease, b.app("1.0.0"), map[string]any{"text": "x"})
			b.must(err)
			tc.prepare(b)

			b.must(b.Uninstall(t.Context(), testRelease))
			if _, err := b.Get(t.Context(), testRelease); !errors.Is(err, ErrReleaseNotFound) {
				t.Errorf("%s: the release is left: %v", tc.reason, err)
			}
			if n := b.recordCount(); n != 0 {
				t.Errorf("%s: %d records are left", tc.reason, n)
			}
			if b.uid("v1", "ConfigMap", "vc-a") != "" || b.uid("apps/v1", "Deployment", "vc-a") != "" ||
				b.uid("rbac.authorization.k8s.io/v1", "ClusterRole", "vc-a-"+b.namespace) != "" {
				t.Errorf("%s: objects are left", tc.reason)
			}
			b.must(b.Uninstall(t.Context(), testRelease))

			// The name is free again.
			_, err = b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
			b.must(err)
		})
	}
}

func clusterRole(b *bed) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "vc-a-" + b.namespace}}
	m.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("ClusterRole"))
	m.APIVersion = "rbac.authorization.k8s.io/v1"
	return m
}

func TestUninstallAfterItsKindIsGone(t *testing.T) {
	b := newBed(t)
	b.apply(fmt.Sprintf(widgetCRDYAML, "gone", "Gone"))
	c := b.app("1.0.0", withTemplate("w.yaml", fmt.Sprintf(widgetYAML, "Gone")))
	awaitTrue(t, "the kind is served", func() bool {
		_, err := b.Install(t.Context(), testRelease, c, nil)
		return err == nil
	})
	crd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "gones.test.kubeopera.io"}}
	crd.Kind, crd.APIVersion = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
	b.must(b.kube.Delete(t.Context(), crd))

	// A Host that has never seen the kind, as after a restart.
	fresh, err := NewHost(controlPlane.Config)
	b.must(err)
	awaitTrue(t, "the release can be removed without its kind", func() bool {
		return fresh.Client(b.namespace).Uninstall(t.Context(), testRelease) == nil
	})
	if b.uid("v1", "ConfigMap", "vc-a") != "" || b.recordCount() != 0 {
		t.Error("something is left")
	}
}

func TestUninstallNeedsOneGoodRecord(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	s, err := b.secrets.Get(t.Context(), "sh.helm.release.v1.vc-a.v1", metav1.GetOptions{})
	b.must(err)
	s.Data["release"] = []byte("rubbish")
	_, err = b.secrets.Update(t.Context(), s, metav1.UpdateOptions{})
	b.must(err)

	if err := b.Uninstall(t.Context(), testRelease); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("its objects are unknown, so it must not be given up: %v", err)
	}
	if n := b.recordCount(); n != 1 {
		t.Errorf("%d records are left, want 1", n)
	}
}

func TestUninstallSaysWhatFailed(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	b.apply(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep-%[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [DELETE], resources: [deployments]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  validations: [{expression: "false", message: "kept by policy"}]
`, b.namespace))
	b.apply(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep-%[1]s}
spec: {policyName: keep-%[1]s, validationActions: [Deny]}
`, b.namespace))
	awaitTrue(t, "the policy takes effect", func() bool {
		u := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "vc-a", Namespace: b.namespace}}
		u.Kind, u.APIVersion = "Deployment", "apps/v1"
		return b.kube.Delete(t.Context(), u, crclient.DryRunAll) != nil
	})

	err = b.Uninstall(t.Context(), testRelease)
	if err == nil || !strings.Contains(err.Error(), "kept by policy") {
		t.Errorf("want the reason, got %v", err)
	}
	if got := b.state(); got.Status != StatusUninstalling {
		t.Errorf("got %s", got.Status)
	}
}

func TestBrokenDeleteHookDoesNotHoldForEver(t *testing.T) {
	b := newBed(t)
	b.hookTimeout = time.Second
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0", withTemplate("h.yaml", fmt.Sprintf(hookYAML, "pre-delete"))), nil)
	b.must(err)
	if err := b.Uninstall(t.Context(), testRelease); err == nil || !strings.Contains(err.Error(), `Job "vc-a-hook"`) {
		t.Errorf("want the hook's name, got %v", err)
	}
	if got := b.state(); got.Status != StatusUninstalling {
		t.Errorf("got %s", got.Status)
	}
	b.must(b.Uninstall(t.Context(), testRelease))
	if n := b.recordCount(); n != 0 {
		t.Errorf("%d records are left", n)
	}
}

// An aggregated API that is down looks like a kind that does not exist.
func TestUninstallWaitsForDeadAPI(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	b.apply(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.dead.kubeopera.io}
spec:
  group: dead.kubeopera.io
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {name: nobody, namespace: default}
`)
	b.rewrite(func(r *release.Release) {
		r.Manifest = "apiVersion: dead.kubeopera.io/v1\nkind: Thing\nmetadata: {name: x}\n"
	})
	dc, err := discovery.NewDiscoveryClientForConfig(controlPlane.Config)
	b.must(err)
	awaitTrue(t, "the API service is known and down", func() bool {
		_, err := dc.ServerResourcesForGroupVersion("dead.kubeopera.io/v1")
		return apierrors.IsServiceUnavailable(err)
	})

	// A Host that looks for the first time, as after a restart.
	fresh, err := NewHost(controlPlane.Config)
	b.must(err)
	err = fresh.Client(b.namespace).Uninstall(t.Context(), testRelease)
	if err == nil || !strings.Contains(err.Error(), "dead.kubeopera.io") {
		t.Errorf("its object may still exist, so it must not be given up: %v", err)
	}
	if n := b.recordCount(); n != 1 {
		t.Fatalf("%d records are left, want 1", n)
	}

	svc := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "v1.dead.kubeopera.io"}}
	svc.Kind, svc.APIVersion = "APIService", "apiregistration.k8s.io/v1"
	b.must(b.kube.Delete(t.Context(), svc))
	awaitTrue(t, "the release can be removed once the API is gone", func() bool {
		return b.Uninstall(t.Context(), testRelease) == nil
	})
}
