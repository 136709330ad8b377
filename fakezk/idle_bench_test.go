//go:build unix

package fakezk

import (
	"net"
	"runtime"
	"syscall"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// BenchmarkIdleConnection opens 10,000 TCP connections with a session each (fewer if the process
// may not have two descriptors for each) and reports the server's memory for one. The clients are
// bare sockets, which take no memory.
func BenchmarkIdleConnection(b *testing.B) {
	n := idleConnections(b)
	for b.Loop() {
		s := New(Options{MaxClientConns: -1})
		address, _ := listen(b, s)
		before := inUse()
		clients := make([]int, 0, n)
		for range n {
			clients = append(clients, bareSession(b, address))
		}
		b.ReportMetric(float64(inUse()-before)/float64(n), "B/conn")
		b.ReportMetric(float64(n), "conns")
		for _, fd := range clients {
			check.OK(b, syscall.Close(fd))
		}
		check.OK(b, s.Close())
	}
}

func idleConnections(b *testing.B) int {
	var limit syscall.Rlimit
	check.OK(b, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	return min(10_000, (int(limit.Cur)-200)/2)
}

// inUse is the memory of heap and stacks.
func inUse() int64 {
	runtime.GC() // shrinks stacks
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// bareSession returns a socket with a session that has sent one request.
func bareSession(b *testing.B, address string) (fd int) {
	at, err := net.ResolveTCPAddr("tcp", address)
	check.OK(b, err)
	fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	check.OK(b, err)
	to := &syscall.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}
	check.OK(b, syscall.Connect(fd, to))
	p := wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 40_000})
	p = wire.AppendRequest(p, 1, &proto.GetData{Path: "/"})
	if _, err := syscall.Write(fd, p); err != nil {
		b.Fatal(err)
	}
	want := 40 + 20 + 4 + 68 // two replies
	buf := make([]byte, want)
	for got := 0; got < want; {
		n, err := syscall.Read(fd, buf[got:])
		if err != nil || n == 0 {
			b.Fatalf("after %d bytes of %d: %d, %v", got, want, n, err)
		}
		got += n
	}
	return fd
}
