package wire

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// However a stream is cut, the frames are the same.
func TestFramesDoNotDependOnHowTheyArrive(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var want [][]byte
		var stream []byte
		for range rnd.IntN(10) {
			frame := bytes.Repeat([]byte{byte(len(want))}, rnd.IntN(1<<rnd.IntN(12)))
			want = append(want, frame)
			stream = append(stream, withLength(frame)...)
		}
		splitter := Splitter{Max: 1 << 12}
		var got [][]byte
		for len(stream) > 0 {
			n := 1 + rnd.IntN(min(len(stream), 1<<rnd.IntN(13)))
			piece := bytes.Clone(stream[:n])
			check.OK(t, splitter.Feed(piece, func(f []byte) {
				got = append(got, bytes.Clone(f))
			}))
			clear(piece) // the splitter must not keep it
			stream = stream[n:]
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestFrameLengthsOutOfBounds(t *testing.T) {
	for _, length := range []int32{-1, -1 << 31, 101, 1<<31 - 1} {
		whole := Splitter{Max: 100}
		header := binary.BigEndian.AppendUint32(nil, uint32(length))
		if err := whole.Feed(header, func([]byte) { t.Error("a frame") }); err == nil {
			t.Errorf("length %d is fine?", length)
		}
		piecemeal := Splitter{Max: 100}
		for i, b := range header {
			if err := piecemeal.Feed([]byte{b}, func([]byte) {
				t.Error("a frame")
			}); (err != nil) != (i == 3) {
				t.Errorf("length %d, byte %d: %v", length, i, err)
			}
		}
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Four bytes must not reserve a megabyte, an idle connection must not keep one,
// and a large frame in small pieces must not cost more than its size by a factor.
func TestMemoryOfAFrameGrowsAsItsBytesCome(t *testing.T) {
	frame := withLength(make([]byte, DefaultMaxFrame))
	splitter := Splitter{Max: DefaultMaxFrame}
	feed := func(p []byte) {
		check.OK(t, splitter.Feed(p, func([]byte) {}))
	}
	feed(frame[:4])
	if got := cap(splitter.buf); got > 64 {
		t.Errorf("a length reserves %d bytes", got)
	}
	cost := allocated(func() {
		for p := range slices.Chunk(frame[4:], 7) {
			feed(p)
		}
	})
	if cost > 10*uint64(len(frame)) {
		t.Errorf("a frame of %d bytes in pieces took %d", len(frame), cost)
	}
	feed(nil)
	if got := cap(splitter.buf); got > keptBytes {
		t.Errorf("%d bytes are kept", got)
	}
}

// withLength is a frame with its length before it.
func withLength(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}
