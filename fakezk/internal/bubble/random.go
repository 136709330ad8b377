package bubble

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The go-zookeeper client and most recipes draw GUIDs from crypto/rand. A recipe that orders by
// name would behave differently in two runs of one seed if the GUIDs differed. So this package
// replaces crypto/rand.Reader when it is initialised. In a bubble of Run the new reader returns
// bytes of the bubble's seed, everywhere else those of the original reader.

func init() {
	rand.Reader = &bubbleReader{original: rand.Reader}
}

var (
	activeBubbles atomic.Int64
	sourcesMu     sync.Mutex
	sources       = map[int64]*source{}
	// byLabels finds the source of a goroutine by the profiler labels that it inherited:
	// much quicker than by its stack trace.
	byLabels = map[unsafe.Pointer]*source{}
)

// source holds the generators of one bubble.
type source struct {
	id     int64           // of the bubble
	labels context.Context // with the labels by which the source is found
	seed   uint64

	mu         sync.Mutex
	gen        *mathrand.ChaCha8
	goroutines map[int64]*goroutine          // by goroutine
	byLabels   map[unsafe.Pointer]*goroutine // by the labels that descendants inherit
	began      int64                         // number of calls of Register
}

// seedRandom gives the calling goroutine's bubble a source, and returns the function
// that removes it.
func seedRandom(seed uint64) (release func()) {
	id := bubbleID()
	s := &source{
		id: id, seed: seed, gen: generator(seed, "zksim crypto/rand stream"),
		goroutines: map[int64]*goroutine{}, byLabels: map[unsafe.Pointer]*goroutine{},
	}
	sourcesMu.Lock()
	sources[id] = s
	sourcesMu.Unlock()
	s.labels = pprof.WithLabels(
		context.Background(), pprof.Labels("bubble", strconv.FormatInt(id, 10)),
	)
	pprof.SetGoroutineLabels(s.labels)
	s.inherit()
	activeBubbles.Add(1)
	return func() {
		activeBubbles.Add(-1)
		s.mu.Lock()
		activeGoroutines.Add(-s.began)
		s.mu.Unlock()
		sourcesMu.Lock()
		defer sourcesMu.Unlock()
		delete(sources, id)
		maps.DeleteFunc(byLabels, func(_ unsafe.Pointer, of *source) bool { return of == s })
	}
}

// inherit lets the calling goroutine, and all that it starts from now on, be found by its labels.
func (s *source) inherit() {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	byLabels[labels()] = s
}

// generator returns a generator that depends on a seed and a name.
func generator(seed uint64, name string) *mathrand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	if len(name) > len(key)-8 {
		sum := sha256.Sum256([]byte(name))
		name = string(sum[:])
	}
	copy(key[8:], name)
	return mathrand.NewChaCha8(key)
}

type bubbleReader struct{ original io.Reader }

func (r *bubbleReader) Read(p []byte) (int, error) {
	if activeBubbles.Load() == 0 {
		return r.original.Read(p)
	}
	s := ownSource()
	if s == nil {
		return r.original.Read(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.current(); g != nil {
		return g.gen.Read(p)
	}
	return s.gen.Read(p)
}

// ownSource returns the source of the calling goroutine's bubble, nil outside of one.
func ownSource() *source {
	if s := labelled(); s != nil {
		return s
	}
	id := bubbleID() // the code under test has labels of its own
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	return sources[id]
}

// labelled is the source that the labels of the calling goroutine tell, nil if they tell none.
func labelled() *source {
	l := labels()
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	return byLabels[l]
}

// bubbleID returns the number of the calling goroutine's bubble, 0 outside of one. It is
// only available in the header of a stack trace:
//
//	goroutine 7 [running, synctest bubble 3]:
//
// A trace of the whole stack would take long, so a new goroutine of the bubble asks for its own.
// The caller waits for it, and others may run meanwhile.
func bubbleID() int64 {
	id := make(chan int64)
	go func() { id <- ownBubbleID() }()
	return <-id
}

func ownBubbleID() int64 {
	var buf [128]byte
	header := buf[:runtime.Stack(buf[:], false)]
	if i := bytes.IndexByte(header, '\n'); i >= 0 {
		header = header[:i]
	}
	_, rest, found := bytes.Cut(header, []byte("synctest bubble "))
	if !found {
		return 0
	}
	return leadingNumber(rest)
}

// leadingNumber returns the number at the start of a text, or 0.
func leadingNumber(text []byte) int64 {
	digits := text[:len(text)-len(bytes.TrimLeft(text, "0123456789"))]
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Name returns the name of the calling goroutine's bubble in stack traces, for instance
// "synctest bubble 3]". It is empty outside of a bubble.
func Name() string {
	id := int64(0)
	if s := labelled(); s != nil {
		id = s.id
	} else if id = bubbleID(); id == 0 {
		return ""
	}
	return "synctest bubble " + strconv.FormatInt(id, 10) + "]"
}
