package picture

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"
)

// sources are the lines of the files that calls were found in, by the names of the files.
type sources map[string][][]byte

// of is the place of a call and, if its file is there, the line: "lock.go:52" of a package, and the
// code. Both are "" if the place is not known.
func (s sources) of(pc uintptr) (where, line string) {
	if pc == 0 {
		return "", ""
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if frame.Function == "" {
		return "", ""
	}
	dir, name := path.Split(frame.Function)
	pkg, _, _ := strings.Cut(name, ".")
	where = fmt.Sprintf("%s%s/%s:%d", dir, pkg, path.Base(frame.File), frame.Line)
	if _, read := s[frame.File]; !read {
		text, _ := os.ReadFile(frame.File) // the program may have been built elsewhere
		s[frame.File] = bytes.Split(text, []byte{'\n'})
	}
	if lines := s[frame.File]; frame.Line <= len(lines) {
		line = strings.TrimSpace(string(lines[frame.Line-1]))
	}
	return where, line
}
