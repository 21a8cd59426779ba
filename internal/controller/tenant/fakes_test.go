// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// watchedOnly reads as the host's cache does: only what carries the labels of
// the watched kinds exists, and a kind that is not watched is an error.
type watchedOnly struct{ host client.Reader }

func (r watchedOnly) selects(o runtime.Object, l map[string]string) (bool, error) {
	switch o.(type) {
	case *corev1.Namespace, *corev1.NamespaceList, *corev1.ResourceQuota, *corev1.LimitRange, *networkingv1.NetworkPolicy:
		return l[v1alpha1.LabelManagedBy] == v1alpha1.ManagedBy, nil
	case *appsv1.StatefulSet, *appsv1.StatefulSetList, *appsv1.Deployment, *appsv1.DeploymentList, *corev1.Service:
		return l[vcluster.LabelApp] == vcluster.AppName || l[vcluster.LabelApp] == vcluster.EtcdAppName, nil
	case *discoveryv1.EndpointSliceList:
		return l[discoveryv1.LabelServiceName] == isolation.APIService, nil
	default:
		return false, fmt.Errorf("%T is not watched", o)
	}
}

func (r watchedOnly) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := r.host.Get(ctx, key, o, opts...); err != nil {
		return err
	}

	ok, err := r.selects(o, o.GetLabels())
	if err == nil && !ok {
		return kerrors.NewNotFound(schema.GroupResource{Resource: kindOf(o)}, key.Name)
	}

	return err
}

func (r watchedOnly) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if err := r.host.List(ctx, l, opts...); err != nil {
		return err
	}

	all, err := meta.ExtractList(l)
	if err != nil {
		return err
	}

	kept := all[:0]

	for _, o := range all {
		ok, err := r.selects(l, o.(client.Object).GetLabels())
		if err != nil {
			return err
		}

		if ok {
			kept = append(kept, o)
		}
	}

	return meta.SetList(l, kept)
}

// journal is what was done, in order.
type journal struct {
	mu   sync.Mutex
	done []string
}

func (j *journal) add(action string) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.done = append(j.done, action)
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.done = nil
}

func (j *journal) set(done []string) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.done = done
}

// take returns the journal and clears it.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()

	out := j.done
	j.done = nil

	return out
}

// reads counts all reads of a pass and fails one of them, or those of one thing.
type reads struct {
	count  int
	failAt int
	failed string
	// failOn fails each read of that, until it is something else.
	failOn string
	// with is what a failed read errs with; nil is errInjected.
	with error
}

func (r *reads) next(what string) error {
	r.count++
	if r.count != r.failAt && what != r.failOn {
		return nil
	}

	r.failed = what
	if r.with != nil {
		return r.with
	}

	return errInjected
}

// fail the nth read from now on; none if n is 0.
func (r *reads) fail(n int) { r.count, r.failAt, r.failed = 0, n, "" }

// unmet says which read was to fail, and never came; empty if there is none.
func (r *reads) unmet() string {
	switch {
	case r.failed != "":
		return ""
	case r.failAt > 0:
		return fmt.Sprintf("read %d was to fail, and there were %d", r.failAt, r.count)
	case r.failOn != "":
		return fmt.Sprintf("%q was to fail, and nobody read it", r.failOn)
	default:
		return ""
	}
}

// fakeHelm has at most one release.
type fakeHelm struct {
	journal *journal
	reads   *reads
	clock   *clocktesting.FakePassiveClock

	release *helm.Release
	// namespace and manifest of what is written, and what writing it makes.
	namespace, manifest string
	make                func()
	// Errors of the actions, if any.
	installErr, upgradeErr, unlockErr, uninstallErr error
	// stuck keeps a release that is uninstalled.
	stuck bool
	die   func(action string) error
}

// version of the stored record.
func (h *fakeHelm) version() string { return fmt.Sprint(h.release.Revision, h.release.Status) }

func (h *fakeHelm) client() helm.Client {
	return helm.ClientFns{
		GetFn: func(_ context.Context, name string) (*helm.Release, error) {
			if err := h.reads.next("helm get " + name); err != nil {
				return nil, err
			}

			if h.release == nil || h.release.Name != name {
				return nil, fmt.Errorf("%w: %q", helm.ErrReleaseNotFound, name)
			}

			out := *h.release
			out.ResourceVersion = h.version()

			return &out, nil
		},
		ResourceVersionFn: func(_ context.Context, name string) (string, error) {
			if h.release == nil || h.release.Name != name {
				return "", fmt.Errorf("%w: %q", helm.ErrReleaseNotFound, name)
			}

			return h.version(), nil
		},
		InstallFn: func(_ context.Context, name string, c *helm.Chart, v map[string]any) (*helm.Release, error) {
			h.journal.add("helm install " + name)
			return h.write(name, 1, c, v, h.installErr)
		},
		UpgradeFn: func(_ context.Context, name string, c *helm.Chart, v map[string]any) (*helm.Release, error) {
			h.journal.add("helm upgrade " + name)

			if h.release == nil {
				return nil, helm.ErrReleaseNotFound
			}

			if h.release.Status.Pending() {
				return nil, helm.ErrReleaseLocked
			}

			return h.write(name, h.release.Revision+1, c, v, h.upgradeErr)
		},
		UninstallFn: func(_ context.Context, name string) error {
			h.journal.add("helm uninstall " + name)

			if h.uninstallErr != nil || h.stuck {
				return h.uninstallErr
			}

			h.release = nil

			return h.die("uninstall " + name)
		},
		UnlockFn: func(_ context.Context, r *helm.Release) error {
			h.journal.add("helm unlock " + r.Name)

			if h.unlockErr == nil {
				h.release.Status = helm.StatusFailed
			}

			return h.unlockErr
		},
	}
}

// write a revision, which is failed when err is set, as Helm does.
func (h *fakeHelm) write(name string, revision int, c *helm.Chart, v map[string]any, err error) (*helm.Release, error) {
	if c == nil {
		return nil, errors.New("no chart was given")
	}

	h.release = &helm.Release{
		Name: name, Namespace: h.namespace, Revision: revision, Status: helm.StatusDeployed, Updated: h.clock.Now(),
		ChartName: c.Name(), ChartVersion: c.Version(), Values: v, Manifest: h.manifest, Ours: true,
	}
	h.make()

	if err != nil {
		h.release.Status, h.release.Description = helm.StatusFailed, err.Error()
	}

	return h.release, err
}

// recorder keeps the events.
type recorder struct{ events []event.Event }

func (r *recorder) Event(_ runtime.Object, e event.Event)    { r.events = append(r.events, e) }
func (r *recorder) WithAnnotations(...string) event.Recorder { return r }

// reasons of the events so far.
func (r *recorder) reasons() []event.Reason {
	var out []event.Reason
	for _, e := range r.events {
		out = append(out, e.Reason)
	}

	return out
}

// has says whether there was an event with one of the reasons.
func (r *recorder) has(reasons ...event.Reason) bool {
	return slices.ContainsFunc(r.events, func(e event.Event) bool { return slices.Contains(reasons, e.Reason) })
}

// count of the events with that reason.
func (r *recorder) count(reason event.Reason) int {
	n := 0

	for _, e := range r.events {
		if e.Reason == reason {
			n++
		}
	}

	return n
}

// of is the first event with that reason, empty when there is none.
func (r *recorder) of(reason event.Reason) event.Event {
	for _, e := range r.events {
		if e.Reason == reason {
			return e
		}
	}

	return event.Event{}
}
