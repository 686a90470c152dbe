# shellcheck shell=bash
# etcd, kube-apiserver, kube-controller-manager and kube-scheduler: one of each, on the host. To be
# sourced after lib.sh and pki.sh.

# What is lost when the machine dies is a test cluster: no waiting for the disk.
start_etcd() {
  mkdir -p "$STATE/etcd"
  chmod 700 "$STATE/etcd"
  start_process etcd etcd --name cluster --data-dir "$STATE/etcd" --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-cluster "cluster=http://127.0.0.1:$ETCD_PEER_PORT" --logger zap --log-level warn
}

# It listens on the bridge's address only: nobody outside this machine reaches it. Mutating policies stand for the webhooks of others,
# and are not on by themselves in this version.
start_apiserver() {
  start_process kube-apiserver "$STATE/bin/kube-apiserver" \
    --etcd-servers "http://127.0.0.1:$ETCD_PORT" \
    --bind-address "$HOST_ADDRESS" --advertise-address "$HOST_ADDRESS" --secure-port "$API_PORT" \
    --tls-cert-file "$PKI/apiserver.crt" --tls-private-key-file "$PKI/apiserver.key" \
    --client-ca-file "$PKI/ca.crt" \
    --kubelet-certificate-authority "$PKI/ca.crt" \
    --kubelet-client-certificate "$PKI/apiserver-kubelet-client.crt" \
    --kubelet-client-key "$PKI/apiserver-kubelet-client.key" \
    --kubelet-preferred-address-types InternalIP \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --service-cluster-ip-range "$SERVICE_CIDR" --allow-privileged=true \
    --service-account-issuer https://kubernetes.default.svc.cluster.local \
    --service-account-key-file "$PKI/service-account.pub" \
    --service-account-signing-key-file "$PKI/service-account.key" \
    --feature-gates MutatingAdmissionPolicy=true --runtime-config admissionregistration.k8s.io/v1beta1=true \
    --profiling=false
}

api_is_ready() {
  kubectl_admin get --raw /readyz
}

start_controllers() {
  start_process kube-controller-manager "$STATE/bin/kube-controller-manager" \
    --kubeconfig "$PKI/kube-controller-manager.kubeconfig" --leader-elect=false --secure-port 0 \
    --use-service-account-credentials --service-account-private-key-file "$PKI/service-account.key" \
    --root-ca-file "$PKI/ca.crt" --cluster-signing-cert-file "$PKI/ca.crt" --cluster-signing-key-file "$PKI/ca.key"
  start_process kube-scheduler "$STATE/bin/kube-scheduler" \
    --kubeconfig "$PKI/kube-scheduler.kubeconfig" --leader-elect=false --secure-port 0
}

stop_control_plane() {
  local name
  for name in kube-scheduler kube-controller-manager kube-apiserver etcd; do stop_process "$name" 1 & done
  wait
}
