// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Plan is what a cluster needs certificates for.
type Plan struct {
	// Cluster and Node are names.
	Cluster, Node string
	// Server is the API server's URL.
	Server string
	// APIHosts and NodeHosts are the names and addresses under which the API
	// server and the kubelet are reached.
	APIHosts, NodeHosts []string
	// Users maps the name of a kubeconfig, and of its certificate, to the user
	// and the groups that it stands for.
	Users map[string][]string
}

// Names of the client certificates by which the API server itself is known.
const (
	// FrontProxy is the user as which the API server forwards requests.
	FrontProxy = "front-proxy"
	kubeletAPI = "apiserver-kubelet-client"
)

// Write makes all certificates, keys and kubeconfigs of the plan in the folder.
// Each kubeconfig is NAME.kubeconfig.
func (p Plan) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cannot make folder of certificates: %w", err)
	}
	ca, err := NewAuthority(p.Cluster)
	if err != nil {
		return err
	}
	front, err := NewAuthority(p.Cluster + "-front-proxy")
	if err != nil {
		return err
	}
	pairs := map[string]Pair{"ca": ca.Pair, "front-proxy-ca": front.Pair}
	if pairs["apiserver"], err = ca.Server("kube-apiserver", p.APIHosts...); err != nil {
		return err
	}
	if pairs["kubelet-server"], err = ca.Server(p.Node, p.NodeHosts...); err != nil {
		return err
	}
	if pairs[kubeletAPI], err = ca.Client(kubeletAPI, "system:masters"); err != nil {
		return err
	}
	if pairs["front-proxy-client"], err = front.Client(FrontProxy); err != nil {
		return err
	}
	for name, pair := range pairs {
		if err := pair.Write(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	if err := p.writeKubeconfigs(folder, ca); err != nil {
		return err
	}
	key, err := SigningKey()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "service-accounts.key"), key, 0o600); err != nil {
		return fmt.Errorf("cannot write key of service accounts: %w", err)
	}
	return nil
}

func (p Plan) writeKubeconfigs(folder string, ca *Authority) error {
	for name, who := range p.Users {
		client, err := ca.Client(who[0], who[1:]...)
		if err != nil {
			return err
		}
		file := filepath.Join(folder, name+".kubeconfig")
		if err := WriteKubeconfig(file, p.Cluster, p.Server, ca.Cert, name, client); err != nil {
			return err
		}
	}
	return nil
}
