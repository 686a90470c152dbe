// Command dns is CoreDNS with only the plugins of the cluster's Corefile: all of them would bring in the
// clients of several clouds, and minutes of compiling. It answers for Services and pods, nothing else.
package main

import (
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	coremain.Run()
}
