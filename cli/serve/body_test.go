package serve

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/zksim/zksim/internal/check"
)

func TestReadAll(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 300_000)
	for _, n := range []int{0, 1, 4096, 4097, 12_288, len(text)} {
		got, err := readAll(iotest.HalfReader(bytes.NewReader(text[:n])))
		check.OK(t, err)
		check.Equal(t, bytes.Equal(got, text[:n]), true, "%d bytes, got %d", n, len(got))
	}
	cut := io.MultiReader(bytes.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := readAll(cut); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %d bytes of a body that was cut off, error %v", len(got), err)
	}
}
