// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	managerfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// changeLog is a change log service on a unix socket.
type changeLog struct {
	changelogs.UnimplementedChangeLogServiceServer

	socket string

	mu      sync.Mutex
	entries []*changelogs.ChangeLogEntry
}

// newChangeLog serves until the test ends.
func newChangeLog(t *testing.T) *changeLog {
	t.Helper()
	l := &changeLog{socket: filepath.Join(t.TempDir(), "s")}
	listener, err := net.Listen("unix", l.socket)
	if err != nil {
		t.Fatalf("net.Listen(...): %v", err)
	}
	s := grpc.NewServer()
	changelogs.RegisterChangeLogServiceServer(s, l)
	done := make(chan error)
	go func() { done <- s.Serve(listener) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Errorf("Serve(...): %v", err)
		}
	})
	return l
}

// SendChangeLog keeps the entry.
func (l *changeLog) SendChangeLog(_ context.Context, r *changelogs.SendChangeLogRequest) (*changelogs.SendChangeLogResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, r.GetEntry())
	return &changelogs.SendChangeLogResponse{}, nil
}

// has the entries in short, such as "create Tenant/alice".
func (l *changeLog) has() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, e := range l.entries {
		op := strings.ToLower(strings.TrimPrefix(e.GetOperation().String(), "OPERATION_TYPE_"))
		out = append(out, op+" "+e.GetKind()+"/"+e.GetName())
	}
	return out
}

// text is all that the service was ever told.
func (l *changeLog) text(t *testing.T) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	out := strings.Builder{}
	for _, e := range l.entries {
		raw, err := protojson.Marshal(e)
		if err != nil {
			t.Fatalf("protojson.Marshal(...): %v", err)
		}
		out.Write(raw)
	}
	return out.String()
}

const leaked = "hunter2"

// outside is a thing that lacks first itself and then something of what was asked.
type outside struct{ exists, right bool }

func (o *outside) client() managed.ExternalClient {
	details := managed.ConnectionDetails{"kubeconfig": []byte(leaked)}
	return managed.ExternalClientFns{
		ObserveFn: func(context.Context, resource.Managed) (managed.ExternalObservation, error) {
			return managed.ExternalObservation{ResourceExists: o.exists, ResourceUpToDate: o.right, ConnectionDetails: details}, nil
		},
		CreateFn: func(context.Context, resource.Managed) (managed.ExternalCreation, error) {
			o.exists = true
			return managed.ExternalCreation{ConnectionDetails: details}, nil
		},
		UpdateFn: func(context.Context, resource.Managed) (managed.ExternalUpdate, error) {
			o.right = true
			return managed.ExternalUpdate{ConnectionDetails: details}, nil
		},
		DeleteFn: func(context.Context, resource.Managed) (managed.ExternalDelete, error) {
			o.exists = false
			return managed.ExternalDelete{}, nil
		},
		DisconnectFn: func(context.Context) error { return nil },
	}
}

// lifeOf creates, changes and deletes a managed resource by the options that all
// controllers share.
func lifeOf(t *testing.T, o controller.Options, mg resource.Managed, gvk schema.GroupVersionKind) {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	// The cache of a manager says of what kind it has found something.
	kinded := interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		err := c.Get(ctx, key, o, opts...)
		if _, ok := o.(resource.Managed); ok {
			o.GetObjectKind().SetGroupVersionKind(gvk)
		}
		return err
	}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(mg).WithStatusSubresource(mg).WithInterceptorFuncs(kinded).Build()
	thing := &outside{}
	r := managed.NewReconciler(&managerfake.Manager{Client: c, Scheme: scheme}, resource.ManagedKind(gvk), append(reconciler.Options(o),
		managed.WithExternalConnector(managed.ExternalConnectorFn(func(context.Context, resource.Managed) (managed.ExternalClient, error) {
			return thing.client(), nil
		})))...)
	step := func() {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)}); err != nil {
			t.Fatalf("Reconcile(...): %v", err)
		}
	}
	step()
	step()
	if err := c.Delete(t.Context(), mg); err != nil {
		t.Fatalf("Delete(...): %v", err)
	}
	step()
	step()
}

func TestChangeLogs(t *testing.T) {
	t.Parallel()
	named := metav1.ObjectMeta{Namespace: "team", Name: "alice", Annotations: map[string]string{meta.AnnotationKeyExternalName: "vc-alice"}}
	tenant := &v1alpha1.Tenant{ObjectMeta: named}
	tenant.SetWriteConnectionSecretToReference(&xpv2.LocalSecretReference{Name: "connection"})

	cases := map[string]struct {
		reason string
		mg     resource.Managed
		gvk    schema.GroupVersionKind
	}{
		"Tenant":       {"Its connection details stay out of the entries.", tenant, v1alpha1.TenantGroupVersionKind},
		"AdvisorAgent": {"A CloudSpace is made of more than the Tenant.", &v1alpha1.AdvisorAgent{ObjectMeta: named}, v1alpha1.AdvisorAgentGroupVersionKind},
		"TenantQuota":  {"So is each of its parts told of.", &v1alpha1.TenantQuota{ObjectMeta: named}, v1alpha1.TenantQuotaGroupVersionKind},
	}
	for kind, tc := range cases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newChangeLog(t)
			c := valid(t)
			c.ChangeLogs, c.ChangeLogsSocket, c.Version, c.ClientSecret = true, l.socket, "v1.2.3", leaked
			o := controller.Options{Features: &feature.Flags{}}
			disconnect, err := addChangeLogs(&o, c)
			if err != nil {
				t.Fatalf("addChangeLogs(...): %v", err)
			}
			lifeOf(t, o, tc.mg, tc.gvk)
			if err := disconnect(); err != nil {
				t.Errorf("disconnect(): %v", err)
			}

			want := []string{"create " + kind + "/alice", "update " + kind + "/alice", "delete " + kind + "/alice"}
			if diff := cmp.Diff(want, l.has()); diff != "" {
				t.Errorf("%s\nEach change is told once, and nothing else: -want, +got:\n%s", tc.reason, diff)
			}
			text := l.text(t)
			if !strings.Contains(text, "provider-kubeopera:v1.2.3") || !strings.Contains(text, "kubeopera.io/v1alpha1") {
				t.Errorf("%s\nAn entry names the provider, its version and the API: got %s", tc.reason, text)
			}
			if strings.Contains(text, leaked) {
				t.Errorf("%s\nNo entry holds a secret: got %s", tc.reason, text)
			}
		})
	}
}

func TestChangeLogsOff(t *testing.T) {
	t.Parallel()
	o := controller.Options{Features: &feature.Flags{}}
	disconnect, err := addChangeLogs(&o, valid(t))
	if err != nil || disconnect() != nil {
		t.Errorf("addChangeLogs(...): %v", err)
	}
	if o.ChangeLogOptions != nil || o.Features.Enabled(feature.EnableAlphaChangeLogs) {
		t.Error("Nothing is told to anyone unless asked for.")
	}
}
