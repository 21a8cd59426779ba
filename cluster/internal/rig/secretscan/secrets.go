// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// public are keys of Secrets that name or locate, and give no access.
var public = []string{"namespace", "endpoint", "username", "registry", "server", "port"}

// configPrefix begins the names of the Secrets that hold vCluster's configuration.
const configPrefix = "vc-config-"

// Secrets are those of a run. They are safe for concurrent use.
type Secrets struct {
	mu    sync.Mutex
	known map[string]string // a secret, and where it was seen first
}

// Learn all that is secret in a Secret of that cluster.
func (s *Secrets) Learn(cluster string, o *corev1.Secret) {
	if strings.HasPrefix(o.GetName(), configPrefix) {
		return
	}

	for key, value := range o.Data {
		if !slices.Contains(public, key) {
			s.LearnValue(fmt.Sprintf("Secret %s/%s of %s, key %q", o.GetNamespace(), o.GetName(), cluster, key), value)
		}
	}
}

// LearnValue all that is secret in a value that comes from there.
func (s *Secrets) LearnValue(from string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.known == nil {
		s.known = map[string]string{}
	}

	for what, part := range secretParts(value) {
		if _, ok := s.known[part]; !ok && len(pieces(part)) > 0 {
			s.known[part] = strings.TrimSuffix(from+", "+what, ", ")
		}
	}
}

// Len is how many there are.
func (s *Secrets) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.known)
}

// each calls f for each secret.
func (s *Secrets) each(f func(secret, from string)) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for secret, from := range s.known {
		f(secret, from)
	}
}

// secretParts takes a value apart. The keys say what each part is; that of a value
// which is secret as a whole is empty.
func secretParts(value []byte) map[string]string {
	if parts := ofKubeconfig(value); parts != nil {
		return parts
	}

	if parts := ofDocker(value); parts != nil {
		return parts
	}

	if parts := ofPEM(value); parts != nil {
		return parts
	}

	return ofText(string(value))
}

// ofKubeconfig are the secret parts of a kubeconfig, nil if it is none.
func ofKubeconfig(value []byte) map[string]string {
	if !bytes.Contains(value, []byte("clusters")) {
		return nil
	}

	cfg, err := clientcmd.Load(value)
	if err != nil || len(cfg.Clusters) == 0 {
		return nil
	}

	out := map[string]string{}

	for name, u := range cfg.AuthInfos {
		for what, part := range secretParts(u.ClientKeyData) {
			out[fmt.Sprintf("user %q %s", name, what)] = part
		}

		for what, part := range ofText(u.Token) {
			out[fmt.Sprintf("user %q token %s", name, what)] = part
		}

		out[fmt.Sprintf("user %q password", name)] = u.Password
	}

	return out
}

// ofDocker are the secret parts of a dockerconfigjson, nil if it is none.
func ofDocker(value []byte) map[string]string {
	var doc struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	if err := json.Unmarshal(value, &doc); err != nil || doc.Auths == nil {
		return nil
	}

	out := map[string]string{}

	for registry, fields := range doc.Auths {
		for _, name := range []string{"auth", "password", "identitytoken", "registrytoken"} {
			if part, ok := fields[name].(string); ok {
				out[registry+" "+name] = part
			}
		}
	}

	return out
}

// ofPEM are the secret blocks of PEM without their first and last lines, nil if
// there is no block at all.
func ofPEM(value []byte) map[string]string {
	var out map[string]string

	for n := 1; ; n++ {
		block, rest := pem.Decode(value)
		if block == nil {
			return out
		}

		if out == nil {
			out = map[string]string{}
		}

		if block.Type != "CERTIFICATE" && block.Type != "PUBLIC KEY" {
			lines := strings.Split(strings.TrimSpace(string(pem.EncodeToMemory(block))), "\n")
			out[fmt.Sprintf("%s %d", strings.ToLower(block.Type), n)] = strings.Join(lines[1:len(lines)-1], "\n")
		}

		value = rest
	}
}

// ofText is the text itself or, of a JSON web token, its signature.
func ofText(text string) map[string]string {
	if parts := strings.Split(text, "."); len(parts) == 3 && strings.HasPrefix(text, "eyJ") {
		return map[string]string{"signature": parts[2]}
	}

	return map[string]string{"": text}
}
