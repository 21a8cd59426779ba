// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
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

var errLost = errors.New("the recording has a gap")

// Recording keeps all secrets and all output of a run. It is safe for concurrent use.
type Recording struct {
	// Secrets that were seen so far. Others may be added.
	Secrets Secrets

	client dynamic.Interface
	folder string
	done   <-chan struct{} // closed by stop
	stop   context.CancelFunc
	ended  sync.WaitGroup

	mu    sync.Mutex
	files map[string]*os.File // by the output's name
	read  map[string]string   // files that are read in the end, by the output's name
	errs  []error
	inner map[string]bool // vClusters whose Secrets were read
}

// Record begins to watch the cluster: its Secrets, and the output that it holds, each
// version of it: events, and all of our kinds but their specs. What was recorded lies in
// the folder, which the caller removes.
func Record(ctx context.Context, cfg *rest.Config, folder string) (*Recording, error) {
	c, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}

	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Recording{client: c, folder: folder, done: ctx.Done(), stop: stop, files: map[string]*os.File{}, read: map[string]string{}, inner: map[string]bool{}}

	for kind, see := range map[schema.GroupVersionResource]func(context.Context, *unstructured.Unstructured){
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
		r.ended.Go(func() { r.follow(ctx, c.Resource(kind), see) })
	}

	return r, nil
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

// Sample reads output again and again until Stop. What cannot be read just now is left
// out: who puts it out may not run.
func (r *Recording) Sample(output string, every time.Duration, read func(context.Context) ([]byte, error)) {
	r.ended.Go(func() {
		for {
			ctx, cancel := context.WithTimeout(context.Background(), every)
			raw, err := read(ctx)

			cancel()

			if err == nil {
				r.Write(output, time.Now().UTC().Format(time.TimeOnly), raw)
			}

			select {
			case <-r.done:
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

// follow sees each version of each object until ctx ends.
func (r *Recording) follow(ctx context.Context, c dynamic.NamespaceableResourceInterface, see func(context.Context, *unstructured.Unstructured)) {
	for begun := false; ctx.Err() == nil; begun = true {
		all, err := c.List(ctx, metav1.ListOptions{})
		if err == nil && begun {
			err = errLost
		}

		if err != nil && ctx.Err() == nil {
			r.lose(err)
			return
		}

		for i := range all.Items {
			see(ctx, &all.Items[i])
		}

		if r.watch(ctx, c, all.GetResourceVersion(), see) != nil {
			return
		}
	}
}

// watch returns when ctx ends, or when the watch cannot go on where it was.
func (r *Recording) watch(ctx context.Context, c dynamic.NamespaceableResourceInterface, from string, see func(context.Context, *unstructured.Unstructured)) error {
	w, err := watchtools.NewRetryWatcherWithContext(ctx, from, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return c.Watch(ctx, o) },
	})
	if err != nil {
		return err
	}
	defer w.Stop()

	for e := range w.ResultChan() {
		if o, ok := e.Object.(*unstructured.Unstructured); ok && e.Type != watch.Bookmark {
			see(ctx, o)
		}
	}

	return ctx.Err()
}

func (r *Recording) seeSecret(_ context.Context, o *unstructured.Unstructured) {
	s := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, s); err != nil {
		r.lose(fmt.Errorf("cannot read Secret %s/%s: %w", o.GetNamespace(), o.GetName(), err))
		return
	}

	r.Secrets.Learn(host, s)
}

// seeObject keeps an object without its spec, in the output of its kind.
func (r *Recording) seeObject(_ context.Context, o *unstructured.Unstructured) {
	about := fmt.Sprintf("%s %s/%s, version %s", o.GetKind(), o.GetNamespace(), o.GetName(), o.GetResourceVersion())

	o = o.DeepCopy()
	delete(o.Object, "spec")
	o.SetManagedFields(nil)
	r.Encode(o.GetKind(), about, o.Object)
}

// seeTenant keeps a Tenant and, once its vCluster can be used, learns the Secrets in it.
func (r *Recording) seeTenant(ctx context.Context, o *unstructured.Unstructured) {
	r.seeObject(ctx, o)

	id := string(o.GetUID())
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")

	r.mu.Lock()
	known := r.inner[id]
	r.inner[id] = known || phase == string(v1alpha1.PhaseReady)
	wanted := r.inner[id] && !known
	r.mu.Unlock()

	if wanted {
		published, _, _ := unstructured.NestedString(o.Object, "status", "kubeconfigSecret")

		r.ended.Go(func() { r.learnInside(ctx, o.GetNamespace(), published) })
	}
}

// learnInside learns the Secrets in the vCluster of a published kubeconfig. A Tenant of
// a test may be gone before: then its Secrets are not known here.
func (r *Recording) learnInside(ctx context.Context, namespace, published string) {
	o, err := r.client.Resource(secrets).Namespace(namespace).Get(ctx, published, metav1.GetOptions{})
	if err != nil {
		return
	}

	s := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, s); err != nil {
		return
	}

	_ = rig.Inside(ctx, s.Data["kubeconfig"], func(ctx context.Context, k kubernetes.Interface) error {
		all, err := k.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		for i := range all.Items {
			r.Secrets.Learn("the vCluster of "+published, &all.Items[i])
		}

		return err
	})
}

// seeConfigMap keeps one if it is ours: a report that waits.
func (r *Recording) seeConfigMap(ctx context.Context, o *unstructured.Unstructured) {
	if _, ours := o.GetLabels()[v1alpha1.LabelManagedBy]; ours {
		r.seeObject(ctx, o)
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
