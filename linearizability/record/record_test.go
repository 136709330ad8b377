package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

// recordAll records one of everything.
func recordAll(r *Recorder) {
	a := r.Call("a", ops.Lock, "\xff<&>")
	b := r.Call("b", ops.Lock, "")
	a.OK(lin.Result{Output: "\xfe", Empty: true, Token: 7, Session: -1})
	a.Failed(errors.New("too late: it has returned"))
	b.Unknown(lin.Result{}, errors.New("connection closed"))
	r.Notice("b", lin.LockLost, 8)
	r.Call("a", ops.Unlock, "").Failed(errors.New("not held"))
	r.Call("c", ops.Lock, "")
}

// recorded is what recordAll records.
func recorded(step int64) lin.History {
	at := func(n int64) int64 { return step + n }
	return lin.History{
		Ops: []lin.Op{
			{Client: "a", Kind: ops.Lock, Input: "\xff<&>", Call: at(1), Return: at(3),
				Outcome: lin.OpOK, Output: "\xfe", Empty: true, Token: 7, Session: -1},
			{Client: "b", Kind: ops.Lock, Call: at(2), Return: at(4), Outcome: lin.OpUnknown,
				Err: "connection closed"},
			{Client: "a", Kind: ops.Unlock, Call: at(6), Return: at(7), Outcome: lin.OpFailed,
				Err: "not held"},
			{Client: "c", Kind: ops.Lock, Call: at(8), Return: -1},
		},
		Notices: []lin.Notice{{Client: "b", Step: at(5), Kind: lin.LockLost, Token: 8}},
		End:     at(9),
	}
}

// In a bubble all events have the time 0.
func TestARecordingIsReadAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		r := New(&b)
		recordAll(r)
		check.OK(t, r.Close())
		check.OK(t, r.Close())
		r.Call("a", "after the end", "")
		file, err := Read(&b)
		check.OK(t, err)
		check.Diff(t, file.History, recorded(1))
		check.Equal(t, file.Complete, true)
		check.Equal(t, file.Began.Equal(time.Now()), true)
	})
}

func TestTimesAreThoseOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		r := New(&b)
		time.Sleep(time.Second)
		call := r.Call("a", ops.Lock, "")
		time.Sleep(2 * time.Second)
		call.OK(lin.Result{})
		check.OK(t, r.Close())
		file, err := Read(&b)
		check.OK(t, err)
		check.Equal(t, file.History.Ops[0].CallTime, time.Second)
		check.Equal(t, file.History.Ops[0].ReturnTime, 3*time.Second)
		check.Equal(t, file.History.EndTime, 3*time.Second)
	})
}

func TestALogIsReadAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&b, nil))
		logger.Info("the program begins", "zksim", "a word")
		r := NewLog(logger.Handler())
		synctest.Wait()
		logger.Info("something else", "client", "a")
		recordAll(r)
		check.OK(t, r.Close())
		logger.Info("the program ends")
		file, err := Read(&b)
		check.OK(t, err)
		check.Diff(t, file.History, recorded(3))
	})
}

func TestNothingIsRecordedWithoutARecorder(t *testing.T) {
	var r *Recorder
	recordAll(r)
	check.OK(t, r.Close())
}

func TestClientsRecordAtTheSameTime(t *testing.T) {
	const clients, rounds = 8, 200
	var b bytes.Buffer
	r := New(&b)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for range rounds {
				r.Call(fmt.Sprint(c), ops.Get, "").OK(lin.Result{Output: "0"})
			}
		})
	}
	all.Wait()
	check.OK(t, r.Close())
	file, err := Read(&b)
	check.OK(t, err)
	check.Equal(t, len(file.History.Ops), clients*rounds)
	check.Equal(t, lin.Judge(file.History, nil, value.Counter{}).Status(), lin.OK)
}

// full is a file on a disk that is full after some bytes.
type full struct{ left int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCloseTellsOfAnErrorOfTheFile(t *testing.T) {
	r := New(&full{left: 300})
	for range 10 {
		r.Call("a", ops.Get, "").OK(lin.Result{})
	}
	check.Is(t, r.Close(), errFull)
	check.Is(t, r.Close(), errFull)
}

func TestAnEventThatIsTooLongStopsTheRecording(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	r.Call("a", ops.Offer, strings.Repeat("x", maxLine))
	r.Call("a", ops.Offer, "y")
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "at most 1048575") {
		t.Errorf("got %v; expected an error that names the limit", err)
	}
	file, err := Read(&b)
	check.OK(t, err)
	check.Equal(t, len(file.History.Ops), 0)
	check.Equal(t, file.Complete, false)
}

// stuck is a file that takes nothing until it is freed.
type stuck struct {
	free chan struct{}
	to   io.Writer
}

func (s stuck) Write(p []byte) (int, error) {
	<-s.free
	return s.to.Write(p)
}

func TestAFileThatIsStuckStopsTheRecordingAndNoCaller(t *testing.T) {
	var b bytes.Buffer
	file := stuck{make(chan struct{}), &b}
	r := New(file)
	element := strings.Repeat("x", maxLine/2)
	calls := 0
	for ; calls < 100; calls++ {
		r.Call("a", ops.Offer, element)
	}
	close(file.free)
	check.Is(t, r.Close(), ErrBehind)
	read, err := Read(&b)
	check.OK(t, err)
	if n := len(read.History.Ops); n == 0 || n == calls {
		t.Errorf("%d of %d calls are in the file; expected the first ones", n, calls)
	}
}
