// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// What a connection to a target comes to. One that is refused by a policy gets no
// answer, while one that nobody listens for is refused by the node at once.
const (
	connected = "connected"
	dropped   = "nc: timed out"
)

const (
	// metadataAddress is where clouds tell machines their secrets, publicAddress one
	// of the internet. On the test bed both are the node's, while a spec needs them.
	metadataAddress = "169.254.169.254"
	publicAddress   = "93.184.215.14"
	// gateway is the node's address on the bridge of its pods.
	gateway = "10.88.0.1"
	// hostDNS is the Service of the host cluster's DNS server.
	hostDNS = "10.96.0.10"
	webPage = "served\n"
)

// targets are hosts and ports, as nc takes them, by what they are.
type targets map[string]string

func hostOf(target string) string {
	host, _, _ := strings.Cut(target, " ")

	return host
}

// pod is one in which commands can be run: of a tenant, or of the host cluster if
// there is no kubeconfig.
type pod struct {
	kubeconfig, namespace, name string
}

// web is the pod that runWeb made.
func (c *cloudSpace) web() pod {
	return pod{kubeconfig: c.file, namespace: metav1.NamespaceDefault, name: "web"}
}

// run a command in the pod, and return what it prints.
func (p pod) run(ctx context.Context, command string) (string, error) {
	args := []string{"exec", "-n", p.namespace, p.name, "--", "sh", "-c", command}
	if p.kubeconfig != "" {
		args = append([]string{"--kubeconfig", p.kubeconfig}, args...)
	}

	return rig.Kubectl(ctx, args...)
}

// outcomes of connections from the pod to each target, all at once.
func outcomes(ctx context.Context, from pod, to targets) (map[string]string, error) {
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		failed error
		out    = map[string]string{}
	)

	for what, target := range to {
		wg.Go(func() {
			said, err := from.run(ctx, "nc -w 2 "+target+" </dev/null 2>&1 && echo "+connected+" || true")

			mu.Lock()
			defer mu.Unlock()

			lines := strings.Split(strings.TrimSpace(said), "\n")
			out[what+" at "+target] = lines[len(lines)-1]

			if err != nil {
				failed = err
			}
		})
	}

	wg.Wait()

	return out, failed
}

// webPod serves webPage at port 8080.
func webPod() *corev1.Pod {
	return shellPod("web", "echo "+strings.TrimSpace(webPage)+" > /tmp/index.html; exec httpd -f -p 8080 -h /tmp")
}

// runWeb runs a web server and its Service in the vCluster.
func runWeb(ctx context.Context, c *cloudSpace) {
	GinkgoHelper()
	eventuallyPod(ctx, c.in, webPod(), corev1.PodRunning)
	Expect(c.in.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"name": "web"},
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	})).To(Succeed())
}

// targetsIn are what a tenant has that listens: its pod, its Services, its API.
func targetsIn(ctx context.Context, c *cloudSpace) targets {
	GinkgoHelper()

	return targets{
		"the pod":                              podIP(ctx, c.in, metav1.NamespaceDefault, "web") + " 8080",
		"the Service":                          serviceIP(ctx, c.in, metav1.NamespaceDefault, "web") + " 80",
		"the DNS server":                       serviceIP(ctx, c.in, metav1.NamespaceSystem, "kube-dns") + " 53",
		"the API":                              serviceIP(ctx, cluster.Client, namespaceOf(c.t), releaseOf(c.t)) + " 443",
		"the control plane, without a Service": podIP(ctx, cluster.Client, namespaceOf(c.t), releaseOf(c.t)+"-0") + " 8443",
	}
}

// targetsOfHost are what listens on the host cluster and is no Tenant's business.
func targetsOfHost(ctx context.Context, neighbour pod) targets {
	GinkgoHelper()

	return targets{
		"the host API":                    serviceIP(ctx, cluster.Client, metav1.NamespaceDefault, "kubernetes") + " 443",
		"the host API, without a Service": rig.NodeAddress + " 6443",
		"the registry":                    rig.NodeAddress + " 5000",
		"the Git server":                  rig.NodeAddress + " 3000",
		"the kubelet":                     rig.NodeAddress + " 10250",
		"the node, on the pods' bridge":   gateway + " 80",
		"a pod of another namespace":      podIP(ctx, cluster.Client, neighbour.namespace, neighbour.name) + " 8080",
		"the metadata of a cloud":         metadataAddress + " 80",
	}
}

func podIP(ctx context.Context, c client.Client, namespace, name string) string {
	GinkgoHelper()

	p := &corev1.Pod{}
	Eventually(ctx, func(ctx context.Context) (string, error) {
		return p.Status.PodIP, c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, p)
	}).WithTimeout(phaseLimit).WithPolling(pollEvery).ShouldNot(BeEmpty())

	return p.Status.PodIP
}

func serviceIP(ctx context.Context, c client.Client, namespace, name string) string {
	GinkgoHelper()

	s := &corev1.Service{}
	Expect(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s)).To(Succeed())
	Expect(net.ParseIP(s.Spec.ClusterIP)).NotTo(BeNil(), s.Spec.ClusterIP)

	return s.Spec.ClusterIP
}

// addAddress gives the node an address while the spec runs.
func addAddress(ctx context.Context, address string) {
	GinkgoHelper()

	ip := func(ctx context.Context, verb string) {
		out, err := exec.CommandContext(ctx, "ip", "address", verb, address+"/32", "dev", "lo").CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
	}
	ip(ctx, "replace")
	DeferCleanup(func(ctx SpecContext) { ip(ctx, "del") }, NodeTimeout(cleanupLimit))
}

// listen at port 80 of an address of the node while the spec runs.
func listen(ctx context.Context, address string) {
	GinkgoHelper()

	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address+":80")
	Expect(err).NotTo(HaveOccurred())

	s := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	DeferCleanup(s.Close)
}
