// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/internal/quantity"
)

// workload is what a rendered object makes pods of.
type workload struct {
	// replicas that it keeps, and surge that it may have besides during an update.
	replicas, surge int64
	pod             corev1.PodSpec
	// claims are the volume claims that it makes for each pod.
	claims []corev1.PersistentVolumeClaimSpec
}

// workloads reads the kinds that keep pods. Jobs and CronJobs are not among them:
// their pods come and go, and an allowance for a moment would be the tenant's for
// the rest of the time.
var workloads = map[schema.GroupKind]func(*unstructured.Unstructured) (workload, error){
	{Group: appsv1.GroupName, Kind: "Deployment"}:  readDeployment,
	{Group: appsv1.GroupName, Kind: "StatefulSet"}: readStatefulSet,
	{Group: appsv1.GroupName, Kind: "DaemonSet"}:   readDaemonSet,
	{Group: appsv1.GroupName, Kind: "ReplicaSet"}:  readReplicaSet,
}

// AllowanceOf is what the pods of rendered Deployments, StatefulSets, DaemonSets
// and ReplicaSets need at their peak: with the surge of an update, and with what
// containers do not ask for as the LimitRange gives it. A DaemonSet has one pod,
// as on one node. An error names the object and its field, and wraps ErrNoPods where
// there will be no pods.
func AllowanceOf(objs []*unstructured.Unstructured) (Allowance, error) {
	out := Allowance{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}

	for _, o := range objs {
		read, ok := workloads[o.GroupVersionKind().GroupKind()]
		if !ok {
			continue
		}

		w, err := read(o)
		if err == nil {
			err = out.addWorkload(w)
		}

		if err != nil {
			return Allowance{}, fmt.Errorf("%s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}

	return out, nil
}

func (a *Allowance) addWorkload(w workload) error {
	needs, err := podNeeds(w.pod)
	if err != nil {
		return err
	}

	if err := a.add("spec.replicas", w.replicas, needs); err != nil {
		return err
	}

	if err := a.add("the surge of spec.replicas", w.surge, needs); err != nil {
		return err
	}

	for _, v := range w.pod.Volumes {
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			w.claims = append(w.claims, v.Ephemeral.VolumeClaimTemplate.Spec)
		}
	}

	for range w.replicas + w.surge {
		for _, c := range w.claims {
			size := c.Resources.Requests[corev1.ResourceStorage]
			if size.Sign() < 0 || size.Cmp(largestVolume) > 0 {
				return fmt.Errorf("resources.requests.storage of a volume claim must be 0 to %s, not %s", largestVolume.String(), size.String())
			}

			a.Storage.Add(size)
		}
	}

	return nil
}

func readDeployment(o *unstructured.Unstructured) (workload, error) {
	var d appsv1.Deployment
	if err := read(o, &d); err != nil {
		return workload{}, err
	}

	w := workload{replicas: replicas(d.Spec.Replicas), pod: d.Spec.Template.Spec}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return w, nil
	}

	// The API server's default.
	most := intstr.FromString("25%")
	if r := d.Spec.Strategy.RollingUpdate; r != nil && r.MaxSurge != nil {
		most = *r.MaxSurge
	}

	return w.surging(most, "spec.strategy.rollingUpdate.maxSurge")
}

func readStatefulSet(o *unstructured.Unstructured) (workload, error) {
	var s appsv1.StatefulSet
	if err := read(o, &s); err != nil {
		return workload{}, err
	}

	w := workload{replicas: replicas(s.Spec.Replicas), pod: s.Spec.Template.Spec}
	for _, c := range s.Spec.VolumeClaimTemplates {
		w.claims = append(w.claims, c.Spec)
	}

	return w, nil
}

func readDaemonSet(o *unstructured.Unstructured) (workload, error) {
	var d appsv1.DaemonSet
	if err := read(o, &d); err != nil {
		return workload{}, err
	}

	w := workload{replicas: 1, pod: d.Spec.Template.Spec}
	if r := d.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxSurge != nil {
		return w.surging(*r.MaxSurge, "spec.updateStrategy.rollingUpdate.maxSurge")
	}

	return w, nil
}

func readReplicaSet(o *unstructured.Unstructured) (workload, error) {
	var r appsv1.ReplicaSet
	err := read(o, &r)

	return workload{replicas: replicas(r.Spec.Replicas), pod: r.Spec.Template.Spec}, err
}

// read makes a typed object of a rendered one.
func read(o *unstructured.Unstructured, into any) error {
	if err := quantity.Check(o.Object, into); err != nil {
		return err
	}

	raw, err := o.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot read it: %w", err)
	}

	if err := json.Unmarshal(raw, into); err != nil {
		return wrongType(err, "it")
	}

	return nil
}

// replicas are one, where nobody says how many.
func replicas(n *int32) int64 { return int64(ptr.Deref(n, 1)) }

// surging adds a surge, which is a number or a share of the replicas. Not more
// pods than there are replicas are ever new.
func (w workload) surging(most intstr.IntOrString, field string) (workload, error) {
	n, err := intstr.GetScaledValueFromIntOrPercent(&most, int(w.replicas), true)
	if err != nil {
		return w, fmt.Errorf("%s cannot be %q: %w", field, most.String(), err)
	}

	w.surge = min(int64(n), w.replicas)

	return w, nil
}
