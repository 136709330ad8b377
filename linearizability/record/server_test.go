package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
)

// twoGrants has a grant of session 1, its unlock, and one of session 2. Times are milliseconds and
// fractions.
func twoGrants(t *testing.T) File {
	t.Helper()
	var b strings.Builder
	b.WriteString(begin)
	for _, l := range []string{
		`"call","at":10100000,"call":1,"client":"a","op":"lock"`,                   // step 2
		`"return","at":12500000,"call":1,"outcome":"ok","token":7,"session":"0x1"`, // 3
		`"call","at":12600000,"call":2,"client":"b","op":"lock"`,                   // 4
		`"call","at":12700000,"call":3,"client":"a","op":"unlock"`,                 // 5
		`"return","at":12800000,"call":3,"outcome":"ok"`,                           // 6
		`"return","at":14000000,"call":2,"outcome":"ok","token":8,"session":"0x2"`, // 7
		`"end","at":20000000`, // 8
	} {
		fmt.Fprintf(&b, "{\"event\":%s}\n", l)
	}
	file, err := Read(strings.NewReader(b.String()))
	check.OK(t, err)
	return file
}

// at is a change at some milliseconds of the server's clock after the beginning.
func at(file File, ms int, e lin.ServerEvent) Change {
	return Change{e, file.Began.Add(time.Duration(ms) * time.Millisecond)}
}

func created(zxid, session int64) lin.ServerEvent {
	return lin.ServerEvent{Kind: lin.NodeCreated, Path: fmt.Sprintf("/l/n-%d", zxid), Zxid: zxid,
		Czxid: zxid, Session: session, Owner: session}
}

func deleted(zxid, czxid, session int64) lin.ServerEvent {
	return lin.ServerEvent{Kind: lin.NodeDeleted, Path: fmt.Sprintf("/l/n-%d", czxid), Zxid: zxid,
		Czxid: czxid, Session: session, Owner: session}
}

// TestADeleteLiesWithinARemoval, although the next call of its client began in its millisecond.
func TestADeleteLiesWithinARemoval(t *testing.T) {
	file := twoGrants(t)
	again := lin.Op{Client: "a", Kind: "lock", Session: 1, Call: 8, Return: 9, Outcome: lin.OpOK,
		CallTime: 12900 * time.Microsecond, ReturnTime: 14 * time.Millisecond}
	file.History.Ops = append(file.History.Ops, again)
	file.History.End, file.History.EndTime = 9, 14*time.Millisecond
	with, _, err := file.WithServer([]Change{
		at(file, 11, created(7, 1)), at(file, 12, deleted(9, 7, 1)), at(file, 13, created(10, 1)),
	})
	check.OK(t, err)
	var unlock lin.Op
	for _, op := range with.History.Ops {
		if op.Kind == "unlock" {
			unlock = op
		}
	}
	gone := with.History.Server[1].Step
	check.Equal(t, unlock.Call < gone && gone < unlock.Return, true, "%d to %d: %d", unlock.Call,
		unlock.Return, gone)
}

// TestChangesLieWithinTheCallsThatMadeThem, although a millisecond of the server's clock has all of
// the steps 3 to 6.
func TestChangesLieWithinTheCallsThatMadeThem(t *testing.T) {
	file := twoGrants(t)
	with, offset, err := file.WithServer([]Change{
		at(file, 1, created(2, 9)), // by an unknown session
		at(file, 11, created(7, 1)), at(file, 12, created(8, 2)), at(file, 12, deleted(9, 7, 1)),
		at(file, 30, lin.ServerEvent{Kind: lin.SessionEnded, Zxid: 10, Owner: 2}),
	})
	check.OK(t, err)
	check.Equal(t, offset, 0)
	var got []string
	for _, e := range with.History.Server {
		got = append(got, fmt.Sprintf("%d %d %s", e.Step, e.Zxid, e.Client))
	}
	// a's lock is at 3, its return at 5, b's call at 6, a's unlock at 8 to 10
	check.List(t, got, []string{"2 2 ", "4 7 a", "7 8 b", "9 9 a", "13 10 b"})
	check.Equal(t, with.History.Ops[0].Return, 5)
	check.Equal(t, with.History.Ops[2].Call, 8)
	check.Equal(t, with.History.End, 13)
	check.Equal(t, with.Line(5), "line 3")
	check.Equal(t, with.Line(7), "") // a change at the server
	check.Equal(t, lin.Judge(with.History, nil, lock.Claims{Path: "/l"}).Status(), lin.OK)
	check.Equal(t, file.History.Ops[0].Return, 3) // unchanged
}

// TestTokensShowSessions: a client that releases its lock is no thief, although no call has its
// session.
func TestTokensShowSessions(t *testing.T) {
	file := twoGrants(t)
	for i := range file.History.Ops {
		file.History.Ops[i].Session = 0
	}
	with, _, err := file.WithServer([]Change{
		at(file, 11, created(7, 1)), at(file, 12, created(8, 2)), at(file, 12, deleted(9, 7, 1)),
	})
	check.OK(t, err)
	check.Equal(t, with.History.Ops[0].Session, 1)
	check.Equal(t, file.History.Ops[0].Session, 0)
	check.Equal(t, lin.Judge(with.History, nil, lock.Claims{Path: "/l"}).Status(), lin.OK)
}

func TestClocksThatDifferAreFound(t *testing.T) {
	file := twoGrants(t)
	var ahead []Change
	for _, c := range []Change{
		at(file, 11, created(7, 1)), at(file, 12, created(8, 2)), at(file, 12, deleted(9, 7, 1)),
	} {
		c.Clock = c.Clock.Add(time.Hour)
		ahead = append(ahead, c)
	}
	with, offset, err := file.WithServer(ahead)
	check.OK(t, err)
	check.Equal(t, offset.Round(time.Minute), -time.Hour)
	check.Equal(t, lin.Judge(with.History, nil, lock.Claims{Path: "/l"}).Status(), lin.OK)
}

func TestAThiefIsFoundInTheLog(t *testing.T) {
	file := twoGrants(t)
	with, _, err := file.WithServer([]Change{
		at(file, 11, created(7, 1)), at(file, 12, created(8, 2)), at(file, 13, deleted(9, 8, 1)),
	})
	check.OK(t, err)
	v, _ := lin.Judge(with.History, nil, lock.Claims{Path: "/l"}).Verdict(lin.Safety)
	check.Equal(t, v.Status, lin.Violated)
}

func TestALogOfAnotherRunIsRefused(t *testing.T) {
	file := twoGrants(t)
	_, _, err := file.WithServer([]Change{
		at(file, 11, created(7, 1)), at(file, 5000, created(8, 2)),
	})
	if err == nil {
		t.Fatal("got no error")
	}
	check.Contains(t, err.Error(), "at least -2ms are to be added to the server's clock at one time, and at "+
		"most -4.986s at another: the log belongs to another run")
	with, _, err := file.WithServer(nil)
	check.OK(t, err)
	_, _, err = with.WithServer(nil)
	check.Equal(t, err.Error(), "the history has the server's side already")
}

// TestAReadMakesNoChange, although it lies in the millisecond of the change behind it.
func TestAReadMakesNoChange(t *testing.T) {
	file := twoGrants(t)
	call := func(kind string, step int64, micros time.Duration) lin.Op {
		return lin.Op{Client: "a", Kind: kind, Session: 1, Call: step, Return: step + 1,
			Outcome: lin.OpOK, CallTime: (12100 + micros) * time.Microsecond,
			ReturnTime: (12200 + micros) * time.Microsecond}
	}
	file.History = lin.History{Ops: []lin.Op{call("get", 1, 0), call("add", 3, 200)},
		End: 5, EndTime: 13 * time.Millisecond}
	with, _, err := file.WithServer([]Change{at(file, 12, lin.ServerEvent{
		Kind: lin.DataChanged, Path: "/c", Zxid: 9, Czxid: 2, Session: 1})})
	check.OK(t, err)
	add, changed := with.History.Ops[1], with.History.Server[0].Step
	check.Equal(t, add.Call < changed && changed < add.Return, true, "%d to %d: %d", add.Call,
		add.Return, changed)
}
