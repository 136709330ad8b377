package realzk

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// between is the network between the servers of an ensemble: a proxy for each port and each server
// that dials it. What a server sends and gets that is cut off is held until it is so no more.
type between struct {
	mu      sync.Mutex
	cut     map[int]bool  // servers, from 0
	changed chan struct{} // closed at the next change
	proxies []net.Listener
}

func newBetween() *between {
	return &between{cut: map[int]bool{}, changed: make(chan struct{})}
}

// proxy returns the port of a new proxy from a server to a port of another one.
func (b *between) proxy(from, to, port int) (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("a proxy between servers: %w", err)
	}
	b.mu.Lock()
	b.proxies = append(b.proxies, l)
	b.mu.Unlock()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.join(from, to, conn, port)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (b *between) join(from, to int, near net.Conn, port int) {
	defer near.Close()
	b.wait(from, to)
	far, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return
	}
	defer far.Close()
	ends := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			b.forward(from, to, way[0], way[1])
			ends <- struct{}{}
		}()
	}
	<-ends
}

func (b *between) forward(from, to int, r io.Reader, w io.Writer) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		b.wait(from, to)
		if n > 0 {
			_, _ = w.Write(buf[:n]) // a failure shows at the next read
		}
		if err != nil {
			return
		}
	}
}

// wait waits until neither server is cut off.
func (b *between) wait(from, to int) {
	for {
		b.mu.Lock()
		together, changed := !b.cut[from] && !b.cut[to], b.changed
		b.mu.Unlock()
		if together {
			return
		}
		<-changed
	}
}

// set cuts a server off, or ends that.
func (b *between) set(server int, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut[server] = cut
	close(b.changed)
	b.changed = make(chan struct{})
}

// close ends the proxies, if there are any.
func (b *between) close() {
	if b == nil {
		return
	}
	for _, l := range b.proxies {
		_ = l.Close() // nothing is lost
	}
}

// CutOff cuts a server of an ensemble that is Cuttable off from the others, or ends that. Its
// clients reach it all the time.
func (s *Server) CutOff(cut bool) error {
	if s.between == nil {
		return errors.New("cut ZooKeeper off: the ensemble is not Cuttable")
	}
	s.between.set(s.number, cut)
	return nil
}
