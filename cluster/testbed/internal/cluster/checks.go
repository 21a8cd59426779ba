// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/content"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/policy"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

const requestLimit = 5 * time.Second

// config reaches the cluster's API from outside of its network namespace.
func (c *Cluster) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.state.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("cannot read kubeconfig: %w", err)
	}
	config.Dial = netns.Dial(c.name)
	return config, nil
}

// client returns a client of the cluster's API.
func (c *Cluster) client() (kubernetes.Interface, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	config.Timeout = requestLimit
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make client: %w", err)
	}
	return client, nil
}

// listening checks that something listens on the address in the namespace.
func (c *Cluster) listening(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestLimit)
		defer cancel()
		conn, err := netns.Dial(c.name)(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// containerdReady checks that containerd listens. Its socket is seen outside of
// its mount namespace by the path of the folder that lies over the usual one.
func (c *Cluster) containerdReady(ctx context.Context) error {
	conn, err := (&net.Dialer{Timeout: requestLimit}).DialContext(ctx, "unix", c.containerdSocket())
	if err != nil {
		return err
	}
	return conn.Close()
}

func (c *Cluster) containerdSocket() string {
	return c.state.private(node.ContainerdState) + strings.TrimPrefix(node.ContainerdSocket, node.ContainerdState)
}

// apiReady checks that the API server has done all of its start-up work.
func apiReady(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		b, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Raw()
		if err != nil {
			return fmt.Errorf("the API server is not ready: %w: %s", err, b)
		}
		return nil
	}
}

// nodeReady checks that the node takes pods.
func nodeReady(client kubernetes.Interface, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		n, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, cond := range n.Status.Conditions {
			if cond.Type != corev1.NodeReady {
				continue
			}
			if cond.Status == corev1.ConditionTrue {
				return nil
			}
			return fmt.Errorf("node is not ready: %s", cond.Message)
		}
		return errors.New("node has no condition yet")
	}
}

// nobody is a user that nothing on the node runs as. What root asks of a pod
// passes by the network policies, as the kubelet's probes must.
const nobody = 65534

// dnsAnswers checks that the cluster's DNS server knows a service, when a user
// that is not root asks by the service's address. That only works with
// kube-proxy, and when the policy engine lets it pass.
func (c *Cluster) dnsAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	dial := netns.DialAs(c.name, nobody)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, net.JoinHostPort(node.DNS, "53"))
	}}
	// The final dot keeps the machine's own search list out of it.
	found, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
	if err != nil {
		return fmt.Errorf("cannot ask the cluster's DNS server: %w", err)
	}
	if !slices.Contains(found, node.ServiceIP) {
		return fmt.Errorf("the cluster's DNS server says that the API server is at %q, not at %s", found, node.ServiceIP)
	}
	return nil
}

// policiesListen checks that the policy engine waits for connections to decide on.
func (c *Cluster) policiesListen(context.Context) error {
	_, err := c.asked()
	return err
}

// policiesAsked checks that a question to the DNS server, which is a pod, is put
// to the policy engine and passes.
func (c *Cluster) policiesAsked(ctx context.Context) error {
	before, err := c.asked()
	if err != nil {
		return err
	}
	if err := c.dnsAnswers(ctx); err != nil {
		return err
	}
	after, err := c.asked()
	if err == nil && after == before {
		err = errors.New("connections to pods pass without the policy engine")
	}
	return err
}

// asked is how many connections the policy engine was asked about.
func (c *Cluster) asked() (uint64, error) {
	r, err := proc.Load(c.state.pids(), policyEngine)
	if err != nil {
		return 0, err
	}
	return policy.Asked(proc.Proc, r.PID)
}

// storageThere checks that the default StorageClass exists.
func storageThere(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.StorageV1().StorageClasses().Get(ctx, storageClass, metav1.GetOptions{})
		return err
	}
}

// registryFull checks that the registry answers for all of the part.
func (c *Cluster) registryFull(part content.Part) func(context.Context) error {
	return func(ctx context.Context) error { return c.registryHas(ctx, part.References()) }
}

func (c *Cluster) registryHas(ctx context.Context, references []string) error {
	client := &http.Client{Timeout: requestLimit, Transport: &http.Transport{DialContext: netns.Dial(c.name), DisableKeepAlives: true}}
	for _, ref := range references {
		repository, tag, _ := strings.Cut(ref, ":")
		url := "http://" + node.Registry + "/v2/" + repository + "/manifests/" + tag
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
		if err != nil {
			return fmt.Errorf("cannot ask registry: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("cannot ask registry: %w", err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("registry answers %s for %s", resp.Status, ref)
		}
	}
	return nil
}

// Health says what is wrong with a cluster that is meant to be up, or nil.
func (c *Cluster) Health(ctx context.Context) error {
	for _, name := range Components {
		r, err := proc.Load(c.state.pids(), name)
		if err != nil {
			return err
		}
		if !r.Alive(proc.Proc) {
			return fmt.Errorf("%s does not run", name)
		}
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	checks := []func(context.Context) error{
		apiReady(client), nodeReady(client, c.name), storageThere(client), c.policiesAsked, c.registryFull(content.OfCluster()), c.listening(node.Git), c.containerdReady,
	}
	for _, check := range checks {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}
