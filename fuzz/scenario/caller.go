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

// callerOf is the place outside of this package that has begun a call.
func callerOf() uintptr {
	var pcs [4]uintptr
	frames := pcs[:runtime.Callers(3, pcs[:])]
	for _, pc := range frames {
		f := runtime.FuncForPC(pc - 1)
		if f != nil && !strings.HasPrefix(f.Name(), "github.com/zksim/zksim/fuzz/scenario.") {
			return pc
		}
	}
	return 0
}
