// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package secretscan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestRecordOnAPIServer plants a secret that lives for a moment in each output that the
// cluster holds, for a moment as well.
func TestRecordOnAPIServer(t *testing.T) {
	cfg := testenv.RunControlPlane(t, "package/crds")

	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}

	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}

	r, err := Record(t.Context(), cfg, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	named := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "alice"}
	report := metav1.ObjectMeta{
		Namespace: named.Namespace, Name: "report", Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, report.LabelReport: ""},
	}
	foreign := metav1.ObjectMeta{Namespace: named.Namespace, Name: "not-ours"}
	about := corev1.ObjectReference{Namespace: named.Namespace, Name: named.Name}

	for _, o := range []client.Object{
		&corev1.Secret{ObjectMeta: named, Data: map[string][]byte{"password": []byte(planted)}},
		&corev1.Event{ObjectMeta: named, InvolvedObject: about, Message: "x " + planted},
		&corev1.ConfigMap{ObjectMeta: report, Data: map[string]string{"report.json": planted}},
		&corev1.ConfigMap{ObjectMeta: foreign, Data: map[string]string{"x": planted}},
	} {
		if err := errors.Join(c.Create(t.Context(), o), c.Delete(t.Context(), o)); err != nil {
			t.Fatal(err)
		}
	}

	tenant := &v1alpha1.Tenant{ObjectMeta: named, Spec: v1alpha1.TenantSpec{UserID: "u", TenantName: "alice", CloudSpaceID: "c"}}
	if err := c.Create(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}

	tenant.Status.Message = planted
	if err := c.Status().Update(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}

	tenant.Status.Message = ""
	if err := errors.Join(c.Status().Update(t.Context(), tenant), c.Delete(t.Context(), tenant)); err != nil {
		t.Fatal(err)
	}

	found := awaitFindings(t, r, 3)

	for _, kind := range []string{"Event default/alice", "ConfigMap default/report", "Tenant default/alice"} {
		if !strings.Contains(found, kind) {
			t.Errorf("Scan(): want %q, got\n%s", kind, found)
		}
	}

	if strings.Contains(found, foreign.Name) {
		t.Errorf("What is not ours is no output: got\n%s", found)
	}
}

// awaitFindings stops the recording when it has as many.
func awaitFindings(t *testing.T, r *Recording, want int) string {
	t.Helper()

	var (
		res Result
		err error
	)

	_ = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		res, err = r.Scan()

		return len(res.Findings) >= want || err != nil, nil
	})

	r.Stop()

	if len(res.Findings) != want || err != nil {
		t.Errorf("Scan(): want %d findings, got %v, %v", want, res.Findings, err)
	}

	var out strings.Builder
	for _, f := range res.Findings {
		out.WriteString(f.String() + "\n")
	}

	return out.String()
}
