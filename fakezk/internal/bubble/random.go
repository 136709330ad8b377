package bubble

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"io"
	mathrand "math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// The go-zookeeper client and most recipes draw GUIDs from crypto/rand. Names
// that differ between two runs of one seed would make a recipe that orders by
// name behave differently in each, so crypto/rand.Reader is replaced, once,
// when this package is initialised, by a reader that asks which bubble its
// caller runs in: inside a bubble started by Run the bytes come from the
// bubble's seed, everywhere else from the original reader, unchanged.

func init() {
	rand.Reader = &bubbleReader{original: rand.Reader}
}

var (
	activeBubbles atomic.Int64
	sourcesMu     sync.Mutex
	sources       = map[int64]*source{}
)

type source struct {
	mu  sync.Mutex
	gen *mathrand.ChaCha8
}

// seedRandom gives the calling goroutine's bubble a source of its own and
// returns the function that takes it away.
func seedRandom(seed uint64) (release func()) {
	id := bubbleID()
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], "zksim crypto/rand stream")
	sourcesMu.Lock()
	sources[id] = &source{gen: mathrand.NewChaCha8(key)}
	sourcesMu.Unlock()
	activeBubbles.Add(1)
	return func() {
		activeBubbles.Add(-1)
		sourcesMu.Lock()
		delete(sources, id)
		sourcesMu.Unlock()
	}
}

type bubbleReader struct{ original io.Reader }

func (r *bubbleReader) Read(p []byte) (int, error) {
	if activeBubbles.Load() == 0 {
		return r.original.Read(p)
	}
	sourcesMu.Lock()
	s := sources[bubbleID()]
	sourcesMu.Unlock()
	if s == nil {
		return r.original.Read(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gen.Read(p)
}

// bubbleID is the number of the calling goroutine's bubble, 0 outside of one.
// The runtime tells it only in the header of a stack trace:
//
//	goroutine 7 [running, synctest bubble 3]:
func bubbleID() int64 {
	var buf [128]byte
	header := buf[:runtime.Stack(buf[:], false)]
	if i := bytes.IndexByte(header, '\n'); i >= 0 {
		header = header[:i]
	}
	_, rest, found := bytes.Cut(header, []byte("synctest bubble "))
	if !found {
		return 0
	}
	digits := rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789"))]
	id, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// Name is how stack traces name the calling goroutine's bubble, for instance
// "synctest bubble 3]". It is empty outside of one.
func Name() string {
	if id := bubbleID(); id != 0 {
		return "synctest bubble " + strconv.FormatInt(id, 10) + "]"
	}
	return ""
}
