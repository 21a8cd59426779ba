# SPDX-FileCopyrightText: 2026 The KubeOpera Authors
# SPDX-License-Identifier: Apache-2.0

all: build

# A clone that belongs to another user than root builds too.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

OUT := bin
GO := go
# Compilers and tests share few cores and little memory.
TEST_FLAGS ?= -p 2
E2E_CLUSTER ?= kubeopera-test
E2E_TIMEOUT ?= 40m
SOAK_TIME ?= 1h
FUZZTIME ?= 10m
# All packages have one version. REGISTRY is where push sends them.
VERSION ?= v0.1.0
REGISTRY ?= ghcr.io/kubeopera
TESTBED_PUSH := $(OUT)/packages push --input $(OUT)/xpkg --registry 10.89.0.1:5000/kubeopera --overwrite
# The suite upgrades to this version, which is the same but for its name.
UPGRADE := v0.1.1
UPGRADE_ARCH = $(shell $(GO) env GOARCH)

.PHONY: all help build packages push generate check-generated lint unit envtest crash fuzz e2e e2e-crossplane soak test demo demo-crossplane demo-down bench bench-ready clean FORCE

help: ## Show this.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Build

build: $(OUT)/provider $(OUT)/testbed $(OUT)/demo ## Build the provider, the test bed and the demo into bin/.

# As it is in the packages.
$(OUT)/provider: export CGO_ENABLED := 0
$(addprefix $(OUT)/,provider testbed demo packages soak): FORCE
	$(GO) build -o $@ $(wildcard $(addsuffix /$(@F),./cmd ./cluster ./hack))

packages: $(OUT)/packages ## Check and build the Crossplane packages of VERSION into bin/xpkg.
	$< build --version $(VERSION) --output $(OUT)/xpkg

push: packages ## Push them to REGISTRY. PUSH_FLAGS=--overwrite moves tags.
	$(OUT)/packages push --version $(VERSION) --input $(OUT)/xpkg --registry $(REGISTRY) $(PUSH_FLAGS)

# Tools have modules of their own, and are built again only when one changes.
$(OUT)/controller-gen $(OUT)/angryjet &: hack/tools/go.mod hack/tools/go.sum
	cd hack/tools && $(GO) build -o ../../$(OUT)/ tool
$(OUT)/golangci-lint: hack/lint/go.mod hack/lint/go.sum
	cd hack/lint && $(GO) build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

##@ Check

generate: $(OUT)/controller-gen $(OUT)/angryjet ## Generate code and CRDs from the types, and the tables of docs/reliability.md.
	$(OUT)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./apis/... crd output:crd:dir=package/crds
	hack/bound-quantities.sh package/crds
	$(OUT)/angryjet generate-methodsets --header-file=hack/boilerplate.go.txt ./apis/...
	$(GO) run ./hack/faults

check-generated: ## Fail if generated code, CRDs or tables are not up to date.
	hack/check-generated.sh apis package/crds docs

lint: $(OUT)/golangci-lint ## Run the linters and check the licence headers.
	hack/check-headers.sh
	$(GO) vet -tags envtest,e2e ./...
	$(OUT)/golangci-lint run ./...

unit: ## Run the unit tests. The others have build tags.
	$(GO) test $(TEST_FLAGS) ./...

envtest: $(OUT)/testbed-programs ## Run the tests that need an API server, and no node.
	tests=$$($(GO) run ./hack/envtests) && KUBEBUILDER_ASSETS=$(CURDIR)/$< $(GO) test -timeout 20m -p 1 $$tests

crash: $(OUT)/testbed-programs ## Kill the provider at every call, reads too, and fail each read in every way. It takes long.
	$(GO) test ./internal/controller/tenant -run TestR4Each -v -args -every-way
	KUBEBUILDER_ASSETS=$(CURDIR)/$< $(GO) test -tags envtest -timeout 3h ./cluster/crash -v -args -every-call

fuzz: ## Run each fuzz target for FUZZTIME, 10m by default, and print what each did.
	hack/fuzz.sh $(FUZZTIME)

# The suites and the benchmark have a cluster of their own, new each time. It
# stays up after a failure, to be looked into.
e2e e2e-crossplane bench-ready soak: TESTBED = $(OUT)/testbed --name $(E2E_CLUSTER)
FRESH = $(TESTBED) down && $(TESTBED) up
e2e e2e-crossplane: RUN = $(TESTBED) exec -- $(OUT)/$@.test -test.timeout $(E2E_TIMEOUT) -ginkgo.timeout $(E2E_TIMEOUT) -ginkgo.v $(E2E_FLAGS)
e2e: build ## Run the suite of Tenants on the test bed.
	$(GO) test -c -tags e2e -o $(OUT)/$@.test ./cluster/e2e
	$(FRESH)
	$(RUN)
	$(TESTBED) down

e2e-crossplane: build packages ## Run the suite of CloudSpaces and claims there, with Crossplane.
	$(GO) test -c -tags e2e -o $(OUT)/$@.test ./cluster/e2e/crossplane
	$(FRESH)
	$(TESTBED) crossplane
	$(TESTBED) exec -- $(TESTBED_PUSH) --version $(VERSION)
	$(OUT)/packages build --version $(UPGRADE) --output $(OUT)/xpkg --arch $(UPGRADE_ARCH)
	$(TESTBED) exec -- $(TESTBED_PUSH) --version $(UPGRADE) --arch $(UPGRADE_ARCH)
	UPGRADE=$(UPGRADE) $(RUN)
	$(TESTBED) down

test: ## Run everything: lint, generated code, unit, envtest, both suites.
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

demo-crossplane: build packages ## Show packages, a CloudSpace and a claim on the test bed, with Crossplane.
	$(OUT)/testbed up
	$(OUT)/testbed crossplane
	$(OUT)/testbed exec -- $(TESTBED_PUSH) --version $(VERSION)
	$(OUT)/testbed exec -- $(OUT)/demo --crossplane

demo-down: $(OUT)/testbed $(OUT)/demo ## Stop the provider of the demo, and take the test bed down.
	$(OUT)/demo --stop
	$(OUT)/testbed down

bench-ready: build ## Compare the time to Ready with that of a bare helm install.
	$(GO) build -o $(OUT)/$@ ./cluster/bench/ready
	$(TESTBED) down
	$(TESTBED) up
	$(TESTBED) exec -- $(OUT)/$@
	$(TESTBED) down

bench: build $(OUT)/bench-programs ## Measure what many Tenants cost. BENCH_FLAGS='--steps=1,10' measures fewer.
	$(GO) build -o $(OUT)/$@ ./cluster/bench/scale
	$(OUT)/$@ $(BENCH_FLAGS)

soak: build $(OUT)/soak ## Make, change, break and delete Tenants under faults for SOAK_TIME. SOAK_FLAGS=--seed=N repeats a run.
	$(FRESH)
	$(TESTBED) exec -- $(OUT)/soak --time $(SOAK_TIME) $(SOAK_FLAGS)
	$(TESTBED) down

clean: ## Remove what was built here. The test bed's cache stays.
	rm -rf $(OUT)

# Folders with links to programs of the test bed, as envtest wants them.
$(OUT)/testbed-programs: $(OUT)/testbed FORCE
	$(OUT)/testbed build --links $@ kube-apiserver etcd kubectl
$(OUT)/bench-programs: $(OUT)/testbed FORCE
	$(OUT)/testbed build --links $@ kube-apiserver etcd kubectl kube-controller-manager kwok

FORCE:
