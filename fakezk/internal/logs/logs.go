// Package logs keeps the logs of code in a World off standard error: the lines of package log,
// those of log/slog by its default handler, which go through package log, and those of a
// go-zookeeper client with its default logger.
//
// It replaces the output of package log when the first World runs, and zk.DefaultLogger when it is
// initialised. Lines from anywhere but the bubble of a World go where they went before.
package logs

import (
	"fmt"
	"io"
	"log"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/bubble"
)

// Keep takes a line of a goroutine, without its end.
type Keep func(goroutine int64, line string)

var (
	taken   atomic.Int64 // the number of takers
	takerMu sync.Mutex
	takers  = map[string]Keep{} // by bubble

	// outputMu makes one change of the output of package log. Package log holds a mutex of its own
	// while it writes a line, and the line then needs takerMu: nothing that holds takerMu calls
	// package log.
	outputMu sync.Mutex
)

func init() { zk.DefaultLogger = client{zk.DefaultLogger} }

// Take gives keep the lines of the calling goroutine's bubble until release is called.
func Take(keep Keep) (release func()) {
	replaceOutput()
	name := bubble.Name()
	takerMu.Lock()
	defer takerMu.Unlock()
	takers[name] = keep
	taken.Add(1)
	return func() {
		takerMu.Lock()
		defer takerMu.Unlock()
		delete(takers, name)
		taken.Add(-1)
	}
}

// replaceOutput puts an output before the one of package log, unless there is one already.
func replaceOutput() {
	outputMu.Lock()
	defer outputMu.Unlock()
	next := log.Writer()
	if _, ours := next.(output); !ours {
		log.SetOutput(output{next})
	}
}

// taker is the taker of the calling goroutine's bubble, nil if there is none.
func taker() Keep {
	if taken.Load() == 0 {
		return nil
	}
	name := bubble.Name()
	takerMu.Lock()
	defer takerMu.Unlock()
	return takers[name]
}

// output is the output of package log. It is a value with another one behind it, so that a program
// may put outputs before it and behind it.
type output struct{ next io.Writer }

func (o output) Write(p []byte) (int, error) {
	keep := taker()
	if keep == nil || isFatal() {
		return o.next.Write(p)
	}
	keep(bubble.Goroutine(), strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// isFatal reports whether the line is the last one of the process, which log.Fatal writes.
func isFatal() bool {
	var callers [12]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "log.") && strings.Contains(frame.Function, "Fatal") {
			return true
		}
		if !more {
			return false
		}
	}
}

// client is the default logger of the go-zookeeper client.
type client struct{ next zk.Logger }

func (c client) Printf(format string, args ...any) {
	if keep := taker(); keep != nil {
		keep(bubble.Goroutine(), "zk: "+fmt.Sprintf(format, args...))
	} else {
		c.next.Printf(format, args...)
	}
}
