// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const kindDeployment = "Deployment"

// surgeless is a Helm post-renderer that takes the surge out of Deployments. What
// is not a Deployment passes byte for byte.
type surgeless struct{}

// Run changes the documents of a manifest.
func (surgeless) Run(manifest *bytes.Buffer) (*bytes.Buffer, error) {
	var out, doc bytes.Buffer
	flush := func() error {
		changed, err := withoutSurge(doc.Bytes())
		if err != nil {
			return err
		}
		out.Write(changed)
		doc.Reset()
		return nil
	}
	for line := range bytes.Lines(manifest.Bytes()) {
		if !isSeparator(line) {
			doc.Write(line)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		out.Write(line)
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return &out, nil
}

// isSeparator says whether a line stands between two YAML documents.
func isSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	rest = bytes.TrimSpace(rest)
	return ok && (len(rest) == 0 || rest[0] == '#')
}

// withoutSurge returns one document as it is, unless it holds a Deployment with
// a surge.
func withoutSurge(doc []byte) ([]byte, error) {
	// Most of a manifest is CRDs, which are large.
	if !bytes.Contains(doc, []byte(kindDeployment)) {
		return doc, nil
	}
	var obj map[string]any
	if err := utilyaml.Unmarshal(doc, &obj); err != nil {
		return nil, fmt.Errorf("cannot read a document that holds a %s: %w", kindDeployment, err)
	}
	if !stopSurge(obj) {
		return doc, nil
	}
	out, err := yaml.Marshal(obj)
	return append(header(doc), out...), err
}

// header is the comments before the first key of a document, such as Helm's on
// the template that it came from.
func header(doc []byte) []byte {
	var out []byte
	for line := range bytes.Lines(doc) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		out = append(out, line...)
	}
	return out
}

// stopSurge changes a Deployment, or those in a list, and says whether it did.
func stopSurge(obj map[string]any) bool {
	u := unstructured.Unstructured{Object: obj}
	if items, ok := obj["items"].([]any); ok && strings.HasSuffix(u.GetKind(), "List") {
		changed := false
		for _, item := range items {
			o, _ := item.(map[string]any)
			changed = stopSurge(o) || changed
		}
		return changed
	}
	if u.GetKind() != kindDeployment || u.GroupVersionKind().Group != "apps" {
		return false
	}
	// One without a spec is for the API server to refuse.
	spec, ok := obj["spec"].(map[string]any)
	if !ok {
		return false
	}
	if strategy, ok := spec["strategy"].(map[string]any); ok && strategy["type"] == "Recreate" {
		return false
	}
	spec["strategy"] = map[string]any{
		"type":          "RollingUpdate",
		"rollingUpdate": map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)},
	}
	return true
}
