// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package rbac gives the program the manifests that say what it may do, so that
// it reviews exactly what is shipped.
package rbac

import (
	"bytes"
	_ "embed" // The manifests are part of the program.
	"errors"
	"fmt"
	"io"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Names of the roles in the manifests.
const (
	providerRole = "provider-kubeopera"
	hostRole     = "provider-kubeopera-host"
	reportsRole  = "provider-kubeopera-reports"
)

var (
	//go:embed clusterrole.yaml
	clusterRoles []byte
	//go:embed provider.yaml
	plainInstall []byte
)

// Rules are what the provider needs.
type Rules struct {
	// Provider is needed on the cluster that the provider runs in.
	Provider []rbacv1.PolicyRule
	// Host is needed on a cluster that holds vClusters.
	Host []rbacv1.PolicyRule
	// Reports is needed in the provider's own namespace when it reports to
	// kubeopera-api.
	Reports []rbacv1.PolicyRule
}

// Load reads the rules of the manifests that the program was built with. It errs
// if one of them lacks a role.
func Load() (Rules, error) {
	roles, err := read(clusterRoles, plainInstall)
	if err != nil {
		return Rules{}, err
	}
	out := Rules{Provider: roles[providerRole], Host: roles[hostRole], Reports: roles[reportsRole]}
	if len(out.Provider) == 0 || len(out.Host) == 0 || len(out.Reports) == 0 {
		return Rules{}, errors.New("cannot find the provider's roles in its own manifests")
	}
	return out, nil
}

// read finds the rules of each Role and ClusterRole by its name.
func read(manifests ...[]byte) (map[string][]rbacv1.PolicyRule, error) {
	// A Role has the same fields. What is neither has no rules.
	roles, err := decode[rbacv1.ClusterRole](manifests...)
	if err != nil {
		return nil, fmt.Errorf("cannot read the provider's roles: %w", err)
	}
	out := map[string][]rbacv1.PolicyRule{}
	for _, r := range roles {
		if len(r.Rules) > 0 {
			out[r.Name] = r.Rules
		}
	}
	return out, nil
}

// decode reads each document of the manifests as a T, whatever its kind.
func decode[T any](manifests ...[]byte) ([]T, error) {
	var out []T
	for docs := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(bytes.Join(manifests, []byte("\n---\n"))), 4096); ; {
		var one T
		err := docs.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
}
