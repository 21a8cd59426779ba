// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package localpods tells which pod of this node has an address. It knows so
// before the pod's first process runs, from what the CNI plugins keep, while the
// API server hears of the address a second or two later. A pod whose address
// nobody knows would be taken for one without any policy.
package localpods

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A Node is where CNI plugins keep what they made for the pods of a node.
type Node struct {
	// Folder of the plugins, such as "/var/lib/cni".
	Folder string
	// Network is the name of the pods' CNI network, whose addresses the plugin
	// host-local gives out.
	Network string
}

// Key returns NAMESPACE/NAME of the pod that has the address, or "" when none of
// this node has it.
func (n Node) Key(address string) string {
	if _, err := netip.ParseAddr(address); err != nil {
		return ""
	}
	// host-local keeps the container's id and its interface, a line each.
	owner, err := os.ReadFile(filepath.Join(n.Folder, "networks", n.Network, address))
	if err != nil {
		return ""
	}
	lines := strings.Fields(string(owner))
	if len(lines) != 2 {
		return ""
	}
	raw, err := os.ReadFile(filepath.Join(n.Folder, "results", n.Network+"-"+lines[0]+"-"+lines[1]))
	if err != nil {
		return ""
	}
	var made struct {
		Args [][2]string `json:"cniArgs"`
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		return ""
	}
	args := map[string]string{}
	for _, a := range made.Args {
		args[a[0]] = a[1]
	}
	namespace, name := args["K8S_POD_NAMESPACE"], args["K8S_POD_NAME"]
	if namespace == "" || name == "" {
		return ""
	}
	return namespace + "/" + name
}

// Silent is an informer that tells nobody of changes. It is asked only.
type Silent struct {
	cache.SharedIndexInformer
}

// AddEventHandler forgets the handler.
func (Silent) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, nil //nolint:nilnil // Nobody asks whether the handler has had its fill.
}

// An Informer of pods that is silent, and asks the node first which pod has an
// address. The answer of its other indices is the informer's own.
type Informer struct {
	coreinformers.PodInformer

	Node Node
}

// Informer returns the informer that asks the node first.
func (i Informer) Informer() cache.SharedIndexInformer {
	return shared{Silent{i.PodInformer.Informer()}, i.Node}
}

type shared struct {
	Silent

	node Node
}

func (s shared) GetIndexer() cache.Indexer {
	return indexer{s.SharedIndexInformer.GetIndexer(), s.node}
}

type indexer struct {
	cache.Indexer

	node Node
}

// ByIndex knows the index of addresses by its values: no other has such.
func (i indexer) ByIndex(index, value string) ([]any, error) {
	if key := i.node.Key(value); key != "" {
		// A pod that has ended may have had the address before.
		if pod, ok, err := i.GetByKey(key); err == nil && ok {
			return []any{pod}, nil
		}
	}
	return i.Indexer.ByIndex(index, value)
}
