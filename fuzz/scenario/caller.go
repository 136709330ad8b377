package scenario

import (
	"runtime"
	"strings"
)

// noted is a line of a trace about a call, see trace.Called.
type noted struct {
	text   string
	caller uintptr // of the call; 0: it is not known
}

func (n noted) String() string { return n.text }

func (n noted) Caller() uintptr { return n.caller }

// callerOf is the place outside of this package that has begun a call; 0 for the script of a kind
// of object, which is no code of the user.
func callerOf() uintptr {
	var pcs [4]uintptr
	frames := pcs[:runtime.Callers(3, pcs[:])]
	for _, pc := range frames {
		f := runtime.FuncForPC(pc - 1)
		switch {
		case f == nil || strings.HasPrefix(f.Name(), "github.com/zksim/zksim/fuzz/scenario."):
		case strings.HasPrefix(f.Name(), "github.com/zksim/zksim/fuzz/object."):
			return 0
		default:
			return pc
		}
	}
	return 0
}
