// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package isolation

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// TestAPIServer holds what this package says against a real API server.
func TestAPIServer(t *testing.T) {
	c, err := client.New(testenv.RunControlPlane(t), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	t.Run("Rules", func(t *testing.T) { testRules(t, c) })
	t.Run("Stored", func(t *testing.T) { testStored(t, c) })
	t.Run("PodSecurity", func(t *testing.T) { testPodSecurity(t, c) })
}

func policy(name string, spec networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}, Spec: spec}
}

// testRules holds that the API server refuses what Validate does, and nothing else.
func testRules(t *testing.T, c client.Client) {
	for name, tc := range ruleCases() {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), policy("rules", Tenant(&v1alpha1.Isolation{Egress: []egressRule{tc.rule}}, networkingv1.NetworkPolicySpec{})), client.DryRunAll)
			if (err != nil) != (len(tc.errs) > 0) || (err != nil && !kerrors.IsInvalid(err)) {
				t.Errorf("Validate errs with %q, the API server with: %v", tc.errs, err)
			}
		})
	}
}

// testStored holds that the policies are stored as they are made: a difference would
// be written in each pass.
func testStored(t *testing.T, c client.Client) {
	controlPlane := ownControlPlane(t, c)

	specs := map[string]networkingv1.NetworkPolicySpec{
		"control-plane": controlPlane, "default": Tenant(nil, networkingv1.NetworkPolicySpec{}), "none": Tenant(&v1alpha1.Isolation{Egress: []egressRule{}, Ingress: []ingressRule{}}, networkingv1.NetworkPolicySpec{}),
	}

	for name, tc := range ruleCases() {
		if len(tc.errs) == 0 {
			specs[strings.ToLower(name)] = Tenant(&v1alpha1.Isolation{Egress: []egressRule{tc.rule}, Ingress: []ingressRule{{From: tc.rule.To, Ports: tc.rule.Ports}}}, networkingv1.NetworkPolicySpec{})
		}
	}

	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			p := policy(name, *spec.DeepCopy())
			if err := c.Create(t.Context(), p); err != nil {
				t.Fatal(err)
			}

			if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(spec, p.Spec); diff != "" {
				t.Errorf("-made, +stored:\n%s", diff)
			}
		})
	}
}

// ownControlPlane is the policy of a control plane on this API server, once that tells where
// it is: it does a moment after it has become ready.
func ownControlPlane(t *testing.T, c client.Client) networkingv1.NetworkPolicySpec {
	t.Helper()

	var (
		out  networkingv1.NetworkPolicySpec
		last error
	)

	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		api := &discoveryv1.EndpointSliceList{}
		if last = c.List(ctx, api, client.InNamespace(APINamespace), client.MatchingLabels{discoveryv1.LabelServiceName: APIService}); last == nil {
			out, last = ControlPlane("vc-alice", api.Items)
		}

		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("the API server tells where it is: %v", last)
	}

	return out
}

// testPodSecurity creates the pods of a control plane under each standard. By default
// they are admitted, and a pod that would reach for the node is not.
func testPodSecurity(t *testing.T, c client.Client) {
	privileged := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}

	for level, admits := range map[v1alpha1.PodSecurityLevel]struct{ controlPlane, hardened, privileged bool }{
		"": {true, true, false}, v1alpha1.PodSecurityPrivileged: {true, true, true}, v1alpha1.PodSecurityRestricted: {false, true, false},
	} {
		in := "level-" + string(level) + "x"
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: in, Labels: PodSecurity(&v1alpha1.Isolation{PodSecurity: level})}}
		if err := c.Create(t.Context(), ns); err != nil {
			t.Fatal(err)
		}

		expectAdmitted(t, c, in, "a pod on the node's network", privileged, admits.privileged)

		for _, version := range []string{"0.34.0", "0.36.1"} {
			expectAdmitted(t, c, in, "the control plane of chart "+version, controlPlanePod(t, version, nil), admits.controlPlane)
			expectAdmitted(t, c, in, "a hardened control plane of chart "+version, controlPlanePod(t, version, hardened()), admits.hardened)
		}
	}
}

func expectAdmitted(t *testing.T, c client.Client, namespace, what string, pod *corev1.PodTemplateSpec, want bool) {
	t.Helper()

	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "pod-", Labels: pod.Labels}, Spec: *pod.Spec.DeepCopy()}
	p.Spec.ServiceAccountName, p.Spec.AutomountServiceAccountToken = "", new(bool)

	// No account is made where no controller runs.
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	if err := c.Create(t.Context(), sa); err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}

	err := c.Create(t.Context(), p, client.DryRunAll)
	if (err == nil) != want || (err != nil && !strings.Contains(err.Error(), "violates PodSecurity")) {
		t.Errorf("%s in namespace %q: want it admitted: %t, got %v", what, namespace, want, err)
	}
}

// hardened are values with which a control plane meets the standard restricted.
func hardened() map[string]any {
	container := map[string]any{
		"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}, "runAsGroup": int64(12345), "runAsNonRoot": true, "runAsUser": int64(12345),
		"seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}

	return map[string]any{"controlPlane": map[string]any{
		"distro":      map[string]any{"k8s": map[string]any{"securityContext": container}},
		"statefulSet": map[string]any{"security": map[string]any{"containerSecurityContext": container, "podSecurityContext": map[string]any{"fsGroup": int64(12345)}}},
	}}
}

// pack the folder of the chart.
func pack(t *testing.T, module fs.FS) []byte {
	t.Helper()

	var out bytes.Buffer

	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)

	err := fs.WalkDir(module, "chart", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		raw, err := fs.ReadFile(module, path)
		if err != nil {
			return err
		}

		if err := packed.WriteHeader(&tar.Header{Name: path, Mode: 0o600, Size: int64(len(raw))}); err != nil {
			return err
		}

		_, err = packed.Write(raw)

		return err
	})
	if err := errors.Join(err, packed.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}

	return out.Bytes()
}

// controlPlanePod is what the real chart makes with the provider's values and these.
func controlPlanePod(t *testing.T, version string, overrides map[string]any) *corev1.PodTemplateSpec {
	t.Helper()

	chart, err := helm.LoadChart(pack(t, os.DirFS(vclustertest.ModuleDir(t, version))))
	if err != nil {
		t.Fatal(err)
	}

	values, err := vcluster.Values(vcluster.Spec{
		ChartVersion: version, TenantName: "alice", CloudSpaceID: "7e9d3a1b", Distro: v1alpha1.DistroK8s, Overrides: overrides,
		Allowed: []string{vcluster.AllowAll}, // What a platform hardens.
	})
	if err != nil {
		t.Fatal(err)
	}

	objs, err := chart.Render("vc-alice", "vcluster-alice", values)
	if err != nil {
		t.Fatal(err)
	}

	for _, o := range objs {
		if o.GetKind() != "StatefulSet" {
			continue
		}

		s := &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, s); err != nil {
			t.Fatal(err)
		}

		// Its volume is a claim, which is of no matter here.
		s.Spec.Template.Spec.Volumes = append(s.Spec.Template.Spec.Volumes, corev1.Volume{Name: "data"})

		return &s.Spec.Template
	}

	t.Fatalf("chart %s makes no StatefulSet", version)

	return nil
}
