# shellcheck shell=bash
# The cluster's certificates and kubeconfigs, made anew for each cluster and of use for it alone. To be
# sourced after lib.sh.

PKI=$STATE/pki
API_URL=https://$HOST_ADDRESS:$API_PORT

make_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1"
}

make_authority() {
  make_key "$PKI/ca.key"
  openssl req -x509 -new -key "$PKI/ca.key" -sha256 -days 365 -subj "/CN=cephbench-cluster" -out "$PKI/ca.crt"
}

# issue NAME SUBJECT [ALTERNATIVE_NAMES]: a certificate that serves as a client's and a server's.
issue() {
  local name=$1 subject=$2 alternatives=${3:-}
  make_key "$PKI/$name.key"
  {
    echo "basicConstraints=CA:FALSE"
    echo "keyUsage=digitalSignature"
    echo "extendedKeyUsage=clientAuth,serverAuth"
    [[ -z $alternatives ]] || echo "subjectAltName=$alternatives"
  } >"$PKI/$name.ext"
  openssl req -new -key "$PKI/$name.key" -subj "$subject" -out "$PKI/$name.csr"
  openssl x509 -req -in "$PKI/$name.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -sha256 -days 365 \
    -extfile "$PKI/$name.ext" -out "$PKI/$name.crt" 2>>"$LOGS/pki.log"
  rm "$PKI/$name.csr" "$PKI/$name.ext"
}

# write_kubeconfig NAME FILE: for the certificate NAME; everything inside, so that the file can be copied.
write_kubeconfig() {
  cat >"$2" <<END
apiVersion: v1
kind: Config
clusters:
- name: cephbench
  cluster:
    server: $API_URL
    certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")
users:
- name: $1
  user:
    client-certificate-data: $(base64 -w0 "$PKI/$1.crt")
    client-key-data: $(base64 -w0 "$PKI/$1.key")
contexts:
- name: cephbench
  context: {cluster: cephbench, user: $1}
current-context: cephbench
END
  chmod 600 "$2"
}

issue_component() {
  issue "$1" "$2"
  write_kubeconfig "$1" "$PKI/$1.kubeconfig"
}

issue_node() {
  local node=$1
  issue "$node" "/O=system:nodes/CN=system:node:$node" "DNS:$node,IP:$(node_address "$node")"
  write_kubeconfig "$node" "$PKI/$node.kubeconfig"
}

make_pki() {
  [[ ! -e $PKI/complete ]] || return 0
  mkdir -p "$PKI"
  chmod 700 "$PKI"
  make_authority
  make_key "$PKI/service-account.key"
  openssl ec -in "$PKI/service-account.key" -pubout -out "$PKI/service-account.pub" 2>>"$LOGS/pki.log"
  local service=kubernetes.default.svc
  issue apiserver /CN=kube-apiserver \
    "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:$service,DNS:$service.cluster.local,IP:127.0.0.1,IP:$HOST_ADDRESS,IP:$API_SERVICE_ADDRESS"
  issue apiserver-kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  issue_component kube-controller-manager /CN=system:kube-controller-manager
  issue_component kube-scheduler /CN=system:kube-scheduler
  issue_component kube-proxy /CN=system:kube-proxy
  issue_component dns /CN=cephbench-cluster-dns
  issue_component admin /O=system:masters/CN=admin
  local node
  for node in "${NODES[@]}"; do issue_node "$node"; done
  cp "$PKI/admin.kubeconfig" "$ADMIN_KUBECONFIG"
  touch "$PKI/complete"
}
