// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func options(mode corev1.PersistentVolumeMode) controller.ProvisionOptions {
	return controller.ProvisionOptions{
		StorageClass: &storagev1.StorageClass{},
		PVName:       "pvc-1",
		PVC: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			VolumeMode:  &mode,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")}},
		}},
	}
}

func TestProvisionAndDelete(t *testing.T) {
	t.Parallel()
	f := folders{root: t.TempDir()}
	pv, state, err := f.Provision(t.Context(), options(corev1.PersistentVolumeFilesystem))
	if err != nil || state != controller.ProvisioningFinished {
		t.Fatalf("Provision(...) = %v, %v", state, err)
	}
	dir := filepath.Join(f.root, "pvc-1")
	if pv.Name != "pvc-1" || pv.Spec.HostPath == nil || pv.Spec.HostPath.Path != dir {
		t.Errorf("volume is %q at %v, want the folder %q", pv.Name, pv.Spec.HostPath, dir)
	}
	if pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("volume is to %s when its claim goes", pv.Spec.PersistentVolumeReclaimPolicy)
	}
	if size := pv.Spec.Capacity[corev1.ResourceStorage]; size.String() != "5Gi" {
		t.Errorf("volume has %s", size.String())
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
		t.Fatalf("folder of volume: %v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// Twice, because the controller may ask again.
	for range 2 {
		if err := f.Delete(t.Context(), pv); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of volume after Delete: %v", err)
	}
}

func TestProvisionBlock(t *testing.T) {
	t.Parallel()
	f := folders{root: t.TempDir()}
	if _, _, err := f.Provision(t.Context(), options(corev1.PersistentVolumeBlock)); err == nil {
		t.Error("a folder is given out as a block device")
	}
}

func TestDeleteLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	f := folders{root: filepath.Join(root, "volumes")}
	if err := os.MkdirAll(filepath.Join(f.root, "pvc-1", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		source *corev1.HostPathVolumeSource
	}{
		"NoFolder":  {reason: "a volume of another kind"},
		"Elsewhere": {reason: "a folder of someone else", source: &corev1.HostPathVolumeSource{Path: root}},
		"Root":      {reason: "the folder of all volumes", source: &corev1.HostPathVolumeSource{Path: f.root}},
		"Escape":    {reason: "a path that leads out", source: &corev1.HostPathVolumeSource{Path: f.root + "/../x"}},
		"Deep":      {reason: "a folder inside a volume", source: &corev1.HostPathVolumeSource{Path: f.root + "/pvc-1/deep"}},
		"Relative":  {reason: "a path that hangs on where the program runs", source: &corev1.HostPathVolumeSource{Path: "pvc-1", Type: ptr.To(corev1.HostPathDirectory)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pv := &corev1.PersistentVolume{}
			pv.Spec.HostPath = tc.source
			var ignored *controller.IgnoredError
			if err := f.Delete(t.Context(), pv); !errors.As(err, &ignored) {
				t.Errorf("%s: Delete(...) = %v, want that it is ignored", tc.reason, err)
			}
			if _, err := os.Stat(filepath.Join(f.root, "pvc-1", "deep")); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
