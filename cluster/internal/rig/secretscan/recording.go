// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// host is the name of the cluster that is watched.
const host = "the host"

var secrets = corev1.SchemeGroupVersion.WithResource("secrets")

var (
	errLost = errors.New("the recording has a gap")
	errLate = errors.New("it came too late")
)

const (
	// servedEvery is how often a kind that is not served yet is looked for.
	servedEvery = time.Second
	// learnEvery is how often a vCluster that does not answer is asked again.
	learnEvery = 5 * time.Second
)

// seer sees a version of an object.
type seer func(*unstructured.Unstructured)

// Recording keeps all secrets and all output of a run. It is safe for concurrent use.
type Recording struct {
	// Secrets that were seen so far. Others may be added.
	Secrets Secrets

	client dynamic.Interface
	folder string
	ctx    context.Context // ended by stop
	stop   context.CancelFunc
	ended  sync.WaitGroup

	mu    sync.Mutex
	files map[string]*os.File // by the output's name
	read  map[string]string   // files that are read in the end, by the output's name
	errs  []error
	inner map[string]bool // Tenants that were Ready, and whether the Secrets in their vClusters are known
}

// Record begins to watch the cluster: its Secrets, and the output that it holds, each
// version of it from now on: events, all of our kinds, and those that are given, which may
// be served later only. Specs are left out, but for those of what a Tenant has made. What
// was recorded lies in the folder, which the caller removes.
func Record(ctx context.Context, cfg *rest.Config, folder string, more ...schema.GroupVersionResource) (*Recording, error) {
	c, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}

	r := newRecording(ctx, folder)
	r.client = c

	for kind, see := range map[schema.GroupVersionResource]seer{
		secrets: r.seeSecret,
		corev1.SchemeGroupVersion.WithResource("events"):             r.seeObject,
		corev1.SchemeGroupVersion.WithResource("configmaps"):         r.seeConfigMap,
		v1alpha1.GroupVersion.WithResource("tenants"):                r.seeTenant,
		v1alpha1.GroupVersion.WithResource("advisoragents"):          r.seeObject,
		v1alpha1.GroupVersion.WithResource("tenantquotas"):           r.seeObject,
		v1alpha1.GroupVersion.WithResource("providerconfigs"):        r.seeObject,
		v1alpha1.GroupVersion.WithResource("clusterproviderconfigs"): r.seeObject,
		v1alpha1.GroupVersion.WithResource("providerconfigusages"):   r.seeObject,
	} {
		from, err := r.list(ctx, c.Resource(kind), see)
		if err != nil {
			r.Stop()
			return nil, fmt.Errorf("cannot list %s: %w", kind.Resource, err)
		}

		r.ended.Go(func() { r.follow(c.Resource(kind), from, see) })
	}

	for _, kind := range more {
		r.ended.Go(func() { r.followOnceServed(c.Resource(kind), r.seeObject) })
	}

	return r, nil
}

// newRecording is one that sees nothing yet. It does not end with ctx.
func newRecording(ctx context.Context, folder string) *Recording {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))

	return &Recording{ctx: ctx, folder: folder, stop: stop, files: map[string]*os.File{}, read: map[string]string{}, inner: map[string]bool{}}
}

// Read has a file scanned in the end, as output of that name.
func (r *Recording) Read(output, file string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.read[output] = file
}

// Write adds a line about something to the output of that name. An empty one is none.
func (r *Recording) Write(output, about string, line []byte) {
	if len(line) == 0 {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	f, ok := r.files[output]
	if !ok {
		var err error
		if f, err = os.CreateTemp(r.folder, "output-"); err != nil {
			r.errs = append(r.errs, fmt.Errorf("cannot keep %s: %w", output, err))
			return
		}

		r.files[output] = f
	}

	if _, err := fmt.Fprintf(f, "%s\t%s\n", about, line); err != nil {
		r.errs = append(r.errs, fmt.Errorf("cannot keep %s: %w", output, err))
	}
}

// Sample reads output again and again until Stop. A sample that fails is left out, for
// who puts it out may not run. It is lost output when none succeeds for longer than
// atMost; zero is for ever.
func (r *Recording) Sample(output string, every, atMost time.Duration, read func(context.Context) ([]byte, error)) {
	r.ended.Go(func() {
		for last, told := time.Now(), false; ; {
			at := time.Now()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), every)
			raw, err := read(ctx)

			cancel()

			if gap := time.Since(last); atMost > 0 && gap > atMost && !told {
				told = true

				r.lose(fmt.Errorf("%w: no sample of %s for %s, the last one: %w", errLost, output, gap.Round(time.Second), cmp.Or(err, errLate)))
			}

			if err == nil {
				last = at
				r.Write(output, at.UTC().Format(time.TimeOnly), raw)
			}

			select {
			case <-r.ctx.Done():
				return
			case <-time.After(every):
			}
		}
	})
}

// Encode adds something as JSON to the output of that name.
func (r *Recording) Encode(output, about string, what any) {
	raw, err := json.Marshal(what)
	if err != nil {
		r.lose(fmt.Errorf("cannot encode %s: %w", output, err))
		return
	}

	r.Write(output, about, raw)
}

func (r *Recording) lose(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.errs = append(r.errs, err)
}

// list sees all objects there are, and returns the version to go on from.
func (r *Recording) list(ctx context.Context, c dynamic.ResourceInterface, see seer) (string, error) {
	all, err := c.List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}

	for i := range all.Items {
		see(&all.Items[i])
	}

	return all.GetResourceVersion(), nil
}

// followOnceServed waits until there is such a kind. There are no objects of it before.
func (r *Recording) followOnceServed(c dynamic.ResourceInterface, see seer) {
	for {
		from, err := r.list(r.ctx, c, see)

		switch {
		case err == nil:
			r.follow(c, from, see)
			return
		case !kerrors.IsNotFound(err) && r.ctx.Err() == nil:
			r.lose(err)
			return
		}

		select {
		case <-r.ctx.Done():
			return
		case <-time.After(servedEvery):
		}
	}
}

// follow sees each version of each object after that one. That it cannot go on before
// Stop is a gap.
func (r *Recording) follow(c dynamic.ResourceInterface, from string, see seer) {
	w, err := watchtools.NewRetryWatcherWithContext(r.ctx, from, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return c.Watch(ctx, o) },
	})
	if err != nil && r.ctx.Err() == nil {
		r.lose(fmt.Errorf("%w: cannot watch: %w", errLost, err))
	}

	if err != nil {
		return
	}
	defer w.Stop()

	var last any

	for e := range w.ResultChan() {
		last = e.Object
		if o, ok := e.Object.(*unstructured.Unstructured); ok && e.Type != watch.Bookmark {
			see(o)
		}
	}

	if r.ctx.Err() == nil {
		r.lose(fmt.Errorf("%w: a watch ended with %T", errLost, last))
	}
}

func (r *Recording) seeSecret(o *unstructured.Unstructured) {
	s := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, s); err != nil {
		r.lose(fmt.Errorf("cannot read Secret %s/%s: %w", o.GetNamespace(), o.GetName(), err))
		return
	}

	r.Secrets.Learn(host, s)
}

// seeObject keeps an object in the output of its kind, and its spec if a Tenant has made
// it: no person has written that then.
func (r *Recording) seeObject(o *unstructured.Unstructured) {
	about := fmt.Sprintf("%s %s/%s, version %s", o.GetKind(), o.GetNamespace(), o.GetName(), o.GetResourceVersion())

	o = o.DeepCopy()
	if by := metav1.GetControllerOf(o); by == nil || by.Kind != v1alpha1.TenantGroupVersionKind.Kind {
		delete(o.Object, "spec")
	}

	o.SetManagedFields(nil)
	r.Encode(o.GetKind(), about, o.Object)
}

// seeTenant keeps a Tenant and, once its vCluster can be used, learns the Secrets in it.
func (r *Recording) seeTenant(o *unstructured.Unstructured) {
	r.seeObject(o)

	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	if phase != string(v1alpha1.PhaseReady) {
		return
	}

	id := string(o.GetUID())

	r.mu.Lock()
	learnt, known := r.inner[id]
	r.inner[id] = learnt
	r.mu.Unlock()

	if !known {
		published, _, _ := unstructured.NestedString(o.Object, "status", "kubeconfigSecret")

		r.ended.Go(func() {
			r.learn(id, learnEvery, func(ctx context.Context) error { return r.learnInside(ctx, o.GetNamespace(), published) })
		})
	}
}

// learn what is inside a Tenant until that succeeds, or the Tenant has gone before.
func (r *Recording) learn(id string, every time.Duration, inside func(context.Context) error) {
	for {
		err := inside(r.ctx)
		if err == nil {
			r.mu.Lock()
			defer r.mu.Unlock()

			r.inner[id] = true

			return
		}

		if kerrors.IsNotFound(err) {
			return
		}

		select {
		case <-r.ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// learnInside learns the Secrets in the vCluster of a published kubeconfig.
func (r *Recording) learnInside(ctx context.Context, namespace, published string) error {
	o, err := r.client.Resource(secrets).Namespace(namespace).Get(ctx, published, metav1.GetOptions{})
	if err != nil {
		return err
	}

	s := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, s); err != nil {
		return err
	}

	return rig.Inside(ctx, s.Data["kubeconfig"], func(ctx context.Context, k kubernetes.Interface) error {
		all, err := k.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}

		for i := range all.Items {
			r.Secrets.Learn("the vCluster of "+published, &all.Items[i])
		}

		return nil
	})
}

// seeConfigMap keeps one if it is ours: a report that waits.
func (r *Recording) seeConfigMap(o *unstructured.Unstructured) {
	if _, ours := o.GetLabels()[v1alpha1.LabelManagedBy]; ours {
		r.seeObject(o)
	}
}

// Stop ends the watches and the samples. Nothing can be written any more.
func (r *Recording) Stop() {
	r.stop()
	r.ended.Wait()

	r.mu.Lock()
	defer r.mu.Unlock()

	for output, f := range r.files {
		if err := f.Close(); err != nil {
			r.errs = append(r.errs, fmt.Errorf("cannot keep %s: %w", output, err))
		}
	}
}
