// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package tenant

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// workloadChart makes a control plane of that kind and its Service, as vCluster's does.
func workloadChart(kind string) map[string]string {
	const labels = `{app: vcluster, release: "{{ .Release.Name }}"}`

	return map[string]string{
		"templates/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: \"{{ .Release.Name }}\", labels: " + labels + "}\nspec: {ports: [{port: 443}]}\n",
		"templates/workload.yaml": "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: \"{{ .Release.Name }}\", labels: " + labels + "}\n" +
			"spec:\n  replicas: 1\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n" +
			"    spec: {containers: [{name: c, image: \"example.org/c:1\"}]}\n",
	}
}

// TestH9OnAPIServer holds that the host's watch tells of what someone does to a live
// object of the release, and that Helm puts it back, once: no poll comes within an hour.
func TestH9OnAPIServer(t *testing.T) {
	for kind, empty := range map[string]func() client.Object{
		"StatefulSet": func() client.Object { return &appsv1.StatefulSet{} },
		"Deployment":  func() client.Object { return &appsv1.Deployment{} },
	} {
		t.Run("H9: "+kind, func(t *testing.T) {
			s := newAPIServer(t)
			s.configureWith(workloadChart(kind))

			tn := fresh()
			tn.SetAnnotations(map[string]string{meta.AnnotationKeyPollInterval: "1h"})
			s.create(tn)

			key := types.NamespacedName{Namespace: "vcluster-alice-default", Name: "vc-alice-default"}
			whole := func(ctx context.Context) (bool, error) {
				w := empty()
				if s.Get(ctx, key, w) != nil || s.Get(ctx, key, &corev1.Service{}) != nil {
					return false, nil
				}

				switch w := w.(type) {
				case *appsv1.StatefulSet:
					return !toNothing(w.Spec.Replicas), nil
				case *appsv1.Deployment:
					return !toNothing(w.Spec.Replicas), nil
				default:
					return false, nil
				}
			}
			s.await("it is installed", whole)

			named := func(o client.Object) client.Object {
				o.SetNamespace(key.Namespace)
				o.SetName(key.Name)

				return o
			}
			harms := []func() error{
				func() error {
					return s.Patch(t.Context(), named(empty()), client.RawPatch(types.MergePatchType, []byte(`{"spec": {"replicas": 0}}`)))
				},
				func() error { return s.Delete(t.Context(), named(empty())) },
				func() error { return s.Delete(t.Context(), named(&corev1.Service{})) },
			}

			for i, harm := range harms {
				if err := harm(); err != nil {
					t.Fatal(err)
				}

				s.await("it is repaired", whole)
				s.await("that is told once", func(ctx context.Context) (bool, error) { return s.repairs(ctx) == i+1, nil })
			}

			if n := s.attempts(); n != 1+len(harms) {
				t.Errorf("revision %d, want one for each repair and the first", n)
			}
		})
	}
}

// await that something becomes true, within the time for which a young release is left
// alone and some more.
func (s *apiServer) await(what string, ok wait.ConditionWithContextFunc) {
	s.t.Helper()

	if err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, 4*settleTime, true, ok); err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

// repairs that events tell of.
func (s *apiServer) repairs(ctx context.Context) int {
	s.t.Helper()

	l := &corev1.EventList{}
	if err := s.List(ctx, l, client.InNamespace(tenantNamespace)); err != nil {
		s.t.Fatal(err)
	}

	n := 0

	for i := range l.Items {
		if e := &l.Items[i]; e.Reason == string(reasonRepaired) && strings.Contains(e.Message, "vc-alice-default") {
			n += max(1, int(e.Count))
		}
	}

	return n
}
