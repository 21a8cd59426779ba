// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"
)

// cluster is Helm's client of a host's objects during one action. It ends waits
// with the context, names the hook that a wait is about, and keeps the errors
// that Helm's uninstall swallows.
type cluster struct {
	*kube.Client
	//nolint:containedctx // Helm passes none.
	ctx context.Context

	// uninstalling leaves out objects whose kind the host no longer serves:
	// they went with their CRD.
	uninstalling bool
	getter       *getter

	deletion []error
}

var (
	_ kube.Interface                    = &cluster{}
	_ kube.InterfaceExt                 = &cluster{}
	_ kube.InterfaceDeletionPropagation = &cluster{}
)

// configuration is what a Helm action works with: objects through ctx, records
// through recordCtx.
func (c *client) configuration(ctx, recordCtx context.Context, uninstalling bool) (*action.Configuration, *cluster) {
	g := c.connect(ctx)
	kc := kube.New(g)
	kc.Namespace = c.namespace
	kc.Log = debug(ctx)
	k := &cluster{Client: kc, ctx: ctx, getter: g, uninstalling: uninstalling}
	return &action.Configuration{
		RESTClientGetter: g,
		Releases:         c.store(recordCtx),
		KubeClient:       k,
		Log:              debug(ctx),
		HookOutputFunc:   func(_, _, _ string) io.Writer { return io.Discard },
	}, k
}

// IsReachable asks nothing: that the host cannot be reached is told by what follows.
func (k *cluster) IsReachable() error { return nil }

// WatchUntilReady waits for the objects of a hook to complete.
func (k *cluster) WatchUntilReady(l kube.ResourceList, timeout time.Duration) error {
	err := k.within(func() error { return k.Client.WatchUntilReady(l, timeout) })
	if err != nil {
		return fmt.Errorf("hook %s: %w", describe(l), err)
	}
	return nil
}

// Wait waits for CRDs that a chart brings.
func (k *cluster) Wait(l kube.ResourceList, timeout time.Duration) error {
	return k.within(func() error { return k.Client.Wait(l, timeout) })
}

// WaitForDelete waits for the objects of an earlier hook to be gone.
func (k *cluster) WaitForDelete(l kube.ResourceList, timeout time.Duration) error {
	err := k.within(func() error { return k.Client.WaitForDelete(l, timeout) })
	if err != nil {
		return fmt.Errorf("deletion of hook %s: %w", describe(l), err)
	}
	return nil
}

// DeleteWithPropagationPolicy deletes objects and keeps what went wrong.
func (k *cluster) DeleteWithPropagationPolicy(l kube.ResourceList, policy metav1.DeletionPropagation) (*kube.Result, []error) {
	r, errs := k.Client.DeleteWithPropagationPolicy(l, policy)
	k.deletion = append(k.deletion, errs...)
	return r, errs
}

// Build makes objects of a manifest.
func (k *cluster) Build(r io.Reader, validate bool) (kube.ResourceList, error) {
	if !k.uninstalling {
		return k.Client.Build(r, validate)
	}
	served, err := k.served(r)
	if err != nil {
		k.deletion = append(k.deletion, err)
		return nil, err
	}
	l, err := k.Client.Build(served, validate)
	if err != nil {
		k.deletion = append(k.deletion, err)
	}
	return l, err
}

// served leaves out of a manifest what the host has no API for.
func (k *cluster) served(r io.Reader) (io.Reader, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	objs, err := parseManifest(raw)
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	for _, o := range objs {
		gone, err := k.unserved(o)
		if err != nil {
			return nil, err
		}
		if gone {
			continue
		}
		doc, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(doc)
	}
	return out, nil
}

// unserved says whether the host has no API for o. The mapper also finds no
// match while an aggregated API is down, so the host is asked again: a failure
// to answer is not absence.
func (k *cluster) unserved(o *unstructured.Unstructured) (bool, error) {
	gvk := o.GroupVersionKind()
	_, err := k.getter.host.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if !meta.IsNoMatchError(err) {
		return false, err
	}

	dc, err := discovery.NewDiscoveryClientForConfig(k.getter.host.bound(k.ctx))
	if err != nil {
		return false, err
	}
	l, err := dc.ServerResourcesForGroupVersion(gvk.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot tell whether the host serves %s: %w", gvk, err)
	}
	return !slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool { return r.Kind == gvk.Kind }), nil
}

// within returns when fn does or when the action's context ends, if that is
// sooner. fn has a timeout of its own.
func (k *cluster) within(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		_, err := safely(func() (struct{}, error) { return struct{}{}, fn() })
		done <- err
	}()
	select {
	case <-k.ctx.Done():
		return k.ctx.Err()
	case err := <-done:
		return err
	}
}

// deletionError is why Helm could not delete the objects of a release; fallback
// if that is not known.
func (k *cluster) deletionError(fallback error) error {
	if len(k.deletion) == 0 {
		return fallback
	}
	return errors.Join(k.deletion...)
}

func describe(l kube.ResourceList) string {
	names := make([]string, len(l))
	for i, r := range l {
		names[i] = fmt.Sprintf("%s %q", r.Mapping.GroupVersionKind.Kind, r.Name)
	}
	return strings.Join(names, ", ")
}
