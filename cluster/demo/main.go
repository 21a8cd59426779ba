// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The demo program makes CloudSpaces of the examples on a cluster and shows how
// that goes. It is run from the root of the repository, after make
// build.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// folder keeps what the demo leaves: the provider's log, the kubeconfig.
	folder = ".demo"
	// timeLimit is how long all of it may take.
	timeLimit = 10 * time.Minute
	// connectLimit is how long the cluster may take to answer at first.
	connectLimit = 15 * time.Second
	// slotFile holds the process id of the provider.
	slotFile = folder + "/provider.pid"
	// testbedChart is the chart that the test bed's registry serves.
	testbedChart = "0.36.1"
	// testbedAdvisor stands in for the App Advisor there.
	testbedAdvisor = "ghcr.io/kubeopera/fake-app-advisor:v1"
	// namespace of the provider and of the Tenant.
	namespace = "kubeopera-system"
)

// testbedConfig is the provider configuration for the test bed.
//
//go:embed testbed.yaml
var testbedConfig []byte

type flags struct {
	Testbed bool `help:"The cluster is the test bed, and this runs inside of it."`
	Stop    bool `help:"Stop the provider of an earlier run, and do nothing else." xor:"what"`
	// Crossplane needs what "testbed crossplane" has installed.
	Crossplane bool `help:"Show the packages on a test bed with Crossplane, and run no provider from here." xor:"what"`
}

func main() {
	f := flags{}
	kong.Parse(&f, kong.Name("demo"), kong.Description("Makes CloudSpaces of the examples and shows how that goes."))
	log.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("not done within %s", timeLimit))
	err := run(ctx, f, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("cannot make folder for the demo: %w", err)
	}
	say := sayer(out, time.Now())
	if f.Stop {
		slot, err := takeSlot(ctx, slotFile, say)
		if err != nil {
			return err
		}
		slot.Close()
		return nil
	}
	if f.Crossplane {
		return showCrossplane(ctx, say)
	}
	c, err := connect()
	if err != nil {
		return err
	}
	// What runs is given up only for a cluster that answers.
	slot, err := takeSlot(ctx, slotFile, say)
	if err != nil {
		return err
	}
	defer slot.Close()
	if err := prepare(ctx, c, f.Testbed, say); err != nil {
		return err
	}
	provider, err := slot.start(f.Testbed)
	if err != nil {
		return err
	}
	if err := provider.await(ctx); err != nil {
		return err
	}
	say("the provider runs as process %d, its log is %s", provider.pid, provider.log)
	return show(ctx, c, f.Testbed, provider, say)
}

// show makes the Tenant, follows it until it is Ready and hands its kubeconfig
// over.
func show(ctx context.Context, c client.WithWatch, testbed bool, provider *provider, say func(string, ...any)) error {
	tenant, err := applyTenant(ctx, c, "examples/tenant/tenant.yaml")
	if err != nil {
		return err
	}
	if err := follow(ctx, c, tenant, provider, say); err != nil {
		return fmt.Errorf("%w\n%s\nThe provider goes on trying; make demo-down ends it", err, describe(tenant))
	}
	file, kubeconfig, err := save(ctx, c, tenant)
	if err != nil {
		return err
	}
	prefix := "kubectl"
	if testbed {
		prefix = onTestbed("kubectl")
		if err := ask(ctx, kubeconfig, say); err != nil {
			return err
		}
	}
	say("the kubeconfig of CloudSpace %s is in %s; try next:", tenant.Spec.TenantName, file)
	say("  %s --kubeconfig %s get namespaces", prefix, file)
	say("  %s --kubeconfig %s create deployment hello --image=busybox:1.36 -- sleep 3600", prefix, file)
	if !testbed {
		say("where Service addresses do not reach, first: kubectl -n %s port-forward svc/%s 8443:443, and add --server https://localhost:8443",
			tenant.Status.Namespace, tenant.Status.VClusterName)
	}
	return nil
}

// onTestbed is how people run a command there.
func onTestbed(command string) string {
	testbed := "bin/testbed"
	if name := os.Getenv("KUBEOPERA_TESTBED_NAME"); name != "" {
		testbed += " --name " + name
	}
	return testbed + " exec -- " + command
}

// save writes the published kubeconfig into a file.
func save(ctx context.Context, c client.Client, tenant *v1alpha1.Tenant) (string, []byte, error) {
	if tenant.Status.KubeconfigSecret == "" {
		return "", nil, errors.New("the Tenant is Ready and names no kubeconfigSecret")
	}
	s := &corev1.Secret{}
	key := client.ObjectKey{Namespace: tenant.Namespace, Name: tenant.Status.KubeconfigSecret}
	if err := c.Get(ctx, key, s); err != nil {
		return "", nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	file := filepath.Join(folder, tenant.Name+".kubeconfig")
	if err := os.WriteFile(file, s.Data["kubeconfig"], 0o600); err != nil {
		return "", nil, fmt.Errorf("cannot write the kubeconfig: %w", err)
	}
	return file, s.Data["kubeconfig"], nil
}

// connect makes a client for the cluster that KUBECONFIG names, once that
// cluster answered.
func connect() (client.WithWatch, error) {
	if file := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); file != "" && len(filepath.SplitList(file)) == 1 {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("KUBECONFIG names %s, which does not exist", file)
		}
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster; set KUBECONFIG: %w", err)
	}
	if err := reach(cluster); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("cannot register kinds: %w", err)
		}
	}
	c, err := client.NewWithWatch(cluster, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the cluster: %w", err)
	}
	return c, nil
}

// reach errs unless the cluster answers.
func reach(cluster *rest.Config) error {
	limited := rest.CopyConfig(cluster)
	limited.Timeout = connectLimit
	d, err := discovery.NewDiscoveryClientForConfig(limited)
	if err != nil {
		return fmt.Errorf("cannot make a client for the cluster: %w", err)
	}
	if _, err := d.ServerVersion(); err != nil {
		return fmt.Errorf("cannot reach the cluster at %s; set KUBECONFIG to another: %w", cluster.Host, err)
	}
	return nil
}

// sayer prints lines after the seconds since began.
func sayer(out io.Writer, began time.Time) func(string, ...any) {
	return func(format string, args ...any) {
		fmt.Fprintf(out, "[%6.1fs] %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
}
