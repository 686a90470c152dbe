# What a contributor runs, one target each; `make help` lists them. The work is in the scripts named here.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
CRD := cephbenchmarks.cephbench.io.yaml

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Install what is needed, bring up the local cluster, run a benchmark in it, print the results (root)
	@e2e/demo.sh

.PHONY: test
test: ## All tests: unit and black-box, the bench against a real Ceph, the stories in the local cluster
	@e2e/test.sh

.PHONY: soak
soak: ## All tests with the stories told five times, and the speed against the peers
	@ROUNDS=5 e2e/test.sh
	@e2e/bench.sh

.PHONY: check
check: ## What to run before a commit: format, lints, docs, unit tests, generated files, scripts, chart, licences
	@e2e/check.sh

.PHONY: bench
bench: ## Speed against the peers, as ratios in one run
	@e2e/bench.sh

.PHONY: generate
generate: ## Write the generated files anew: the CRD and the chart's copy of it
	cargo run --quiet --bin cephbench-operator -- crd > target/$(CRD)
	cp target/$(CRD) crds/$(CRD)
	cp target/$(CRD) charts/cephbench/files/$(CRD)

.PHONY: image
image: ## Build the operator's and the bench's images as OCI archives below target/images
	@images/build.sh

.PHONY: cluster
cluster: ## Bring up a local Kubernetes with a Ceph in it (root; the first time takes about 15 minutes)
	@e2e/cluster/up.sh
	@if ! (. e2e/cluster/lib.sh && local_cluster_wanted); then exit 0; fi; \
	if [[ -x e2e/cluster/ceph-up.sh ]]; then e2e/cluster/ceph-up.sh; fi; \
	. e2e/cluster/lib.sh; \
	printf '\nUse it with:\n  export KUBECONFIG=%s PATH=%s:$$PATH\nEnd it with:\n  make cluster-down\n' "$$ADMIN_KUBECONFIG" "$$STATE/bin"

.PHONY: cluster-down
cluster-down: ## End the local cluster and remove all that it left
	@e2e/cluster/down.sh
