// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// boundSecrets gives Helm's storage driver, which asks with the background
// context, the context that the caller has, and nothing but records of releases.
type boundSecrets struct {
	corev1client.SecretInterface
	//nolint:containedctx // Helm's storage driver passes none.
	ctx             context.Context
	resourceVersion string
}

type bindOption func(*boundSecrets)

// ifUnchanged makes updates fail with a conflict when the Secret is no longer
// at the given resource version. Helm's driver overwrites whatever is there.
func ifUnchanged(resourceVersion string) bindOption {
	return func(s *boundSecrets) { s.resourceVersion = resourceVersion }
}

func bind(ctx context.Context, s corev1client.SecretInterface, opts ...bindOption) *boundSecrets {
	b := &boundSecrets{SecretInterface: s, ctx: ctx}
	for _, o := range opts {
		o(b)
	}
	return b
}

func (s *boundSecrets) Get(_ context.Context, name string, o metav1.GetOptions) (*corev1.Secret, error) {
	out, err := s.SecretInterface.Get(s.ctx, name, o)
	if err != nil {
		return nil, err
	}
	return out, checkRecord(out)
}

func (s *boundSecrets) List(_ context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	o.LabelSelector = notSynced(o.LabelSelector)

	out, err := s.SecretInterface.List(s.ctx, o)
	if err != nil {
		return nil, err
	}
	out.Items = slices.DeleteFunc(out.Items, func(i corev1.Secret) bool { return i.Type != recordType || !isRecord(&i.ObjectMeta) })
	for i := range out.Items {
		if err := checkRecord(&out.Items[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *boundSecrets) Create(_ context.Context, obj *corev1.Secret, o metav1.CreateOptions) (*corev1.Secret, error) {
	return s.SecretInterface.Create(s.ctx, obj, o)
}

func (s *boundSecrets) Update(_ context.Context, obj *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error) {
	obj.ResourceVersion = s.resourceVersion
	return s.SecretInterface.Update(s.ctx, obj, o)
}

func (s *boundSecrets) Delete(_ context.Context, name string, o metav1.DeleteOptions) error {
	return s.SecretInterface.Delete(s.ctx, name, o)
}
