# What a contributor runs, one target each; `make help` lists them. The work is in the scripts named here.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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
