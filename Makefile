# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

all: build

# A clone that belongs to another user than root builds too.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

OUT := bin
GO := go
# The suites of cluster/e2e need the test bed. All else does not.
UNIT_PACKAGES := ./apis/... ./cmd/... ./internal/... ./cluster/bench/... ./cluster/demo/... ./cluster/internal/... ./cluster/testbed/...
ENVTEST_PACKAGES := ./apis/... ./internal/... ./cluster/demo/...
# Compilers and tests share few cores and little memory.
TEST_FLAGS ?= -p 2
E2E_CLUSTER ?= kubeopera-test
E2E_TIMEOUT ?= 40m
E2E_FLAGS ?=

.PHONY: all help build generate check-generated lint unit envtest e2e test demo demo-down bench-ready clean FORCE

help: ## Show this.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Build

build: $(OUT)/provider $(OUT)/testbed $(OUT)/demo ## Build the provider, the test bed and the demo into bin/.

$(OUT)/provider: FORCE
	$(GO) build -o $@ ./cmd/provider
$(OUT)/testbed: FORCE
	$(GO) build -o $@ ./cluster/testbed
$(OUT)/demo: FORCE
	$(GO) build -o $@ ./cluster/demo

# Tools have modules of their own, and are built again only when one changes.
$(OUT)/controller-gen: hack/tools/go.mod hack/tools/go.sum
	cd hack/tools && $(GO) build -o ../../$@ sigs.k8s.io/controller-tools/cmd/controller-gen
$(OUT)/angryjet: hack/tools/go.mod hack/tools/go.sum
	cd hack/tools && $(GO) build -o ../../$@ github.com/crossplane/crossplane-tools/cmd/angryjet
$(OUT)/golangci-lint: hack/lint/go.mod hack/lint/go.sum
	cd hack/lint && $(GO) build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

##@ Check

generate: $(OUT)/controller-gen $(OUT)/angryjet ## Generate code and CRDs from the types.
	$(OUT)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./apis/... crd output:crd:dir=package/crds
	$(OUT)/angryjet generate-methodsets --header-file=hack/boilerplate.go.txt ./apis/...

check-generated: ## Fail if generated code or CRDs are not up to date.
	hack/check-generated.sh apis package/crds

lint: $(OUT)/golangci-lint ## Run the linters and check the licence headers.
	hack/check-headers.sh
	$(GO) vet -tags envtest,e2e ./...
	$(OUT)/golangci-lint run ./...

unit: ## Run the unit tests.
	$(GO) test $(TEST_FLAGS) $(UNIT_PACKAGES)

envtest: $(OUT)/testbed-programs ## Run the tests that need an API server, and no node.
	KUBEBUILDER_ASSETS=$(CURDIR)/$< $(GO) test -tags envtest -p 1 $(ENVTEST_PACKAGES)

# The suites and the benchmark have a cluster of their own, new each time. It
# stays up after a failure, to be looked into.
e2e bench-ready: TESTBED = $(OUT)/testbed --name $(E2E_CLUSTER)
e2e: build ## Run the suites of cluster/e2e on the test bed.
	$(GO) test -c -tags e2e -o $(OUT)/e2e.test ./cluster/e2e
	$(TESTBED) down
	$(TESTBED) up
	$(TESTBED) exec -- $(OUT)/e2e.test -test.timeout $(E2E_TIMEOUT) -ginkgo.timeout $(E2E_TIMEOUT) -ginkgo.v $(E2E_FLAGS)
	$(TESTBED) down

test: ## Run everything: lint, generated code, unit, envtest, e2e.
	hack/test.sh

##@ Try

# Only a KUBECONFIG that is given to make counts: one that the shell happens to
# have must not send the demo to somebody's cluster.
demo: build ## Make a CloudSpace and show how. KUBECONFIG=FILE uses an existing cluster.
ifeq ($(origin KUBECONFIG),command line)
	KUBECONFIG='$(abspath $(KUBECONFIG))' $(OUT)/demo
else
	$(OUT)/testbed up
	$(OUT)/testbed exec -- $(CURDIR)/$(OUT)/demo --testbed
endif

demo-down: $(OUT)/testbed $(OUT)/demo ## Stop the provider of the demo, and take the test bed down.
	$(OUT)/demo --stop
	$(OUT)/testbed down

bench-ready: build ## Compare the time to Ready with that of a bare helm install.
	$(GO) build -o $(OUT)/bench ./cluster/bench
	$(TESTBED) down
	$(TESTBED) up
	$(TESTBED) exec -- $(OUT)/bench
	$(TESTBED) down

clean: ## Remove what was built here. The test bed's cache stays.
	rm -rf $(OUT)

# A folder with links to programs of the test bed, as envtest wants it.
$(OUT)/testbed-programs: $(OUT)/testbed FORCE
	$(OUT)/testbed build --links $@ kube-apiserver etcd kubectl

FORCE:
