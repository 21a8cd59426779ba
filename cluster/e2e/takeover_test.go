// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/bench/barehelm"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
)

func itLeavesFluxToWhoTakesItOver(c *cloudSpace) {
	It("leaves Flux alone as long as it is applied from Git", func(ctx SpecContext) {
		before := counters(ctx)
		// What Flux puts on whatever a Kustomization applies.
		label := func(how ...string) {
			c.kubectl(ctx, slices.Concat([]string{"label", "-n", flux.Namespace, "deployment", "source-controller", "kustomize-controller"}, how)...)
		}

		label("kustomize.toolkit.fluxcd.io/name=flux", "kustomize.toolkit.fluxcd.io/namespace=flux-system")
		reconcileNow(ctx, c.t, "applied-from-git")
		Expect(c.t).To(And(beReady(), haveFlux(v1alpha1.ReasonUnmanaged, "kustomize-controller", "Kustomization flux-system/flux")))

		label("kustomize.toolkit.fluxcd.io/name-", "kustomize.toolkit.fluxcd.io/namespace-")
		reconcileNow(ctx, c.t, "no-longer-applied-from-git")
		Expect(c.t).To(And(beReady(), haveFlux(v1alpha1.ReasonDone), say(messageWhole)))
		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions]))
	}, SpecTimeout(specLimit))

	It("leaves Flux alone once the tenant's admin has upgraded it", func(ctx SpecContext) {
		c.upgradeFlux(ctx, map[string]any{"kustomizeController": map[string]any{"container": map[string]any{"additionalArgs": []any{"--concurrent=2"}}}})

		before := counters(ctx)

		for i := range 3 {
			reconcileNow(ctx, c.t, fmt.Sprintf("taken-over-%d", i))
			Expect(c.t).To(And(beReady(), haveFlux(v1alpha1.ReasonUnmanaged, flux.ReleaseName)))
		}

		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions]))
		Expect(c.kubectl(ctx, "get", "deployment", "-n", flux.Namespace, "kustomize-controller", "-o", "yaml")).To(ContainSubstring("--concurrent=2"))
	}, SpecTimeout(specLimit))
}

// haveFlux matches a Tenant with Flux, for that reason and in these words.
func haveFlux(reason xpv2.ConditionReason, words ...string) gomegatypes.GomegaMatcher {
	return haveCondition(v1alpha1.TypeFluxReady, corev1.ConditionTrue, reason, words...)
}

// upgradeFlux is what the tenant's admin does with helm upgrade --reuse-values.
func (c *cloudSpace) upgradeFlux(ctx context.Context, values map[string]any) {
	GinkgoHelper()

	cfg := &action.Configuration{}
	settings := cli.New()
	settings.KubeConfig = c.file
	settings.SetNamespace(flux.Namespace)
	Expect(cfg.Init(settings.RESTClientGetter(), flux.Namespace, "secret", func(string, ...any) {})).To(Succeed())

	packed, err := barehelm.Pull(rig.FluxChartRepository, rig.FluxChartVersion)
	Expect(err).NotTo(HaveOccurred())
	chart, err := loader.LoadArchive(bytes.NewReader(packed))
	Expect(err).NotTo(HaveOccurred())

	up := action.NewUpgrade(cfg)
	up.Namespace, up.ReuseValues = flux.Namespace, true

	have, err := action.NewGet(cfg).Run(flux.ReleaseName)
	Expect(err).NotTo(HaveOccurred())
	_, err = up.RunWithContext(ctx, flux.ReleaseName, have.Chart, values)
	Expect(err).To(MatchError(ContainSubstring("does not keep chart flux2")), "a record without templates would take Flux away")

	_, err = up.RunWithContext(ctx, flux.ReleaseName, chart, values)
	Expect(err).NotTo(HaveOccurred())
}
