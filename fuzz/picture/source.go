package picture

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
)

// sources has the places in the code that the page names, and the lines of their files.
type sources struct {
	places []place
	lines  map[string][][]byte // by the name of the file
}

// at is the number of a place among those of the page, from 1; 0 if it is not known.
func (s *sources) at(f runtime.Frame) int {
	if f.Function == "" {
		return 0
	}
	dir, name := path.Split(f.Function)
	pkg, _, _ := strings.Cut(name, ".")
	if strings.HasSuffix(f.File, "_test.go") {
		pkg = strings.TrimSuffix(pkg, "_test") // it has no directory of its own
	}
	p := place{Where: fmt.Sprintf("%s%s/%s:%d", dir, pkg, path.Base(f.File), f.Line)}
	if _, read := s.lines[f.File]; !read {
		text, _ := os.ReadFile(f.File) // the program may have been built elsewhere
		s.lines[f.File] = bytes.Split(text, []byte{'\n'})
	}
	if lines := s.lines[f.File]; f.Line <= len(lines) {
		p.Source = strings.TrimSpace(string(lines[f.Line-1]))
	}
	i := slices.Index(s.places, p)
	if i < 0 {
		i, s.places = len(s.places), append(s.places, p)
	}
	return i + 1
}

// findSenders finds the place of the sender of each request. A request that goroutines at several
// places may have sent has none.
func (r reader) findSenders() {
	for _, s := range r.senders {
		at := scenario.PlaceOf(s.Stack)
		if before, known := r.placeOf[s.Message]; known && before != at {
			at = runtime.Frame{}
		}
		r.placeOf[s.Message] = at
	}
}

// firstOf is the place of the first request of a call: the first one that its goroutine has sent,
// else, of a client with one goroutine, that a goroutine of the code has.
func (r reader) firstOf(c call) (first runtime.Frame) {
	for _, s := range r.senders {
		m := r.sent[s.Message]
		switch {
		case m.Client != c.Client || m.From <= c.From || m.From > c.To:
		case s.Goroutine == c.Goroutine:
			return scenario.PlaceOf(s.Stack)
		case first.Function == "" && r.Scenario.Script.Goroutines <= 1:
			first = r.placeOf[s.Message]
		}
	}
	return first
}
