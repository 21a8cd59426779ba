// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ErrCredentialsRefused says that a kubeconfig would make the provider run a
// program, read a file of its own pod, or guess.
var ErrCredentialsRefused = errors.New("kubeconfig refused")

// ParseKubeconfig makes the config of the host cluster that a kubeconfig's
// current context names. The kubeconfig is a user's: it must hold its
// credentials in itself. The error never quotes it.
func ParseKubeconfig(raw []byte) (*rest.Config, error) {
	k, err := clientcmd.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no valid kubeconfig", ErrCredentialsRefused)
	}

	if err := checkKubeconfig(k); err != nil {
		return nil, err
	}

	cfg, err := clientcmd.NewDefaultClientConfig(*k, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%w: its current context cannot be used", ErrCredentialsRefused)
	}

	return cfg, nil
}

func checkKubeconfig(k *clientcmdapi.Config) error {
	c, ok := k.Contexts[k.CurrentContext]
	if !ok {
		return fmt.Errorf("%w: current-context names no context", ErrCredentialsRefused)
	}

	cluster, ok := k.Clusters[c.Cluster]
	if !ok || cluster.Server == "" {
		return fmt.Errorf("%w: the current context names no cluster with a server", ErrCredentialsRefused)
	}

	if cluster.CertificateAuthority != "" {
		return fmt.Errorf("%w: certificate-authority names a file; use certificate-authority-data", ErrCredentialsRefused)
	}

	user, ok := k.AuthInfos[c.AuthInfo]
	if !ok {
		return fmt.Errorf("%w: the current context names no user", ErrCredentialsRefused)
	}

	switch {
	case user.Exec != nil:
		return fmt.Errorf("%w: exec would run a program; use a token or client certificate data", ErrCredentialsRefused)
	case user.AuthProvider != nil:
		return fmt.Errorf("%w: auth-provider is not supported; use a token or client certificate data", ErrCredentialsRefused)
	case user.TokenFile != "":
		return fmt.Errorf("%w: tokenFile names a file; use token", ErrCredentialsRefused)
	case user.ClientCertificate != "":
		return fmt.Errorf("%w: client-certificate names a file; use client-certificate-data", ErrCredentialsRefused)
	case user.ClientKey != "":
		return fmt.Errorf("%w: client-key names a file; use client-key-data", ErrCredentialsRefused)
	default:
		return nil
	}
}
