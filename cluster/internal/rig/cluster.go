// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package rig is what the programs and suites below cluster share: the cluster that they
// work on, the provider and others as processes, a look at what Tenants make, and fakes
// of what is not there, such as kubeopera-api or a bad network.
package rig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Cluster is a host cluster as its administrator has it.
type Cluster struct {
	// Client reads and writes as its administrator.
	Client client.WithWatch
	// Config of the administrator.
	Config *rest.Config

	folder string
}

// Connect returns the cluster of KUBECONFIG. Nothing is asked of it yet.
func Connect() (*Cluster, error) {
	kubeconfig := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if kubeconfig == "" {
		return nil, errors.New("cannot find a cluster: KUBECONFIG is not set; run this by 'testbed exec -- COMMAND'")
	}

	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot read KUBECONFIG: %w", err)
	}

	return NewCluster(cfg, filepath.Dir(kubeconfig))
}

// NewCluster returns the cluster that cfg is the administrator's way into. The folder is
// where the test bed keeps its files, of which only AuditLog wants to know.
func NewCluster(cfg *rest.Config, folder string) (*Cluster, error) {
	cfg = rest.CopyConfig(cfg)
	// Waits must not be slowed down by the client's own limit.
	cfg.QPS = -1
	// The API server warns of each old kind that is listed.
	cfg.WarningHandler = rest.NoWarnings{}

	c, err := client.NewWithWatch(cfg, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}

	return &Cluster{Client: c, Config: cfg, folder: folder}, nil
}

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme,
	} {
		// They err on two types of one name only.
		if err := add(s); err != nil {
			panic(err)
		}
	}

	return s
}

// AuditLog is the file into which the test bed's API server logs each write.
func (c *Cluster) AuditLog() string { return filepath.Join(c.folder, "audit.log") }

// VolumeFolder is the folder of a volume on the test bed's disk.
func (c *Cluster) VolumeFolder(v *corev1.PersistentVolume) (string, error) {
	if v.Spec.HostPath == nil {
		return "", fmt.Errorf("cannot find volume %q on the disk: it is no folder of the node", v.GetName())
	}

	return v.Spec.HostPath.Path, nil
}

// Root is the folder of the module that the working folder is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the working folder: %w", err)
	}

	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}

		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("cannot find the module: run this in a folder of it")
		}

		dir = up
	}
}
