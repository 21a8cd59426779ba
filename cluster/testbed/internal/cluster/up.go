// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/content"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/preflight"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

const (
	daemonLimit   = 30 * time.Second
	apiLimit      = 90 * time.Second
	nodeLimit     = 90 * time.Second
	dnsLimit      = 120 * time.Second
	teardownLimit = 90 * time.Second
)

// Up builds what is missing and brings the cluster up. It is quick when the
// cluster is up and well already; what an interrupted run left is removed first.
// When it fails, or ctx ends, nothing is left running, and the logs stay.
func (c *Cluster) Up(ctx context.Context) error {
	if err := c.fill(ctx); err != nil {
		return err
	}
	if err := preflight.Disk(string(c.state), preflight.RunDisk); err != nil {
		return err
	}
	unlock, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	up, err := c.settle(ctx)
	if err != nil || up {
		return err
	}
	err = c.start(ctx)
	if err == nil {
		c.log.Printf("cluster %q is up: kubeconfig %s, reached from inside by 'exec -- COMMAND'", c.name, c.state.kubeconfig())
		return nil
	}
	c.log.Printf("cluster %q did not come up; taking it down, its logs stay in %s", c.name, c.state.logs())
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownLimit)
	defer cancel()
	m, merr := c.state.readMarker()
	if merr == nil && m != nil {
		merr = c.clean(cleaning, *m)
	}
	return errors.Join(err, merr)
}

// settle looks at what is there. It says true for a cluster that is up and
// well, and removes one that is not.
func (c *Cluster) settle(ctx context.Context) (bool, error) {
	m, err := c.ours()
	if err != nil || m == nil {
		return false, err
	}
	if m.Complete {
		broken := c.Health(ctx)
		if broken == nil {
			c.log.Printf("cluster %q is up already, since %s", c.name, m.Made.Format(time.DateTime))
			if m.Programs != c.fingerprint() {
				c.log.Printf("it runs other programs than this version makes: 'down' and 'up' renew it")
			}
			return true, nil
		}
		c.log.Printf("cluster %q is up but not well: %v", c.name, broken)
	}
	err = c.log.Do("remove what an earlier run left", func() error { return c.clean(ctx, *m) })
	return false, err
}

// fingerprint identifies what the cluster runs.
func (c *Cluster) fingerprint() string { return c.content.Folder() }

// start makes the cluster from nothing.
func (c *Cluster) start(ctx context.Context) error {
	began := time.Now()
	preflight.Kernel(ctx)
	m, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	if err := c.startAll(ctx, client); err != nil {
		return err
	}
	m.Complete, m.Made = true, time.Now()
	if err := c.state.writeMarker(m); err != nil {
		return err
	}
	c.log.Printf("cluster started in %.1fs", time.Since(began).Seconds())
	return nil
}

// startDaemon starts the daemon and waits until check says that it is there.
func (c *Cluster) startDaemon(ctx context.Context, name string, limit time.Duration, check func(context.Context) error) error {
	return c.log.Do("start "+name, func() error {
		if err := c.spawn(name); err != nil {
			return err
		}
		if check == nil {
			return nil
		}
		return c.await(ctx, name, limit, check)
	})
}

func (c *Cluster) spawn(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := proc.Start(c.daemon(name), c.state.logs(), c.state.pids())
	if err != nil {
		return err
	}
	c.running[name] = r
	return nil
}

// startAll starts the daemons, side by side where they do not need each other.
func (c *Cluster) startAll(ctx context.Context, client kubernetes.Interface) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := c.startDaemon(gctx, etcd, daemonLimit, c.listening("127.0.0.1:2379")); err != nil {
			return err
		}
		return c.startDaemon(gctx, apiServer, apiLimit, apiReady(client))
	})
	g.Go(func() error {
		return c.startDaemon(gctx, registryDaemon, daemonLimit, c.registryFull(content.OfCluster()))
	})
	g.Go(func() error {
		return c.startDaemon(gctx, gitDaemon, daemonLimit, c.listening(node.Git))
	})
	g.Go(func() error {
		return c.startDaemon(gctx, containerd, daemonLimit, c.containerdReady)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	for _, name := range []string{controllerManager, scheduler, kubelet, kubeProxy, policyEngine, provisioner} {
		if err := c.spawn(name); err != nil {
			return err
		}
	}
	return c.settleDown(ctx, client)
}

// settleDown waits until the cluster does its work.
func (c *Cluster) settleDown(ctx context.Context, client kubernetes.Interface) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return c.log.Do("node ready", func() error { return c.await(ctx, kubelet, nodeLimit, nodeReady(client, c.name)) })
	})
	g.Go(func() error {
		if err := c.log.Do("apply DNS and storage", func() error { return c.applyManifests(ctx, "*.yaml") }); err != nil {
			return err
		}
		return c.log.Do("storage there, DNS answers, network policies are asked", func() error {
			if err := c.await(ctx, apiServer, apiLimit, storageThere(client)); err != nil {
				return err
			}
			if err := c.await(ctx, policyEngine, daemonLimit, c.policiesListen); err != nil {
				return err
			}
			return c.await(ctx, kubelet, dnsLimit, c.policiesAsked)
		})
	})
	g.Go(func() error {
		return c.log.Do("pull images", func() error { return c.pullImages(ctx, content.OfCluster()) })
	})
	return g.Wait()
}
