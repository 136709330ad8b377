package serve

import (
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A memory bounds the bytes of bodies that are read and of replies that wait for their readers,
// those of all requests together. When something large has gone, it gives memory back to the
// system, for which the runtime would take minutes.
type memory struct {
	held     atomic.Int64
	due      atomic.Bool // memory will be given back
	giveBack func()
}

func newMemory() *memory { return &memory{giveBack: debug.FreeOSMemory} }

// A share is what one body or one reply holds of a memory. A nil share is not counted.
type share struct {
	of    *memory
	bytes int64
	most  int64
}

func (m *memory) share() *share { return &share{of: m} }

// grow holds more bytes, unless others hold too many. One that is small is refused only in an
// emergency. What one alone may hold is not bounded: a large tree has a large reply.
func (s *share) grow(n int) error {
	if s == nil {
		return nil
	}
	s.bytes += int64(n)
	s.most = max(s.most, s.bytes)
	limit := int64(maxHeld)
	if s.bytes <= smallBytes {
		limit = 2 * maxHeld
	}
	if others := s.of.held.Add(int64(n)) - s.bytes; others > limit {
		return errFull
	}
	return nil
}

// shrink holds fewer bytes.
func (s *share) shrink(n int) {
	if s != nil {
		s.bytes -= int64(n)
		s.of.held.Add(-int64(n))
	}
}

// release ends the share. It may be called twice.
func (s *share) release() {
	if s == nil {
		return
	}
	s.shrink(int(s.bytes))
	if s.most > smallBytes {
		s.most = 0
		s.of.freed()
	}
}

// freed is called when something large has gone: memory goes back to the system soon, once for all
// that has gone until then. The collector of a large server takes a second for it.
func (m *memory) freed() {
	if m.due.CompareAndSwap(false, true) {
		time.AfterFunc(giveBackAfter, func() {
			m.due.Store(false)
			m.giveBack()
		})
	}
}

// A sharedReader counts what is read.
type sharedReader struct {
	io.Reader
	share *share
}

func (r sharedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if full := r.share.grow(n); full != nil {
		return n, full
	}
	return n, err
}
