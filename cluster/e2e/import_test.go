// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/registry"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// imported is the Tenant of examples/import, which looks at the vCluster that
// somebody installed by hand, and then takes it over.
type imported struct {
	*cloudSpace

	// pod is the control plane's, volume its claim, when they were looked at last.
	pod, volume types.UID
}

var _ = Describe("The import of a vCluster that was installed by hand", Ordered, func() {
	c := &imported{cloudSpace: &cloudSpace{}}

	BeforeAll(func(ctx SpecContext) {
		c.t = c.read("observe.yaml")
		installByHand(ctx, namespaceOf(c.t), releaseOf(c.t), map[string]any{
			// The build that may be used by all, and what somebody wanted.
			"controlPlane": map[string]any{"statefulSet": map[string]any{"image": map[string]any{"repository": vcluster.ImageRepository}}},
			"logging":      map[string]any{"encoding": "json"},
		})
		DeferCleanup(func(ctx SpecContext) { removeAndWait(ctx, c.t) }, NodeTimeout(cleanupLimit))
		Eventually(ctx, func(ctx context.Context) error {
			return cluster.ExportedAnswers(ctx, releaseOf(c.t), namespaceOf(c.t))
		}).WithTimeout(readyLimit).WithPolling(pollEvery).Should(Succeed())
	}, NodeTimeout(specLimit))

	itObserves(c)
	itRefusesWhatNobodyAskedFor(c)
	itAdopts(c)
	itLetsGo(c)
	itAdoptsAgain(c)
})

func itObserves(c *imported) {
	It("R9: is only looked at with the policy Observe", func(ctx SpecContext) {
		before, mark := c.onHost(ctx), markAudit()

		c.apply(ctx, "observe.yaml")
		eventually(ctx, c.t, phaseLimit, And(beReady(), say("vCluster ready, only observed")))
		Expect(c.t).To(haveCondition(v1alpha1.TypeReleaseDeployed, corev1.ConditionTrue, v1alpha1.ReasonObserved,
			"would be taken away: logging.encoding; ", "would be set: controlPlane.distro.k8s."))
		Expect(c.t.Status.Namespace).To(Equal("vcluster-carol-default"))
		Expect(c.t.Status.VClusterName).To(Equal("vc-carol-default"))
		Expect(c.t.Status.ChartVersion).To(Equal(rig.ChartVersion))
		Expect(c.t.Status.Endpoint).To(HavePrefix("https://"))
		Expect(rig.Answers(ctx, secretOf(ctx, c.t).Data[secretKey])).To(Succeed())

		By("looking at it often")
		for _, token := range []string{"look-1", "look-2", "look-3"} {
			reconcileNow(ctx, c.t, token)
		}

		Expect(c.onHost(ctx)).To(Equal(before))

		writes := providerWrites(ctx, mark)
		for kind := range writes {
			Expect([]string{"tenants", "tenants/status", "secrets", "providerconfigusages", "clusterproviderconfigs", "clusterproviderconfigs/status", "events"}).To(ContainElement(kind))
		}

		Expect(writes).To(HaveKeyWithValue("secrets", 1), "the kubeconfig beside the Tenant")

		c.enter(ctx)
		Expect(c.in.Create(ctx, precious())).To(Succeed())
	}, SpecTimeout(specLimit))

	It("is looked at as often as its Tenant asks for", func(ctx SpecContext) {
		annotate(ctx, c.t, meta.AnnotationKeyPollInterval, "5s")
		_, err := rig.Kubectl(ctx, "scale", "statefulset", releaseOf(c.t), "-n", namespaceOf(c.t), "--replicas=0")
		Expect(err).NotTo(HaveOccurred())
		// Nothing tells of it, and the poll of a Ready Tenant is a minute.
		eventually(ctx, c.t, phaseLimit, bePhase(v1alpha1.PhaseProvisioning))

		_, err = rig.Kubectl(ctx, "scale", "statefulset", releaseOf(c.t), "-n", namespaceOf(c.t), "--replicas=1")
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, c.t, readyLimit, beReady())
	}, SpecTimeout(specLimit))

	It("stays as it is when its Tenant is deleted", func(ctx SpecContext) {
		before := c.onHost(ctx)

		removeAndWait(ctx, c.t)
		expectGone(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.t.GetNamespace(), Name: publishedKey(c.t).Name}})
		Expect(c.onHost(ctx)).To(Equal(before))
		Expect(cluster.ExportedAnswers(ctx, releaseOf(c.t), namespaceOf(c.t))).To(Succeed())
	}, SpecTimeout(specLimit))

	It("is said to be missing when there is none", func(ctx SpecContext) {
		t := rig.NewTenant(newNamespace(ctx), "nothing")
		t.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
		create(ctx, t)
		eventually(ctx, t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say("there is no vCluster", namespaceOf(t))))
		expectNoHostNamespace(ctx, t)
	}, SpecTimeout(specLimit))
}

func itRefusesWhatNobodyAskedFor(c *imported) {
	It("is not taken over unless that is asked for in so many words", func(ctx SpecContext) {
		before := c.onHost(ctx)

		c.t = c.read("adopt.yaml")
		c.t.SetAnnotations(nil)
		Expect(cluster.Client.Create(ctx, c.t)).To(Succeed())
		eventually(ctx, c.t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say("not made by this provider", v1alpha1.AnnotationAdopt, `"vcluster-carol-default"`)))

		annotate(ctx, c.t, v1alpha1.AnnotationAdopt, "true")
		eventually(ctx, c.t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say(`is "true"`, `must be "vcluster-carol-default"`)))

		By("asking for what it would not survive")
		patch(ctx, c.t, func(t *v1alpha1.Tenant) {
			t.Spec.VCluster.ValuesOverrides = values(`{"controlPlane":{"statefulSet":{"persistence":{"volumeClaim":{"size":"10Gi"}}}}}`)
			t.Annotations[v1alpha1.AnnotationAdopt] = namespaceOf(t)
		})
		eventually(ctx, c.t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say("cannot adopt", "persistence.volumeClaim.size", "5Gi", "10Gi")))

		Expect(c.onHost(ctx)).To(Equal(before))
		removeAndWait(ctx, c.t)
		Expect(c.onHost(ctx)).To(Equal(before))
	}, SpecTimeout(specLimit))
}

func itAdopts(c *imported) {
	It("R9: is taken over with all that is in it", func(ctx SpecContext) {
		pod, volume := c.pod, c.volume

		c.apply(ctx, "adopt.yaml")
		eventually(ctx, c.t, readyLimit, And(beReady(), say(messageWhole)))
		c.enter(ctx)
		Expect(c.in.Get(ctx, client.ObjectKeyFromObject(precious()), &corev1.ConfigMap{})).To(Succeed())

		ns := &corev1.Namespace{}
		Expect(cluster.Client.Get(ctx, client.ObjectKey{Name: namespaceOf(c.t)}, ns)).To(Succeed())
		Expect(ns.GetLabels()).To(HaveKeyWithValue(v1alpha1.LabelTenantUID, string(c.t.GetUID())))
		Expect(ns.GetAnnotations()).To(HaveKey(v1alpha1.AnnotationAdoptedAt))
		Expect(wallOf(ctx, c.t).Spec.Hard).NotTo(BeEmpty())

		By("looking at what became of its release")
		env, err := controlPlaneEnv(ctx, c.t)
		Expect(err).NotTo(HaveOccurred())
		Expect(env).To(ContainElement(logsJSON), "what somebody wanted stays")
		Expect(records(ctx, c.t)).To(HaveLen(2))
		c.look(ctx)
		Expect(c.volume).To(Equal(volume))
		Expect(c.pod).NotTo(Equal(pod), "its values have changed, which costs one restart")
	}, SpecTimeout(specLimit))

	It("belongs to its Tenant alone", func(ctx SpecContext) {
		for what, p := range map[string]xpv2.ManagementPolicies{"adopt": {"*"}, "look at": {xpv2.ManagementActionObserve}} {
			By("refusing one that would " + what + " it")
			rival := rig.NewTenant(newNamespace(ctx), "rival")
			rival.Spec.TenantName = c.t.Spec.TenantName
			rival.SetManagementPolicies(p)
			rival.SetAnnotations(map[string]string{v1alpha1.AnnotationAdopt: namespaceOf(c.t)})
			create(ctx, rival)
			eventually(ctx, rival, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say("belongs to Tenant", client.ObjectKeyFromObject(c.t).String())))
			removeAndWait(ctx, rival)
		}

		consistently(ctx, c.t, beReady())
	}, SpecTimeout(specLimit))
}

func itLetsGo(c *imported) {
	It("R9: survives its Tenant without the policy Delete", func(ctx SpecContext) {
		patch(ctx, c.t, func(t *v1alpha1.Tenant) {
			t.SetManagementPolicies(xpv2.ManagementPolicies{
				xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize,
			})
		})
		eventually(ctx, c.t, phaseLimit, beReady())

		agent, quota, inside, before := c.agent(ctx), c.quota(ctx), c.imprint(ctx), c.onHost(ctx)

		removeAndWait(ctx, c.t)

		for _, o := range []client.Object{agent, quota, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.t.GetNamespace(), Name: publishedKey(c.t).Name}}} {
			expectGone(ctx, o)
		}

		Expect(c.onHost(ctx)).To(Equal(before))
		Expect(c.imprint(ctx)).To(Equal(inside))
	}, SpecTimeout(specLimit))
}

func itAdoptsAgain(c *imported) {
	It("is taken over once more without a restart when nothing of it is to change", func(ctx SpecContext) {
		pod, volume, revisions := c.pod, c.volume, len(records(ctx, c.t))

		c.apply(ctx, "adopt.yaml")
		eventually(ctx, c.t, readyLimit, And(beReady(), say(messageWhole)))
		c.look(ctx)
		Expect([]types.UID{c.pod, c.volume}).To(Equal([]types.UID{pod, volume}))
		Expect(records(ctx, c.t)).To(HaveLen(revisions))
		c.enter(ctx)
		Expect(c.in.Get(ctx, client.ObjectKeyFromObject(precious()), &corev1.ConfigMap{})).To(Succeed())
	}, SpecTimeout(specLimit))

	It("goes with its Tenant as any other", func(ctx SpecContext) {
		removeAndWait(ctx, c.t)
		expectNothingLeft(ctx, c.t)
	}, SpecTimeout(specLimit))
}

// precious is what must not get lost inside.
func precious() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "precious"}}
}

// read the Tenant in a file of examples/import.
func (c *imported) read(file string) *v1alpha1.Tenant {
	GinkgoHelper()

	all, err := rig.ReadManifests(c.path(file))
	Expect(err).NotTo(HaveOccurred())
	Expect(all).To(HaveLen(1))

	t := &v1alpha1.Tenant{}
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(all[0].Object, t)).To(Succeed())

	return t
}

func (c *imported) path(file string) string { return filepath.Join(root, "examples", "import", file) }

// apply a file of examples/import as the README says.
func (c *imported) apply(ctx context.Context, file string) {
	GinkgoHelper()

	c.t = c.read(file)
	_, err := rig.Kubectl(ctx, "apply", "-f", c.path(file))
	Expect(err).NotTo(HaveOccurred())
}

// look at the control plane's pod and its volume.
func (c *imported) look(ctx context.Context) {
	GinkgoHelper()

	pod := &corev1.Pod{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(c.t), Name: releaseOf(c.t) + "-0"}, pod)).To(Succeed())

	claim := &corev1.PersistentVolumeClaim{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(c.t), Name: "data-" + releaseOf(c.t) + "-0"}, claim)).To(Succeed())

	c.pod, c.volume = pod.GetUID(), claim.GetUID()
}

// onHost are the versions of what only the provider or a person would change of it on
// the host.
func (c *imported) onHost(ctx context.Context) []string {
	GinkgoHelper()
	c.look(ctx)

	ns := &corev1.Namespace{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Name: namespaceOf(c.t)}, ns)).To(Succeed())

	out := []string{version(ns), string(c.pod), string(c.volume)}
	for _, r := range records(ctx, c.t) {
		out = append(out, version(&r))
	}

	for _, l := range []client.ObjectList{&corev1.ResourceQuotaList{}, &corev1.LimitRangeList{}} {
		Expect(cluster.Client.List(ctx, l, client.InNamespace(namespaceOf(c.t)))).To(Succeed())
		Expect(apimeta.EachListItem(l, func(o runtime.Object) error {
			item, err := apimeta.Accessor(o)
			out = append(out, item.GetName()+" "+string(item.GetUID()))

			return err
		})).To(Succeed())
	}

	return out
}

// expectGone waits until the garbage collector has taken the object.
func expectGone(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) error {
		return cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	}).WithTimeout(collectLimit).WithPolling(pollEvery).Should(MatchError(kerrors.IsNotFound, "not found"))
}

// installByHand is helm install, as people type it.
func installByHand(ctx context.Context, namespace, release string, values map[string]any) {
	GinkgoHelper()

	puller, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptWriter(io.Discard))
	Expect(err).NotTo(HaveOccurred())
	pulled, err := puller.Pull(strings.TrimPrefix(rig.ChartRepository, registry.OCIScheme+"://") + ":" + rig.ChartVersion)
	Expect(err).NotTo(HaveOccurred())
	chart, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
	Expect(err).NotTo(HaveOccurred())

	settings, cfg := cli.New(), &action.Configuration{}
	settings.SetNamespace(namespace)
	Expect(cfg.Init(settings.RESTClientGetter(), namespace, "secret", func(string, ...any) {})).To(Succeed())

	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.Timeout = release, namespace, true, time.Minute

	_, err = install.RunWithContext(ctx, chart, values)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		// Adopted, it went with its Tenant.
		removeAndWait(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}, NodeTimeout(cleanupLimit))
}
