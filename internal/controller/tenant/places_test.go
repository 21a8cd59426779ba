// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestPlaces holds that a Tenant whose ProviderConfig, or the Secret of that, went
// before it is taken down where it was found last, and that nothing else is done there.
func TestPlaces(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	other, _ := fakeHost(t)

	const secret, config = "secret", "config"

	cases := map[string]struct {
		reason string
		// gone is what went since the Tenant was looked at.
		gone []string
		// deleted says that the Tenant is being deleted.
		deleted bool
		// restarted is a provider that never looked at it, forgotten a Tenant that went.
		restarted, forgotten bool
		// unseen is a Tenant that never got so far that it has a finalizer.
		unseen  bool
		changed bool
		found   bool
	}{
		"There":     {reason: "what is there is used", deleted: true, found: true},
		"Secret":    {reason: "the Secret went", gone: []string{secret}, deleted: true, found: true},
		"Config":    {reason: "the ProviderConfig went", gone: []string{config}, deleted: true, found: true},
		"Both":      {reason: "both went", gone: []string{secret, config}, deleted: true, found: true},
		"Living":    {reason: "a Tenant that is to stay needs them", gone: []string{secret}},
		"Unseen":    {reason: "the way in for who vanishes without a word is not kept", gone: []string{secret}, deleted: true, unseen: true},
		"Restarted": {reason: "another process knows nothing", gone: []string{secret}, deleted: true, restarted: true},
		"Forgotten": {reason: "who is gone is forgotten", gone: []string{secret}, deleted: true, forgotten: true},
		"Changed":   {reason: "credentials that are there and do not serve are a person's wish", changed: true, deleted: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			pc := localConfig(tenantNamespace, func(s *v1alpha1.ProviderConfigSpec) {
				s.Credentials = v1alpha1.LocalCredentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.LocalSecretKeySelector{
					LocalSecretReference: xpv2.LocalSecretReference{Name: "host"}, Key: "kubeconfig",
				}}
			})
			raw := secretIn(tenantNamespace, "host", "kubeconfig", kubeconfigOf(t, other.URL))
			raw.SetUID("uid-secret")

			w := newWorld(t, pc, raw)
			c := connectTo(w, own.URL)
			c.track = func(context.Context, client.Client, resource.ModernManaged) error { return nil }

			if !tc.restarted {
				seen := alice().Config("ProviderConfig", "default").Obj()
				if !tc.unseen {
					meta.AddFinalizer(seen, managed.FinalizerName)
				}

				if _, err := c.Connect(t.Context(), seen); err != nil {
					t.Fatal(err)
				}
			}

			if tc.deleted {
				// A namespace that is going takes no usage.
				c.track = func(context.Context, client.Client, resource.ModernManaged) error { return errInjected }
			}

			for _, g := range tc.gone {
				w.remove(w.kube, map[string]client.Object{secret: raw, config: pc}[g])
			}

			if tc.changed {
				raw.Data = map[string][]byte{"other": nil}
				if err := w.kube.Update(t.Context(), raw); err != nil {
					t.Fatal(err)
				}
			}

			tn := alice().Config("ProviderConfig", "default")
			if tc.deleted {
				tn.Deleted(epoch)
			}

			if tc.forgotten {
				w.add(tn.DeepCopy())

				if err := w.finalizer(nil).RemoveFinalizer(t.Context(), tn.Obj()); err != nil {
					t.Fatal(err)
				}

				tn.Deleted(epoch)
			}

			got, err := c.Connect(t.Context(), tn.Obj())
			if (err == nil) != tc.found || (!tc.found && !tc.changed && !kerrors.IsNotFound(err)) {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if !tc.found {
				return
			}

			if ns, err := got.(*external).liveNamespace(t.Context(), "vcluster-alice-default"); err != nil || ns != nil {
				t.Errorf("%s: namespace %v, %v", tc.reason, ns, err)
			}
		})
	}
}
