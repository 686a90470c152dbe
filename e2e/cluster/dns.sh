# shellcheck shell=bash
# The cluster's DNS: one server process on the host, behind the Service that pods are told to ask. It knows the
# names of Services and pods and refuses all others. To be sourced after lib.sh and pki.sh.

write_corefile() {
  cat >"$STATE/Corefile" <<END
cluster.local:$DNS_PORT in-addr.arpa:$DNS_PORT {
  bind $HOST_ADDRESS
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $PKI/dns.kubeconfig cephbench
  }
}
END
}

# The server may list what it answers for; its Service has no pods, so its endpoint is written by hand.
dns_objects() {
  cat <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cephbench-cluster-dns}
rules:
- {apiGroups: [""], resources: [services, namespaces, pods, endpoints], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: cephbench-cluster-dns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cephbench-cluster-dns}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: cephbench-cluster-dns}
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: $DNS_SERVICE_ADDRESS
  ports:
  - {name: dns, protocol: UDP, port: 53, targetPort: $DNS_PORT}
  - {name: dns-tcp, protocol: TCP, port: 53, targetPort: $DNS_PORT}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: kube-dns
  namespace: kube-system
  labels: {kubernetes.io/service-name: kube-dns, endpointslice.kubernetes.io/managed-by: cephbench-cluster}
addressType: IPv4
endpoints:
- {addresses: [$HOST_ADDRESS], conditions: {ready: true}}
ports:
- {name: dns, protocol: UDP, port: $DNS_PORT}
- {name: dns-tcp, protocol: TCP, port: $DNS_PORT}
END
}

start_dns() {
  if process_runs dns; then return; fi
  write_corefile
  dns_objects | kubectl_admin apply --server-side --field-manager cephbench-cluster -f - >>"$LOGS/kubectl.log"
  start_process dns "$STATE/bin/dns" -conf "$STATE/Corefile"
}
