// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// setPending is what people patch to have a Tenant tried again.
	setPending = `{"status":{"phase":"Pending"}}`
	// longPause is a pause between two attempts in which the next does not come by
	// itself while a spec looks: it is twice as long as the one before.
	longPause = 7 * time.Second
)

func itIsRetriedByItsPhase(c *cloudSpace) {
	It("is Ready again at once when its phase is set to Pending", func(ctx SpecContext) {
		out, err := rig.Kubectl(ctx, "patch", "tenant", c.t.GetName(), "-n", c.t.GetNamespace(),
			"--subresource=status", "--type", "merge", "-p", setPending, "-o", "jsonpath={.status.phase}")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal("Pending"))
		eventually(ctx, c.t, promptly, And(beReady(), say(messageWhole)))
	}, SpecTimeout(phaseLimit))

	It("is looked at at once when its phase is set to Pending without --subresource", func(ctx SpecContext) {
		was := c.t.Status.LastHandledReconcileAt
		out, err := rig.Kubectl(ctx, "patch", "tenant", c.t.GetName(), "-n", c.t.GetNamespace(), "--type", "merge", "-p", setPending,
			"-o", "jsonpath={.status.phase}")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal("Ready"), "the API server drops the status, and does not store it")

		eventually(ctx, c.t, promptly, WithTransform(func(t *v1alpha1.Tenant) string { return t.Status.LastHandledReconcileAt }, Not(Equal(was))))
		Expect(c.t.GetAnnotations()).To(HaveKeyWithValue(meta.AnnotationKeyReconcileRequestedAt, c.t.Status.LastHandledReconcileAt))
		Expect(c.t).To(beReady())
	}, SpecTimeout(phaseLimit))
}

var _ = Describe("A Tenant that failed and pauses", func() {
	It("is tried once, at once, each time that its phase is set to Pending", func(ctx SpecContext) {
		registry := &emptyRegistry{}
		server := httptest.NewServer(registry)
		DeferCleanup(server.Close)

		pc := rig.ProviderConfig("empty-"+rand.String(5), v1alpha1.Chart{
			Repository: strings.Replace(server.URL, "http", "oci", 1) + "/loft-sh/charts/vcluster", Version: rig.ChartVersion, PlainHTTP: true,
		})
		create(ctx, pc)

		t := rig.NewTenant(newNamespace(ctx), "paused")
		t.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: pc.GetName()})
		create(ctx, t)
		eventually(ctx, t, phaseLimit, bePhase(v1alpha1.PhaseFailed))

		By("waiting for a long pause")
		Eventually(ctx, registry.lastPause).WithTimeout(time.Minute).WithPolling(pollEvery).Should(BeNumerically(">", longPause))
		attempts := len(registry.attempts())
		Consistently(ctx, registry.attempts).WithTimeout(stableFor).WithPolling(pollEvery).Should(HaveLen(attempts))

		for i, how := range [][]string{{"--subresource=status"}, nil} {
			By(fmt.Sprintf("patching it %s", how))
			_, err := rig.Kubectl(ctx, slices.Concat([]string{"patch", "tenant", t.GetName(), "-n", t.GetNamespace(), "--type", "merge", "-p", setPending}, how)...)
			Expect(err).NotTo(HaveOccurred())
			Eventually(ctx, registry.attempts).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveLen(attempts + i + 1))
			eventually(ctx, t, promptly, bePhase(v1alpha1.PhaseFailed))
			Consistently(ctx, registry.attempts).WithTimeout(stableFor).WithPolling(pollEvery).Should(HaveLen(attempts + i + 1))
		}

		removeAndWait(ctx, t)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))
})

// emptyRegistry is a registry without charts. It remembers when it was asked.
type emptyRegistry struct {
	mu    sync.Mutex
	asked []time.Time
}

// ServeHTTP knows of nothing.
func (r *emptyRegistry) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	r.asked = append(r.asked, time.Now())
	r.mu.Unlock()

	http.Error(w, `{"errors":[{"code":"NAME_UNKNOWN"}]}`, http.StatusNotFound)
}

// attempts are when it was asked for a chart, which may take several requests.
func (r *emptyRegistry) attempts() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()

	var out []time.Time

	for _, at := range r.asked {
		if len(out) == 0 || at.Sub(out[len(out)-1]) > time.Second/2 {
			out = append(out, at)
		}
	}

	return out
}

// lastPause is how long the last attempt came after the one before.
func (r *emptyRegistry) lastPause() time.Duration {
	a := r.attempts()
	if len(a) < 2 {
		return 0
	}

	return a[len(a)-1].Sub(a[len(a)-2])
}
