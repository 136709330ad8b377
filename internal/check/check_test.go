package check

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// recorder is a TB that keeps the first report.
type recorder struct{ said string }

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }
func (r *recorder) Fatal(args ...any)                 { r.said = "fatal: " + fmt.Sprint(args...) }

func TestChecksReportWhatIsWrong(t *testing.T) {
	wrapped := fmt.Errorf("read: %w", io.EOF)
	for _, tt := range []struct {
		check func(t TB)
		want  string
	}{
		{func(t TB) { OK(t, nil) }, ""},
		{func(t TB) { OK(t, io.EOF) }, "fatal: EOF"},
		{func(t TB) { Is(t, wrapped, io.EOF) }, ""},
		{func(t TB) { Is(t, nil, io.EOF, "at %d", 7) }, "at 7: got the error <nil>; want EOF"},
		{func(t TB) { Equal(t, 1, 1) }, ""},
		{func(t TB) { Equal(t, 1, 2, "nodes") }, "nodes: got 1; want 2"},
		{func(t TB) { Equal(t, "a", "b") }, `got "a"; want "b"`},
		{func(t TB) { List(t, nil, []int{}) }, ""},
		{func(t TB) { List(t, []string{"a"}, nil) }, `got ["a"]; want []`},
		{func(t TB) { Contains(t, "abc", "b") }, ""},
		{func(t TB) { Contains(t, "abc", "d") }, `got "abc"; want "d" in it`},
		{func(t TB) { Diff(t, []int{1}, []int{1}) }, ""},
	} {
		var r recorder
		if tt.check(&r); r.said != tt.want {
			t.Errorf("got %q; want %q", r.said, tt.want)
		}
	}
	var r recorder
	if Diff(&r, errors.ErrUnsupported.Error(), "x", "of %s", "x"); r.said == "" {
		t.Error("two texts are taken for equal")
	}
}
