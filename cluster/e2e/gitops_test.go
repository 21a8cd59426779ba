// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gitServer is where the node takes pushes, and pods clone from.
const gitServer = "http://10.89.0.1:3000"

// itFollowsGit does what the README shows.
func itFollowsGit(c *cloudSpace) {
	It("keeps what a Git repository holds", func(ctx SpecContext) {
		example := filepath.Join(root, "examples", "gitops")
		work := filepath.Join(GinkgoT().TempDir(), "hello")
		hello := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "hello"}}
		greeting := func(ctx context.Context) (string, error) {
			err := c.in.Get(ctx, client.ObjectKeyFromObject(hello), hello)
			return hello.Data["greeting"], err
		}

		By("pushing the example")
		Expect(os.CopyFS(work, os.DirFS(filepath.Join(example, "app")))).To(Succeed())
		git(ctx, work, "init", "--quiet", "--initial-branch=main")
		push(ctx, work)

		By("applying its source in the tenant")
		c.kubectl(ctx, "apply", "-f", filepath.Join(example, "source.yaml"))
		Eventually(ctx, greeting).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(Equal("hello from Git"))

		By("pushing a change")
		file := filepath.Join(work, "configmap.yaml")
		Expect(os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\n"+
			"metadata: {name: hello, namespace: default}\ndata: {greeting: hello again}\n"), 0o600)).To(Succeed())
		push(ctx, work)
		Eventually(ctx, greeting).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(Equal("hello again"))

		By("removing the source")
		c.kubectl(ctx, "delete", "-f", filepath.Join(example, "source.yaml"))
		Eventually(ctx, func(ctx context.Context) error {
			_, err := greeting(ctx)
			return err
		}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(MatchError(kerrors.IsNotFound, "not found"))
	}, SpecTimeout(specLimit))
}

// push all that is in the folder.
func push(ctx context.Context, folder string) {
	GinkgoHelper()
	git(ctx, folder, "add", "--all")
	git(ctx, folder, "-c", "user.name=e2e", "-c", "user.email=e2e@example.org", "commit", "--quiet", "--message=Say hello")
	// On a test bed that is used again the repository has another history.
	git(ctx, folder, "push", "--quiet", "--force", gitServer+"/hello.git", "main")
}

func git(ctx context.Context, folder string, args ...string) {
	GinkgoHelper()

	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = folder

	out, err := c.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "git %q: %s", args, out)
}
