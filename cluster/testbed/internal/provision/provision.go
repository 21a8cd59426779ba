// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package provision is the cluster's storage: it makes a folder of the machine
// for each volume that a claim asks for, and removes it with the volume.
package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Name is the provisioner that a StorageClass names.
const Name = "testbed.kubeopera.io/folder"

// folders makes volumes below one folder.
type folders struct {
	root string
}

// Provision makes the volume's folder. Pods of any user may write into it.
func (f folders) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if mode := o.PVC.Spec.VolumeMode; mode != nil && *mode != corev1.PersistentVolumeFilesystem {
		return nil, controller.ProvisioningFinished, fmt.Errorf("cannot provision a volume of mode %q: only %q is supported", *mode, corev1.PersistentVolumeFilesystem)
	}
	dir := filepath.Join(f.root, o.PVName)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, controller.ProvisioningFinished, fmt.Errorf("cannot make folder of volume: %w", err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // Pods of any user write there.
		return nil, controller.ProvisioningFinished, fmt.Errorf("cannot open folder of volume to all: %w", err)
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: ptr.Deref(o.StorageClass.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			AccessModes:                   o.PVC.Spec.AccessModes,
			MountOptions:                  o.StorageClass.MountOptions,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: dir, Type: ptr.To(corev1.HostPathDirectory)},
			},
		},
	}, controller.ProvisioningFinished, nil
}

// Delete removes the volume's folder, if it is one that Provision makes.
func (f folders) Delete(_ context.Context, pv *corev1.PersistentVolume) error {
	if pv.Spec.HostPath == nil {
		return &controller.IgnoredError{Reason: "it is no folder"}
	}
	rel, err := filepath.Rel(f.root, pv.Spec.HostPath.Path)
	if err != nil || rel == "." || strings.Contains(rel, string(filepath.Separator)) || strings.HasPrefix(rel, "..") {
		return &controller.IgnoredError{Reason: fmt.Sprintf("%q is not a folder of this cluster", pv.Spec.HostPath.Path)}
	}
	if err := os.RemoveAll(pv.Spec.HostPath.Path); err != nil {
		return fmt.Errorf("cannot remove folder of volume: %w", err)
	}
	return nil
}

// Run is the provisioner's daemon: it serves the cluster of the kubeconfig with
// folders below root until ctx ends.
func Run(ctx context.Context, kubeconfig, root string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot read kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make client: %w", err)
	}
	controller.NewProvisionController(ctx, client, Name, folders{root: root}, controller.LeaderElection(false)).Run(ctx)
	return nil
}
