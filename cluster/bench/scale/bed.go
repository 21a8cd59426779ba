// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/bench/barehelm"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

const (
	// maxTenants is what the service addresses of the host are enough for.
	maxTenants = 10000
	// startLimit of a program of the bed, on a busy machine.
	startLimit = 2 * time.Minute
	// nodeName is that of the one fake node.
	nodeName = "fake-node"
)

// The provider's own account at the fake of kubeopera-api.
const (
	clientID     = "bench-provider"
	clientSecret = "bench-secret-of-nobody"
)

var (
	//go:embed kwok.yaml
	kwokStages []byte
	//go:embed audit.yaml
	auditPolicy []byte
)

// bed is a host cluster with real controllers and a fake node, one more API server that
// plays the APIs of all vClusters, and the provider as a process.
type bed struct {
	flags flags

	folder   string
	host     *rig.Cluster
	tenants  *fakeTenants
	provider *rig.Provider
	helm     *barehelm.Helm
	auditLog string
	// owners are of API servers and their etcds.
	owners owners
	// values are those of the provider for the Tenant of that name.
	values func(tenant string) (map[string]any, error)
	// news is how many new Tenants there were. None finds what another has left inside.
	news int

	// stops end what was started, the last first.
	stops []func() error
}

// startBed starts all but the provider.
func startBed(ctx context.Context, f flags) (*bed, error) {
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}

	b := &bed{flags: f, folder: folder, auditLog: filepath.Join(folder, "audit.log"), owners: owners{}}

	for _, s := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"starting the host's API server", b.startHost},
		{"starting its controllers, and KWOK", b.startControllers},
		{"starting the API server of all tenants", b.startTenants},
		{"installing the provider's kinds and rights", b.install},
	} {
		say("%s", s.what)

		if err := s.do(ctx); err != nil {
			return nil, errors.Join(err, b.close(true))
		}
	}

	return b, nil
}

// close ends all that was started. The folder, which holds the logs, is kept on demand.
func (b *bed) close(keep bool) error {
	var errs []error

	for _, stop := range slices.Backward(b.stops) {
		errs = append(errs, stop())
	}

	if keep {
		say("the logs are kept: %s", b.folder)
	} else {
		errs = append(errs, os.RemoveAll(b.folder))
	}

	return errors.Join(errs...)
}

// later has stop called by close.
func (b *bed) later(stop func() error) { b.stops = append(b.stops, stop) }

// say tells of progress.
func say(format string, args ...any) {
	fmt.Printf(time.Now().Format("15:04:05")+" "+format+"\n", args...)
}

// startAPI starts etcd and an API server of that name, with these flags beside the usual
// ones.
func (b *bed) startAPI(name string, flags map[string]string) (*envtest.Environment, error) {
	e := &envtest.Environment{BinaryAssetsDirectory: b.flags.Programs, ControlPlaneStartTimeout: startLimit, ControlPlaneStopTimeout: startLimit}
	api := e.ControlPlane.GetAPIServer()

	for k, v := range flags {
		api.Configure().Set(k, v)
	}

	out, err := os.Create(b.path(name + ".log"))
	if err != nil {
		return nil, fmt.Errorf("cannot make a log: %w", err)
	}

	api.Out, api.Err = out, out
	e.ControlPlane.Etcd = &envtest.Etcd{}
	// Enough for the history of all that a run writes.
	e.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", "8589934592")
	b.later(func() error { return errors.Join(e.Stop(), out.Close()) })

	before, err := running()
	if err != nil {
		return nil, err
	}

	if _, err := e.Start(); err != nil {
		return nil, fmt.Errorf("cannot start an API server from the programs in %q, which make bin/bench-programs builds: %w", b.flags.Programs, err)
	}

	after, err := running()
	if err != nil {
		return nil, err
	}

	b.owners.add(name, before, after)

	return e, nil
}

// path of a file of the bed.
func (b *bed) path(name string) string { return filepath.Join(b.folder, name) }

func (b *bed) write(name string, content []byte) error {
	if err := os.WriteFile(b.path(name), content, 0o600); err != nil {
		return fmt.Errorf("cannot write a file of the bed: %w", err)
	}

	return nil
}

func (b *bed) startHost(context.Context) error {
	if err := b.write("audit.yaml", auditPolicy); err != nil {
		return err
	}

	e, err := b.startAPI("host", map[string]string{
		"service-cluster-ip-range": "10.96.0.0/16",
		// Unlike in other tests, there are the controllers that it needs.
		"disable-admission-plugins": "",
		"audit-policy-file":         b.path("audit.yaml"),
		"audit-log-path":            b.auditLog,
		// In MB. It is read from where it was marked, and must not begin anew meanwhile.
		"audit-log-maxsize": "100000",
	})
	if err != nil {
		return err
	}

	if b.host, err = rig.NewCluster(e.Config, b.folder); err != nil {
		return err
	}

	for name, content := range map[string][]byte{"admin.kubeconfig": e.KubeConfig, "ca.crt": e.Config.CAData, "kwok.yaml": kwokStages} {
		if err := b.write(name, content); err != nil {
			return err
		}
	}

	signer := filepath.Join(e.ControlPlane.GetAPIServer().CertDir, "sa-signer.key")

	if err := os.Symlink(signer, b.path("sa.key")); err != nil {
		return fmt.Errorf("cannot name the key of service accounts: %w", err)
	}

	return nil
}

// startControllers starts the host's controllers and its fake node.
func (b *bed) startControllers(ctx context.Context) error {
	for name, args := range map[string][]string{
		"kube-controller-manager": {
			"--kubeconfig=" + b.path("admin.kubeconfig"), "--leader-elect=false", "--secure-port=0",
			"--use-service-account-credentials",
			"--service-account-private-key-file=" + b.path("sa.key"), "--root-ca-file=" + b.path("ca.crt"),
			// What is measured must not wait for it.
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		},
		"kwok": {
			"--kubeconfig=" + b.path("admin.kubeconfig"), "--config=" + b.path("kwok.yaml"),
			"--manage-all-nodes", "--node-lease-duration-seconds=40", "--node-port=0",
		},
	} {
		c := exec.Command(filepath.Join(b.flags.Programs, name), args...) //nolint:noctx // close ends it.
		c.Env = []string{"HOME=" + b.folder, "PATH=" + os.Getenv("PATH")}

		p, err := rig.StartProcess(c, b.path(name+".log"))
		if err != nil {
			return err
		}

		b.later(func() error { return p.End(syscall.SIGTERM) })
	}

	if err := b.awaitNode(ctx); err != nil {
		return err
	}

	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		return b.host.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "default"}, &corev1.ServiceAccount{}) == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the host's controllers do not work, see their log in %q: %w", b.folder, err)
	}

	return nil
}

// awaitNode waits until KWOK has its one node ready.
func (b *bed) awaitNode(ctx context.Context) error {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	if err := b.host.Client.Create(ctx, n); err != nil {
		return fmt.Errorf("cannot make the fake node: %w", err)
	}

	err := wait.PollUntilContextTimeout(ctx, lookEvery, startLimit, true, func(ctx context.Context) (bool, error) {
		err := b.host.Client.Get(ctx, client.ObjectKeyFromObject(n), n)

		return len(n.Status.Allocatable) > 0, err
	})
	if err != nil {
		return fmt.Errorf("the fake node is not ready, see the log of KWOK in %q: %w", b.folder, err)
	}

	return nil
}

func (b *bed) startTenants(ctx context.Context) error {
	e, err := b.startAPI("tenants", nil)
	if err != nil {
		return err
	}

	if b.tenants, err = newFakeTenants(ctx, e.Config); err != nil {
		return err
	}

	b.later(b.tenants.close)

	followed, stop := context.WithCancel(context.Background())
	b.later(func() error { stop(); return nil })

	f := fakeHost{client: b.host.Client, kubeconfig: b.tenants.kubeconfig}
	f.run(followed)

	return nil
}

// install makes what an administrator does, and serves what the provider talks to.
func (b *bed) install(ctx context.Context) error {
	root, err := rig.Root()
	if err != nil {
		return err
	}

	if err := b.host.Install(ctx, root); err != nil {
		return err
	}

	charts, err := b.serveCharts(ctx)
	if err != nil {
		return err
	}

	pc := &v1alpha1.ClusterProviderConfig{}
	if err := b.host.Client.Get(ctx, client.ObjectKey{Name: "default"}, pc); err != nil {
		return fmt.Errorf("cannot read the provider configuration: %w", err)
	}

	pc.Spec.Chart.Chart, pc.Spec.FluxChart = v1alpha1.Chart{Repository: charts + "/vcluster", Version: rig.ChartVersion}, nil
	if err := b.host.Client.Update(ctx, pc); err != nil {
		return fmt.Errorf("cannot name the charts: %w", err)
	}

	reports, err := rig.StartFakeKubeoperaAPI(ctx, rig.FakeKubeoperaAPIOptions{Address: "127.0.0.1:0", ClientID: clientID, ClientSecret: clientSecret})
	if err != nil {
		return err
	}

	b.later(reports.Down)

	kubeconfig, err := b.host.ProviderKubeconfig(ctx)
	if err != nil {
		return err
	}

	b.provider, err = rig.NewProvider(b.flags.Provider, b.folder, kubeconfig, append([]string{
		"KUBEOPERA_API_BASE_URL=" + reports.URL(), "SERVICE_CLIENT_ID=" + clientID, "SERVICE_CLIENT_SECRET=" + clientSecret,
	}, b.flags.Set...)...)
	if err != nil {
		return err
	}

	b.later(b.provider.Kill)

	return nil
}

// serveCharts serves vCluster's real chart, and gives it to bare Helm.
func (b *bed) serveCharts(ctx context.Context) (string, error) {
	module, err := vclustertest.Fetch(ctx, rig.ChartVersion)
	if err != nil {
		return "", err
	}

	folder := b.path("charts-served")
	if err := os.Mkdir(folder, 0o750); err != nil {
		return "", fmt.Errorf("cannot make a folder: %w", err)
	}

	archive, err := rig.PackChart(filepath.Join(module, "chart"), rig.ChartVersion, folder)
	if err != nil {
		return "", err
	}

	raw, err := os.ReadFile(archive)
	if err != nil {
		return "", fmt.Errorf("cannot read the packed chart: %w", err)
	}

	b.helm = barehelm.New(raw, b.path("admin.kubeconfig"))

	h, err := rig.ChartRepositoryOf(folder)
	if err != nil {
		return "", err
	}

	s, err := rig.Serve(ctx, h)
	if err != nil {
		return "", err
	}

	b.later(s.Close)

	return s.URL, nil
}
