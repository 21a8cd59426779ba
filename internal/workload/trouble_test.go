// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var (
	epoch  = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	labels = client.MatchingLabels{"app": "web"}
)

func newClient(funcs interceptor.Funcs, objs ...client.Object) client.Client {
	b := fake.NewClientBuilder().WithObjects(objs...).WithInterceptorFuncs(funcs)

	for field, of := range map[string]func(*corev1.Event) string{
		"involvedObject.kind": func(e *corev1.Event) string { return e.InvolvedObject.Kind },
		"involvedObject.name": func(e *corev1.Event) string { return e.InvolvedObject.Name },
		"type":                func(e *corev1.Event) string { return e.Type },
	} {
		b.WithIndex(&corev1.Event{}, field, func(o client.Object) []string { return []string{of(o.(*corev1.Event))} })
	}

	return b.Build()
}

func deployment(conditions ...appsv1.DeploymentCondition) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "web"}, Status: appsv1.DeploymentStatus{Conditions: conditions}}
}

func pod(name string, s ...corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: labels}, Status: containers(s...)}
}

func warning(name, kind, of, message string, at time.Duration) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "n", Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: of},
		Type:           corev1.EventTypeWarning, Message: message, LastTimestamp: metav1.NewTime(epoch.Add(at)),
	}
}

// pending is a pod that no node has.
func pending(name string) *corev1.Pod {
	p := pod(name)
	p.Status.Phase = corev1.PodPending

	return p
}

func TestTrouble(t *testing.T) {
	t.Parallel()

	failure := appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: `pods "web-6b7f-x8xz2" is forbidden: exceeded quota: q`}
	over := failure
	over.Status = corev1.ConditionFalse

	normal := warning("normal", "StatefulSet", "web", "created", time.Hour)
	normal.Type = corev1.EventTypeNormal

	newForm := warning("new-form", "StatefulSet", "web", "new form", 0)
	newForm.LastTimestamp, newForm.EventTime = metav1.Time{}, metav1.NewMicroTime(epoch.Add(2*time.Hour))

	series := warning("series", "StatefulSet", "web", "series", 0)
	series.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(epoch.Add(3 * time.Hour))}

	stranger := pod("other", waiting("c", "ErrImagePull", "not ours"))
	stranger.SetLabels(map[string]string{"app": "other"})

	cases := map[string]struct {
		reason string
		kind   string
		objs   []client.Object
		want   string
	}{
		"Nothing": {"nothing is known", "StatefulSet", nil, ""},
		"Pods": {
			"its pods say why, sorted, each once", "StatefulSet",
			[]client.Object{
				pod("b", waiting("c", "ErrImagePull", "no such image")), pod("a", ended("c", false, 1), ended("c", false, 1)), stranger,
				warning("w", "StatefulSet", "web", "an old one", 0),
			},
			"pod a, container c ended with code 1 (OOMKilled); pod b, container c: ImagePullBackOff: no such image",
		},
		"QuietPods": {"pods that start say nothing, and events are about others before them", "StatefulSet", []client.Object{pod("a"), warning("w", "StatefulSet", "web", "an old one", 0)}, ""},
		"RefusedPod": {
			"a pod that gets no node may be refused by the host cluster, which its events tell", "Deployment",
			[]client.Object{deployment(), pending("web-6b7f-x8xz2"), warning("w", "Pod", "web-6b7f-x8xz2", "exceeded quota: kubeopera-tenant", time.Minute), warning("o", "Pod", "other", "not its", time.Hour)},
			"exceeded quota: kubeopera-tenant",
		},
		"PendingPod": {"one that is only young says nothing", "StatefulSet", []client.Object{pending("a"), warning("w", "StatefulSet", "web", "an old one", 0)}, ""},
		"NoPods": {
			"without pods the newest warning about it says why", "StatefulSet",
			[]client.Object{
				normal, warning("old", "StatefulSet", "web", "old", 0), warning("new", "StatefulSet", "web", "exceeded quota: q", time.Minute),
				warning("other", "StatefulSet", "x", "not ours", time.Hour), warning("set", "ReplicaSet", "web-6b7f", "not its", time.Hour),
			},
			"exceeded quota: q",
		},
		"NewForm": {"in whatever form events tell their time", "StatefulSet", []client.Object{warning("old", "StatefulSet", "web", "old", time.Hour), newForm}, "new form"},
		"Series":  {"or their last time", "StatefulSet", []client.Object{newForm, series}, "series"},
		"Refused": {"a Deployment says itself what it cannot make", "Deployment", []client.Object{deployment(failure), warning("w", "Deployment", "web", "an event", 0)}, `pods "web-6b7f-*" is forbidden: exceeded quota: q`},
		"RefusedBeside": {
			"also when some of its pods run", "Deployment", []client.Object{deployment(failure), pod("a")},
			`pods "web-6b7f-*" is forbidden: exceeded quota: q`,
		},
		"NoLongerRefused": {"what is over is not said", "Deployment", []client.Object{deployment(over), pod("a")}, ""},
		"OfItsSets": {
			"the events of its ReplicaSets are its own", "Deployment",
			[]client.Object{
				deployment(), warning("d", "Deployment", "web", "old", 0), warning("set", "ReplicaSet", "web-6b7f", "exceeded quota: q", time.Minute),
				warning("other", "ReplicaSet", "web-admin-6b7f", "not its", time.Hour), warning("another", "ReplicaSet", "x-6b7f", "not its", time.Hour),
			},
			"exceeded quota: q",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := Trouble(t.Context(), newClient(interceptor.Funcs{}, tc.objs...), tc.kind, "web", "n", labels)
			if err != nil || got != tc.want {
				t.Errorf("%s: %q, %v; want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestTroubleCannotRead holds that each read that fails is told.
func TestTroubleCannotRead(t *testing.T) {
	t.Parallel()

	errInjected := errors.New("injected failure")

	for fail := 1; ; fail++ {
		reads := 0
		next := func() error {
			if reads++; reads == fail {
				return errInjected
			}

			return nil
		}
		c := newClient(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := next(); err != nil {
					return err
				}

				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				if err := next(); err != nil {
					return err
				}

				return c.List(ctx, l, opts...)
			},
		}, deployment())

		_, err := Trouble(t.Context(), c, "Deployment", "web", "n", labels)
		if reads < fail {
			if fail != 5 {
				t.Errorf("%d reads, want 4", fail-1)
			}

			return
		}

		if !errors.Is(err, errInjected) {
			t.Errorf("read %d failed: %v", fail, err)
		}
	}
}
