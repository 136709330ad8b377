package memnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
)

var _ net.Conn = (*Conn)(nil)

// far is the far side: it keeps the written bytes and counts calls of onClose.
type far struct {
	mu      sync.Mutex
	written []byte
	closes  int
}

func newPair() (*Conn, *far) {
	f := &far{}
	return New(
		func(p []byte) { f.mu.Lock(); defer f.mu.Unlock(); f.written = append(f.written, p...) },
		func() { f.mu.Lock(); defer f.mu.Unlock(); f.closes++ },
	), f
}

// readAsync reads once in a new goroutine.
func readAsync(c *Conn) <-chan error {
	result := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 10))
		result <- err
	}()
	return result
}

func must(t *testing.T, err error) {
	t.Helper()
	check.OK(t, err)
}

func TestReadReturnsBytesInPiecesOfAnySize(t *testing.T) {
	c, _ := newPair()
	c.Deliver([]byte("abc"))
	c.Deliver([]byte("defg"))
	c.Fail(io.EOF)
	var got []byte
	for p := make([]byte, 2); ; {
		n, err := c.Read(p)
		got = append(got, p[:n]...)
		if err != nil {
			check.Equal(t, err, io.EOF)
			break
		}
	}
	check.Equal(t, string(got), "abcdefg", "read")
}

func TestErrorComesAfterTheBufferedBytesAndStays(t *testing.T) {
	for _, far := range []error{io.EOF, syscall.ECONNRESET} {
		c, _ := newPair()
		c.Deliver([]byte("x"))
		c.Fail(far)
		c.Fail(errors.New("a later error is ignored"))
		c.Deliver([]byte("later bytes are ignored"))
		if n, err := c.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
		for range 2 {
			if n, err := c.Read(make([]byte, 10)); n != 0 || err != far {
				t.Errorf("read %d, %v; want %v", n, err, far)
			}
		}
	}
}

func TestWriteAfterTheEnd(t *testing.T) {
	tests := []struct {
		end  func(*Conn)
		want error
	}{
		{func(c *Conn) { c.Fail(io.EOF) }, io.ErrClosedPipe},
		{func(c *Conn) { c.Fail(syscall.ECONNRESET) }, syscall.ECONNRESET},
		{func(c *Conn) { must(t, c.Close()) }, net.ErrClosed},
	}
	for _, test := range tests {
		c, f := newPair()
		if n, err := c.Write([]byte("in time")); n != 7 || err != nil {
			t.Errorf("write %d, %v", n, err)
		}
		test.end(c)
		if n, err := c.Write([]byte("too late")); n != 0 || !errors.Is(err, test.want) {
			t.Errorf("write %d, %v; want %v", n, err, test.want)
		}
		check.Equal(t, string(f.written), "in time", "the far side")
	}
}

func TestCloseCallsBackOnceAndDiscardsBytes(t *testing.T) {
	c, f := newPair()
	c.Deliver([]byte("never read"))
	must(t, c.Close())
	must(t, c.Close())
	check.Equal(t, f.closes, 1, "calls of onClose")
	if n, err := c.Read(make([]byte, 10)); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("read %d, %v", n, err)
	}
}

func TestBlockedReaderWakes(t *testing.T) {
	tests := []struct {
		name string
		wake func(*Conn)
		want error
	}{
		{"by bytes", func(c *Conn) { c.Deliver([]byte("x")) }, nil},
		{"by the end", func(c *Conn) { c.Fail(io.EOF) }, io.EOF},
		{"by a reset", func(c *Conn) { c.Fail(syscall.ECONNRESET) }, syscall.ECONNRESET},
		{"by Close", func(c *Conn) { must(t, c.Close()) }, net.ErrClosed},
		{
			"by a deadline set meanwhile",
			func(c *Conn) { must(t, c.SetReadDeadline(time.Now())) }, os.ErrDeadlineExceeded,
		},
		{
			"by both deadlines set meanwhile",
			func(c *Conn) { must(t, c.SetDeadline(time.Now())) }, os.ErrDeadlineExceeded,
		},
	}
	for _, test := range tests {
		for _, before := range []time.Duration{0, time.Hour} { // the deadline when Read begins
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, _ := newPair()
					if before > 0 {
						must(t, c.SetReadDeadline(time.Now().Add(before)))
					}
					result := readAsync(c)
					synctest.Wait()
					if len(result) > 0 {
						t.Fatalf("read returned early: %v", <-result)
					}
					test.wake(c)
					check.Is(t, <-result, test.want, "read")
				})
			})
		}
	}
}

func TestReadDeadlinePassesInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newPair()
		began := time.Now()
		must(t, c.SetReadDeadline(began.Add(time.Minute)))
		_, err := c.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%v is not a timeout", err)
		}
		c.Deliver([]byte("x"))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("bytes are read after the deadline: %v", err)
		}
		must(t, c.SetReadDeadline(time.Time{}))
		if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("without a deadline: %d, %v", n, err)
		}
	})
}

func TestDeadlineMovedWhileReading(t *testing.T) {
	for _, to := range []time.Duration{10 * time.Second, 3 * time.Minute} { // nearer, farther
		synctest.Test(t, func(t *testing.T) {
			c, _ := newPair()
			began := time.Now()
			must(t, c.SetReadDeadline(began.Add(time.Minute)))
			result := readAsync(c)
			synctest.Wait()
			must(t, c.SetReadDeadline(began.Add(to)))
			if err := <-result; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != to {
				t.Errorf("%v after %s, want it after %s", err, time.Since(began), to)
			}
		})
	}
}

// TestRenewMovesTheDeadlineOfABlockedReader by as much as the reader had set it ahead, counted from
// when the bytes should have come.
func TestRenewMovesTheDeadlineOfABlockedReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newPair()
		check.Equal(t, c.Renew(20, 0), false, "without a reader")
		must(t, c.SetDeadline(time.Now().Add(4*time.Second)))
		began, result := time.Now(), readAsync(c)
		time.Sleep(3 * time.Second)
		check.Equal(t, c.Renew(20, 0), true, "with a reader")
		time.Sleep(3 * time.Second)
		check.Equal(t, c.Renew(20, time.Second), true, "with bytes that come late")
		check.Equal(t, c.ReadDeadline().Sub(began), 9*time.Second, "the deadline")
		check.Equal(t, <-result, os.ErrDeadlineExceeded)
		check.Equal(t, time.Since(began), 9*time.Second, "time of the read")
		check.Equal(t, c.BytesRead(), 40, "bytes read")
		must(t, c.SetReadDeadline(time.Time{}))
		result = readAsync(c)
		synctest.Wait()
		check.Equal(t, c.Renew(20, 0), false, "without a deadline")
		c.Deliver([]byte("x"))
		check.Equal(t, <-result, nil)
	})
}

func TestWriteDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newPair()
		must(t, c.SetWriteDeadline(time.Now().Add(time.Second)))
		if _, err := c.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %v", err)
		}
		must(t, c.SetWriteDeadline(time.Time{}))
		if _, err := c.Write([]byte("x")); err != nil {
			t.Error(err)
		}
	})
}

// Concurrent readers share the bytes and all wake up, with deadlines or without.
func TestConcurrentReaders(t *testing.T) {
	for _, deadline := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newPair()
			if deadline > 0 {
				must(t, c.SetReadDeadline(time.Now().Add(deadline)))
			}
			const readers = 5
			got := make(chan byte, readers)
			for range readers {
				go func() {
					var p [1]byte
					if _, err := c.Read(p[:]); err == nil {
						got <- p[0]
					}
				}()
			}
			synctest.Wait()
			c.Deliver([]byte("ab"))
			synctest.Wait()
			c.Deliver([]byte("cde"))
			synctest.Wait()
			close(got)
			var all []byte
			for b := range got {
				all = append(all, b)
			}
			if slices.Sort(all); string(all) != "abcde" {
				t.Errorf("the readers got %q", all)
			}
		})
	}
}

func TestTheEndWakesEveryReader(t *testing.T) {
	ends := map[string]func(*Conn){
		"Close":    func(c *Conn) { must(t, c.Close()) },
		"Fail":     func(c *Conn) { c.Fail(io.EOF) },
		"deadline": func(c *Conn) { must(t, c.SetReadDeadline(time.Now())) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := newPair()
				a, b := readAsync(c), readAsync(c)
				synctest.Wait()
				end(c)
				synctest.Wait()
				if len(a) != 1 || len(b) != 1 {
					t.Errorf("of the two readers %d and %d returned", len(a), len(b))
				}
				must(t, c.Close())
			})
		})
	}
}

// The server answers within Write, so Write must not hold the mutex.
func TestDeliverAndFailFromWithinWrite(t *testing.T) {
	var c *Conn
	c = New(func(p []byte) {
		c.Deliver(bytes.ToUpper(p))
		c.Fail(io.EOF)
	}, func() { c.Fail(io.EOF) })
	if _, err := c.Write([]byte("echo")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); string(got) != "ECHO" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	must(t, c.Close())
}

func TestEmptyReadReturnsAtOnce(t *testing.T) {
	c, _ := newPair()
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
}

func TestAddresses(t *testing.T) {
	c, _ := newPair()
	local, remote := c.LocalAddr(), c.RemoteAddr()
	got := []string{local.Network(), local.String(), remote.String()}
	check.List(t, got, []string{"memory", "client", "fakezk"}, "addresses")
}
