// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package helm installs, upgrades and removes Helm releases in a host cluster,
// and fetches the charts for them.
//
// It is the only package that knows the Helm SDK, and no type of it leaves this
// folder. Nothing here waits for workloads to become ready, and everything ends
// with its context: Helm takes none, so the API calls it makes are bound to the
// caller's context underneath it. What an interrupted action leaves is a failed
// or a pending revision, which the next pass resumes.
package helm

import (
	"context"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// providerName is how the provider names itself to registries, and as the
	// writer of objects to hosts.
	providerName = "provider-kubeopera"

	// hookTimeout bounds the wait for each hook of a chart.
	hookTimeout = 20 * time.Second

	// maxHistory is how many revisions of a release are kept.
	maxHistory = 5

	// wrapUp is how long an action may go on writing its release record after
	// its context has ended, so that it ends as failed and not as pending.
	wrapUp = 5 * time.Second
)

// Client works on the releases of one namespace of one host cluster.
type Client interface {
	// Get returns the newest revision, or ErrReleaseNotFound.
	Get(ctx context.Context, name string) (*Release, error)

	// ResourceVersion is that of the newest revision, or ErrReleaseNotFound. It costs
	// less than Get.
	ResourceVersion(ctx context.Context, name string) (string, error)

	// Install creates a release that is absent, or whose newest revision is
	// uninstalled. ErrReleaseLocked if that one is pending, ErrReleaseChanged if
	// it is anything else, ErrValuesRefused if the chart does not take the
	// values. It does not create the namespace.
	Install(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error)

	// Upgrade writes a new revision over a deployed or failed one, the first
	// included, and creates what is missing of its objects. The hooks of an install
	// run again that it did not get past. ErrReleaseNotFound
	// if there is none to upgrade, ErrReleaseLocked if the newest is pending,
	// ErrValuesRefused as for Install. The values replace those of the old
	// revision, even if they are empty.
	Upgrade(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error)

	// Uninstall deletes the objects of the release and then all its revisions,
	// whatever state they are in. An absent release is a success. It does not
	// wait for the objects to be gone. Delete hooks run in the first attempt
	// only, so that a broken one cannot hold the release for ever; with SkipHooks
	// they never run.
	Uninstall(ctx context.Context, name string) error

	// Unlock marks the pending revision r failed, so that it can be upgraded or
	// uninstalled. ErrReleaseChanged if r is no longer the newest revision, is
	// not pending, or was written since it was read.
	Unlock(ctx context.Context, r *Release) error
}

// ClientFns is a Client made of functions, for the tests of callers. A nil
// function must not be called.
type ClientFns struct {
	GetFn             func(ctx context.Context, name string) (*Release, error)
	ResourceVersionFn func(ctx context.Context, name string) (string, error)
	InstallFn         func(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error)
	UpgradeFn         func(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error)
	UninstallFn       func(ctx context.Context, name string) error
	UnlockFn          func(ctx context.Context, r *Release) error
}

var _ Client = ClientFns{}

// Get calls GetFn.
func (f ClientFns) Get(ctx context.Context, name string) (*Release, error) {
	return f.GetFn(ctx, name)
}

// ResourceVersion calls ResourceVersionFn.
func (f ClientFns) ResourceVersion(ctx context.Context, name string) (string, error) {
	return f.ResourceVersionFn(ctx, name)
}

// Install calls InstallFn.
func (f ClientFns) Install(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error) {
	return f.InstallFn(ctx, name, c, values)
}

// Upgrade calls UpgradeFn.
func (f ClientFns) Upgrade(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error) {
	return f.UpgradeFn(ctx, name, c, values)
}

// Uninstall calls UninstallFn.
func (f ClientFns) Uninstall(ctx context.Context, name string) error {
	return f.UninstallFn(ctx, name)
}

// Unlock calls UnlockFn.
func (f ClientFns) Unlock(ctx context.Context, r *Release) error {
	return f.UnlockFn(ctx, r)
}

// client is the Client of one namespace.
type client struct {
	namespace   string
	options     options
	hookTimeout time.Duration
	secrets     corev1client.SecretInterface
	// records lists the metadata of what has the labels of a release's records: their data is large
	// and mostly history.
	records func(ctx context.Context, name string) ([]metav1.ObjectMeta, error)
	// forbidden returns the verbs on Secrets that are missing.
	forbidden func(ctx context.Context) ([]string, error)
	// connect reaches the host for one action.
	connect func(ctx context.Context) *getter
}

var _ Client = &client{}

// store is Helm's release storage with its calls bound to ctx.
func (c *client) store(ctx context.Context, opts ...bindOption) *storage.Storage {
	d := driver.NewSecrets(bind(ctx, c.secrets, opts...))
	d.Log = debug(ctx)
	s := storage.Init(trimmed{d})
	s.Log = debug(ctx)
	s.MaxHistory = maxHistory
	return s
}

// debug is a logger as Helm wants it.
func debug(ctx context.Context) func(string, ...any) {
	l := log.FromContext(ctx).V(1)
	return func(format string, args ...any) {
		if l.Enabled() {
			l.Info("helm", "message", fmt.Sprintf(format, args...))
		}
	}
}
