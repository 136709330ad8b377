//go:build zksim_overlay

package fakezk

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// createNode is code under test, which knows the address of its ZooKeeper only.
func createNode(path string, dialer zk.Dialer) error {
	conn, _, err := zk.Connect([]string{"zk1.prod.example:2181", "zk2.prod.example:2181"},
		10*time.Second, zk.WithDialer(dialer), zk.WithLogInfo(false))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	return err
}

func host(t *testing.T) *Server {
	s := Start(t)
	s.Host(t, "zk1.prod.example:2181", "zk2.prod.example:2181")
	return s
}

// TestEachTestHasItsOwnHosts: parallel tests with one address, each with its own server.
func TestEachTestHasItsOwnHosts(t *testing.T) {
	for _, name := range []string{"/one", "/two"} {
		t.Run(name[1:], func(t *testing.T) {
			t.Parallel()
			s := host(t)
			var all sync.WaitGroup
			for _, below := range []string{"-a", "-b"} {
				all.Go(func() {
					if err := createNode(name+below, net.DialTimeout); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			check.Equal(t, len(s.Tree()), 3, "the root and two nodes")
		})
	}
}

func TestHostsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := host(t)
		check.OK(t, s.Inject(fault.Fault{Kind: fault.Delay, Op: "create", Request: 1,
			For: 2 * time.Second}))
		began := time.Now()
		check.OK(t, createNode("/late", net.DialTimeout))
		if waited := time.Since(began); waited < 2*time.Second {
			t.Errorf("it took %v", waited)
		}
	})
}

func TestHostsThroughTLS(t *testing.T) {
	s := host(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(RootCA())
	check.OK(t, createNode("/secure",
		func(network, address string, timeout time.Duration) (net.Conn, error) {
			names, err := net.LookupAddr("192.0.2.1")
			check.OK(t, err)
			check.Equal(t, strings.Join(names, ","), "zk1.prod.example.", "the names of an address")
			return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, address,
				&tls.Config{RootCAs: pool})
		}))
	s.CheckGet(t, "/secure", "")
}

func TestOtherDialsUseTheNetwork(t *testing.T) {
	host(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := createNode("/by-a-handler", net.DialTimeout); err != nil {
			t.Error(err)
		}
	}))
	defer web.Close()
	reply, err := http.Get(web.URL)
	check.OK(t, err)
	_, err = io.Copy(io.Discard, reply.Body)
	check.OK(t, err)
	check.OK(t, reply.Body.Close())
}

func TestHostsEndWithTheirTest(t *testing.T) {
	left := make(chan struct{})
	result := make(chan error)
	t.Run("test", func(t *testing.T) {
		host(t)
		go func() {
			<-left
			_, err := net.Dial("tcp", "zk1.prod.example:2181")
			result <- err
		}()
	})
	close(left)
	if err := <-result; err == nil {
		t.Error("a goroutine that a test has left behind can dial")
	}
}

func TestHostsHaveAPort(t *testing.T) {
	for _, address := range []string{"zk1.prod.example", ":2181", "zk1.prod.example:"} {
		said := (&testRecord{}).play(func(t TB) { Start(t).Host(t, address) })
		check.Contains(t, said, "expected host:port", address)
	}
}
