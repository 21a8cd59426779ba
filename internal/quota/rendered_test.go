// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// object reads a rendered object.
func object(t *testing.T, raw string) *unstructured.Unstructured {
	t.Helper()

	out := &unstructured.Unstructured{}
	if err := utilyaml.Unmarshal([]byte(raw), &out.Object); err != nil {
		t.Fatal(err)
	}

	return out
}

// kind is an object of the group apps with a spec in flow style.
func kind(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()

	return object(t, fmt.Sprintf("{apiVersion: apps/v1, kind: %s, metadata: {name: x}, spec: {%s}}", kind, spec))
}

// Containers: one that names everything, and one that names nothing.
const (
	full  = `{name: full, resources: {requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: "1", memory: 1Gi}}}`
	empty = `{name: empty}`
)

// template of pods with so many containers, and whatever else stands in a pod.
func template(containers string, more ...string) string {
	return fmt.Sprintf("template: {spec: {containers: [%s]%s}}", containers, strings.Join(append([]string{""}, more...), ", "))
}

func TestAllowanceOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		kind   string
		spec   string
		want   allowanceWords
	}{
		"Deployment": {
			"one replica, and one more during an update: a quarter of 1 is rounded up", "Deployment", template(full),
			allowanceWords{"200m/2", "200Mi/2Gi", "0", 2},
		},
		"Commit": {
			"a commit that looks like a number", "ReplicaSet",
			template(`{name: full, image: "1e100", env: [{name: COMMIT, value: "1234e567"}], resources: {requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: "1", memory: 1Gi}}}`),
			allowanceWords{"100m/1", "100Mi/1Gi", "0", 1},
		},
		"DefaultSurge": {"a quarter of 5 is 2", "Deployment", "replicas: 5, " + template(full), allowanceWords{"700m/7", "700Mi/7Gi", "0", 7}},
		"Recreate": {
			"Recreate has no surge", "Deployment", "strategy: {type: Recreate}, " + template(full),
			allowanceWords{"100m/1", "100Mi/1Gi", "0", 1},
		},
		"NoSurge": {
			"nor has a surge of 0", "Deployment", "replicas: 3, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}, " + template(full),
			allowanceWords{"300m/3", "300Mi/3Gi", "0", 3},
		},
		"SurgeOfZeroPercent": {
			"or of 0%", "Deployment", `replicas: 3, strategy: {rollingUpdate: {maxSurge: "0%"}}, ` + template(full),
			allowanceWords{"300m/3", "300Mi/3Gi", "0", 3},
		},
		"SurgeNumber": {
			"a surge of 2", "Deployment", "replicas: 3, strategy: {rollingUpdate: {maxSurge: 2}}, " + template(full),
			allowanceWords{"500m/5", "500Mi/5Gi", "0", 5},
		},
		"SurgeAll": {
			"no more than all pods are new", "Deployment", "replicas: 2, strategy: {rollingUpdate: {maxSurge: 50}}, " + template(full),
			allowanceWords{"400m/4", "400Mi/4Gi", "0", 4},
		},
		"NoReplicas": {
			"a Deployment of none makes none, whatever its surge", "Deployment", "replicas: 0, strategy: {rollingUpdate: {maxSurge: 1}}, " + template(full),
			allowanceWords{"/", "/", "0", 0},
		},
		"FloatReplicas": {"a number may have come through JSON", "ReplicaSet", "replicas: 2.0, " + template(full), allowanceWords{"200m/2", "200Mi/2Gi", "0", 2}},
		"StatefulSet": {
			"no surge, but a volume for each pod", "StatefulSet",
			"replicas: 2, volumeClaimTemplates: [{spec: {resources: {requests: {storage: 1Gi}}}}, {spec: {resources: {requests: {storage: 2Gi}}}}], " + template(full),
			allowanceWords{"200m/2", "200Mi/2Gi", "6Gi", 2},
		},
		"EphemeralVolume": {
			"volumes that live as long as their pod are claimed, too", "Deployment",
			template(full, "volumes: [{name: a, emptyDir: {}}, {name: b, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}}]"),
			allowanceWords{"200m/2", "200Mi/2Gi", "2Gi", 2},
		},
		"ReplicaSet":     {"no surge", "ReplicaSet", template(full), allowanceWords{"100m/1", "100Mi/1Gi", "0", 1}},
		"DaemonSet":      {"one pod", "DaemonSet", template(full), allowanceWords{"100m/1", "100Mi/1Gi", "0", 1}},
		"DaemonSetSurge": {"and one more if it may", "DaemonSet", `updateStrategy: {rollingUpdate: {maxSurge: "10%"}}, ` + template(full), allowanceWords{"200m/2", "200Mi/2Gi", "0", 2}},
		"Defaults": {
			"what names nothing gets it from the LimitRange", "ReplicaSet", template(empty),
			allowanceWords{"50m/500m", "64Mi/512Mi", "0", 1},
		},
		"LimitOnly": {
			"a limit alone is requested", "ReplicaSet", template(`{name: a, resources: {limits: {cpu: 250m, memory: 128Mi}}}`),
			allowanceWords{"250m/250m", "128Mi/128Mi", "0", 1},
		},
		"RequestOnly": {
			"a request alone is limited by the LimitRange", "ReplicaSet", template(`{name: a, resources: {requests: {cpu: 100m, memory: 128Mi}}}`),
			allowanceWords{"100m/500m", "128Mi/512Mi", "0", 1},
		},
		"OneOfTwo": {
			"each resource has its own defaults, and may be a number", "ReplicaSet", template(`{name: a, resources: {limits: {cpu: 2}, requests: {cpu: 0.5}}}`),
			allowanceWords{"500m/2", "64Mi/512Mi", "0", 1},
		},
		"Containers": {"containers add up", "ReplicaSet", template(full + "," + full), allowanceWords{"200m/2", "200Mi/2Gi", "0", 1}},
		"SmallInit": {
			"init containers run one after the other, and before", "ReplicaSet", template(full, "initContainers: ["+empty+","+empty+"]"),
			allowanceWords{"100m/1", "100Mi/1Gi", "0", 1},
		},
		"LargeInit": {
			"the largest counts, for each resource", "ReplicaSet",
			template(full, `initContainers: [{name: i, resources: {requests: {cpu: 1, memory: 1Mi}, limits: {cpu: 1, memory: 2Gi}}},`+empty+`]`),
			allowanceWords{"1/1", "100Mi/2Gi", "0", 1},
		},
		"Sidecar": {
			"a sidecar runs on beside the containers, and so counts with them", "ReplicaSet",
			template(full, `initContainers: [{name: i, restartPolicy: Always, resources: {limits: {cpu: 200m, memory: 10Mi}}}]`),
			allowanceWords{"300m/1200m", "110Mi/1034Mi", "0", 1},
		},
		"InitAfterSidecar": {
			"an init container runs beside the sidecars before it", "ReplicaSet",
			template(empty, `initContainers: [{name: s, restartPolicy: Always, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: i, resources: {limits: {cpu: 2, memory: 2Gi}}}]`),
			allowanceWords{"3/3", "3Gi/3Gi", "0", 1},
		},
		"InitBeforeSidecar": {
			"and not beside those after it", "ReplicaSet",
			template(empty, `initContainers: [{name: i, resources: {limits: {cpu: 2, memory: 2Gi}}}, {name: s, restartPolicy: Always, resources: {limits: {cpu: 1, memory: 1Gi}}}]`),
			allowanceWords{"2/2", "2Gi/2Gi", "0", 1},
		},
		"Overhead": {
			"a runtime's overhead comes on top", "ReplicaSet", template(full, "overhead: {cpu: 10m, memory: 1Mi}"),
			allowanceWords{"110m/1010m", "101Mi/1025Mi", "0", 1},
		},
		"NoContainers": {"nothing but a pod", "ReplicaSet", "replicas: 1", allowanceWords{"0/0", "0/0", "0", 1}},
		"Largest": {
			"as many as are taken", "ReplicaSet", "replicas: 100, " + template(full),
			allowanceWords{"10/100", "10000Mi/100Gi", "0", 100},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := kind(t, tc.kind, tc.spec)
			before := o.DeepCopy()

			got, err := AllowanceOf([]*unstructured.Unstructured{o})
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, inWords(got)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(before, o); diff != "" {
				t.Errorf("%s: the object was changed: %s", tc.reason, diff)
			}
		})
	}
}

// TestAllowanceOfSeveral holds that objects add up, and that only those count
// which keep pods.
func TestAllowanceOfSeveral(t *testing.T) {
	t.Parallel()

	objs := []*unstructured.Unstructured{
		kind(t, "StatefulSet", template(full)),
		object(t, `{apiVersion: batch/v1, kind: Job, spec: {`+template(full)+`}}`),
		object(t, `{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {`+template(full)+`}}}}`),
		object(t, `{apiVersion: example.com/v1, kind: Deployment, spec: {`+template(full)+`}}`),
		object(t, `{apiVersion: v1, kind: Service}`),
		kind(t, "Deployment", "strategy: {type: Recreate}, "+template(empty)),
	}

	got, err := AllowanceOf(objs)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(allowanceWords{"150m/1500m", "164Mi/1536Mi", "0", 2}, inWords(got)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	got, err = AllowanceOf(nil)
	if err != nil || got.Requests == nil || got.Limits == nil {
		t.Errorf("nothing needs nothing: %+v, %v", got, err)
	}
}

func TestAllowanceOfRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		kind   string
		spec   string
		says   []string
	}{
		"Huge":          {"a limit that no node has", "ReplicaSet", template(`{name: a, resources: {limits: {memory: 9E}}}`), []string{`container "a"`, "9E of memory", "1Pi"}},
		"LessThanNone":  {"a request of less than nothing", "ReplicaSet", template(`{name: a, resources: {requests: {cpu: -1}}}`), []string{`container "a"`, "-1 of cpu"}},
		"TooMany":       {"more than are taken", "Deployment", "replicas: 101, " + template(full), []string{`Deployment "x"`, "spec.replicas", "101"}},
		"Negative":      {"less than none", "StatefulSet", "replicas: -1, " + template(full), []string{`StatefulSet "x"`, "spec.replicas", "-1"}},
		"NegativeSurge": {"a surge of less than none", "Deployment", "strategy: {rollingUpdate: {maxSurge: -1}}, " + template(full), []string{"surge", "-1"}},
		"TextReplicas":  {"a text", "ReplicaSet", "replicas: two", []string{`ReplicaSet "x"`, "spec.replicas", "string"}},
		"TextSurge":     {"a surge in words", "Deployment", "strategy: {rollingUpdate: {maxSurge: some}}", []string{"spec.strategy.rollingUpdate.maxSurge", "some"}},
		"DaemonSurge":   {"of a DaemonSet, too", "DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: some}}", []string{"spec.updateStrategy.rollingUpdate.maxSurge", "some"}},
		"NoQuantity":    {"cores in words", "Deployment", template(`{name: a, resources: {limits: {cpu: 4 cores}}}`), []string{`Deployment "x"`}},
		"Endless":       {"a quantity that takes for ever to read", "Deployment", template(`{name: a, resources: {limits: {cpu: "1e-999999999"}}}`), []string{`Deployment "x"`, "resources: limits: cpu: "}},
		"List":          {"a list instead of a spec", "DaemonSet", "template: []", []string{`DaemonSet "x"`, "spec.template", "array"}},
		"AboveLimit": {
			"a request above its limit", "ReplicaSet", template(`{name: a, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}`),
			[]string{`ReplicaSet "x"`, `container "a"`, "2 of cpu", "limited to 1", "resources.limits.cpu"},
		},
		"AboveDefault": {
			"a request above the LimitRange's limit", "StatefulSet", template(full, `initContainers: [{name: i, resources: {requests: {memory: 1Gi}}}]`),
			[]string{`container "i"`, "1Gi of memory", "limited to 512Mi", "resources.limits.memory"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := AllowanceOf([]*unstructured.Unstructured{kind(t, tc.kind, tc.spec)})
			if err == nil {
				t.Fatalf("%s: took it as %+v", tc.reason, inWords(got))
			}

			if never := slices.Contains([]string{"Huge", "LessThanNone", "AboveLimit", "AboveDefault"}, name); never != errors.Is(err, ErrNoPods) {
				t.Errorf("%s: there will be no pods: want %t, got %v", tc.reason, never, err)
			}

			for _, s := range tc.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", tc.reason, err, s)
				}
			}
		})
	}
}

func TestPlus(t *testing.T) {
	t.Parallel()

	a := Allowance{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *q("520m"), corev1.ResourceMemory: *q("1088Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: *q("3"), corev1.ResourceMemory: *q("4266Mi")},
		Storage:  *q("5Gi"), Pods: 2,
	}
	b := Allowance{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *q("100m"), corev1.ResourceMemory: *q("256Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: *q("2"), corev1.ResourceMemory: *q("2Gi")},
		Storage:  *q("1Gi"), Pods: 4,
	}
	first, second := inWords(a), inWords(b)

	got := a.Plus(b)
	if diff := cmp.Diff(allowanceWords{"620m/5", "1344Mi/6314Mi", "6Gi", 6}, inWords(got)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(inWords(got), inWords(b.Plus(a))); diff != "" {
		t.Errorf("the order makes a difference: %s", diff)
	}

	for name, zero := range map[string]Allowance{"Left": (Allowance{}).Plus(a), "Right": a.Plus(Allowance{})} {
		if diff := cmp.Diff(first, inWords(zero)); diff != "" {
			t.Errorf("%s: nothing more is no change: %s", name, diff)
		}

		zero.Limits[corev1.ResourceCPU] = *q("99")
	}

	got.Requests[corev1.ResourceCPU] = *q("99")

	if diff := cmp.Diff([]allowanceWords{first, second}, []allowanceWords{inWords(a), inWords(b)}); diff != "" {
		t.Errorf("what was added was changed: %s", diff)
	}
}
