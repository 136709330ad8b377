package record

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// processes plays a lock of several processes with one client each, whose clocks are behind by the
// given times. It returns their files and the creations in the server's log.
func processes(dice *rand.Rand, behind []time.Duration) (files []File, log []Change) {
	began := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for range behind {
		files = append(files, File{Began: began, Complete: true})
	}
	step := make([]int64, len(behind))
	now := time.Second
	pass := func() time.Duration {
		now += time.Duration(dice.IntN(int(3 * time.Millisecond)))
		return now
	}
	for n := range int64(20) {
		token := 2*n + 5
		i := dice.IntN(len(files))
		event := func() (int64, time.Duration) {
			step[i]++
			return step[i], pass() - behind[i]
		}
		op := lin.Op{Client: "worker", Kind: ops.Lock, Token: token, Session: int64(i + 1),
			Outcome: lin.OpOK}
		op.Call, op.CallTime = event()
		log = append(log, Change{lin.ServerEvent{Kind: lin.NodeCreated, Path: fmt.Sprint("/l/", token),
			Zxid: token, Czxid: token, Session: int64(i + 1), Owner: int64(i + 1)},
			began.Add(pass()).Truncate(time.Millisecond)})
		op.Return, op.ReturnTime = event()
		unlock := lin.Op{Client: "worker", Kind: ops.Unlock, Session: int64(i + 1), Outcome: lin.OpOK}
		unlock.Call, unlock.CallTime = event()
		log = append(log, Change{lin.ServerEvent{Kind: lin.NodeDeleted, Path: fmt.Sprint("/l/", token),
			Zxid: token + 1, Czxid: token, Session: int64(i + 1), Owner: int64(i + 1)},
			began.Add(pass()).Truncate(time.Millisecond)})
		unlock.Return, unlock.ReturnTime = event()
		h := &files[i].History
		h.Ops = append(h.Ops, op, unlock)
		h.End, h.EndTime = unlock.Return, unlock.ReturnTime
	}
	return files, log
}

// TestClocksOfProcessesAreAligned: the bounds hold the true difference, and with it the lock of all
// processes is right. By the server's log the bounds are those of the server's clock.
func TestClocksOfProcessesAreAligned(t *testing.T) {
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		behind := []time.Duration{0}
		for range 1 + dice.IntN(3) {
			d := time.Duration(dice.Int64N(int64(20 * time.Second)))
			behind = append(behind, d-10*time.Second)
		}
		files, log := processes(dice, behind)
		blind := slices.Clone(files) // only their sessions tell
		for i, f := range blind {
			blind[i].History.Ops = slices.Clone(f.History.Ops)
			for n := range f.History.Ops {
				blind[i].History.Ops[n].Token = 0
			}
		}
		for n, changes := range [][]Change{nil, log, log} {
			clocks, err := Align(slices.Clone([][]File{files, files, blind}[n]), changes)
			check.OK(t, err)
			for i, c := range clocks.Bounds {
				used := len(files[i].History.Ops) > 0
				if d := behind[i]; d < c.Least || d > c.Most || n > 0 && used && !c.Bounded() {
					t.Fatalf("seed %d, file %d is behind by %s: %+v", seed, i, d, c)
				}
			}
		}
		for i := range files {
			files[i].Began = files[i].Began.Add(behind[i])
		}
		merged, err := Merge(files, []string{"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}[:len(files)], nil)
		check.OK(t, err)
		check.Equal(t, lin.Judge(merged.History, nil, lock.Claims{}).Status(), lin.OK, "seed %d", seed)
		with, _, err := merged.WithServer(log)
		check.OK(t, err)
		check.Equal(t, lin.Judge(with.History, nil, lock.Claims{Path: "/l"}).Status(), lin.OK,
			"with the log, seed %d", seed)
	}
}

// TestMergedHistory: steps and times are those of all files. Equal names get those of the files.
func TestMergedHistory(t *testing.T) {
	one, two := twoGrants(t), twoGrants(t)
	two.Began = two.Began.Add(-time.Second)
	two.History.Ops[1].Client = "c"
	merged, err := Merge([]File{one, two}, []string{"x/one.jsonl", "two.log"},
		[]Clock{{}, {990 * time.Millisecond, 990 * time.Millisecond}})
	check.OK(t, err)
	check.Equal(t, merged.History.End, 12)
	check.Equal(t, merged.Complete, true)
	// The first event of two.log is 10.1 ms after its beginning, and that of one.jsonl 10 ms later.
	check.Equal(t, merged.Began, one.Began)
	var got []string
	for _, op := range merged.History.Ops {
		got = append(got, fmt.Sprint(op.Client, " ", op.Call, " ", op.Return, " ", op.CallTime))
	}
	check.List(t, got, []string{"two/a 1 2 100µs", "c 3 6 2.6ms", "two/a 4 5 2.7ms",
		"one/a 7 8 10.1ms", "b 9 12 12.6ms", "one/a 10 11 12.7ms"})
	check.Equal(t, merged.Line(3), "two.log:4")
	check.Equal(t, merged.Line(12), "x/one.jsonl:7")
	check.Equal(t, one.Line(3)+merged.Line(0)+merged.Line(99), "")
	with, _, err := merged.WithServer([]Change{at(merged, 9, created(7, 1))})
	check.OK(t, err)
	check.Equal(t, with.Line(with.History.End), "x/one.jsonl:7")

	_, err = Merge([]File{one, {}}, []string{"one", "two"}, nil)
	check.Contains(t, fmt.Sprint(err), "two does not say when it began")
	one.History.Server = []lin.ServerEvent{}
	_, err = Merge([]File{one}, []string{"one"}, nil)
	check.Contains(t, fmt.Sprint(err), "one has changes at the server")
}

// TestFilesOfOneClock differ by nothing, whatever else is known of them.
func TestFilesOfOneClock(t *testing.T) {
	files, _ := processes(rand.New(rand.NewPCG(1, 1)), make([]time.Duration, 3))
	files[0].Clock, files[2].Clock = "m", "m"
	clocks, err := Align(files, nil)
	check.OK(t, err)
	check.Equal(t, clocks.Bounds[2], Clock{})
	check.Equal(t, clocks.Bounds[1].Least < clocks.Bounds[1].Most, true)
}

// TestNoCallReturnsBeforeAnEarlierChange: the changes of two calls have an order, which the order
// of the events keeps.
func TestNoCallReturnsBeforeAnEarlierChange(t *testing.T) {
	var got []string
	for _, e := range byTransactions([]filedEvent{
		{at: 1, file: 0, zxid: 9}, {at: 2, file: 0, zxid: 9, returns: true}, {at: 3, file: 0},
		{at: 4, file: 1}, {at: 5, file: 1, zxid: 8}, {at: 6, file: 1, zxid: 8, returns: true},
	}, 2) {
		got = append(got, fmt.Sprint(e.file, " ", e.zxid, " ", int(e.at)))
	}
	check.List(t, got, []string{"0 9 1", "1 0 4", "1 8 5", "0 9 5", "0 0 5", "1 8 6"})
}

// TestTwoFilesOfOneRecording are an error, also if one was copied before the end.
func TestTwoFilesOfOneRecording(t *testing.T) {
	one, early := twoGrants(t), twoGrants(t)
	early.History.Ops = early.History.Ops[:1]
	_, err := Merge([]File{one, early}, []string{"one.jsonl", "d/copy.jsonl"}, nil)
	check.Contains(t, fmt.Sprint(err), "one.jsonl and d/copy.jsonl are of the same recording")
	early.History.Ops[0].Return, early.History.Ops[0].Token = -1, 0 // not over when it was copied
	_, err = Merge([]File{one, early}, []string{"one.jsonl", "d/copy.jsonl"}, nil)
	check.Contains(t, fmt.Sprint(err), "one.jsonl and d/copy.jsonl are of the same recording")
}

// TestTwoRecordingsThatBeginAlike are none of the same one: their tokens, or returns, differ.
func TestTwoRecordingsThatBeginAlike(t *testing.T) {
	for _, change := range []func(*lin.Op){
		func(op *lin.Op) { op.Token++ }, func(op *lin.Op) { op.Session++ },
		func(op *lin.Op) { op.ReturnTime++ }, func(op *lin.Op) { op.Input = "x" },
	} {
		one, two := twoGrants(t), twoGrants(t)
		change(&two.History.Ops[1])
		_, err := Merge([]File{one, two}, []string{"one", "two"}, nil)
		check.OK(t, err)
	}
}

// TestALockThatIsEnteredTwice has one znode, which the first of its grants creates and the last of
// its releases deletes.
func TestALockThatIsEnteredTwice(t *testing.T) {
	one, two := twoGrants(t), twoGrants(t)
	again := one.History.Ops[0]
	again.CallTime, again.ReturnTime = 5*time.Second, 6*time.Second
	inner, outer := one.History.Ops[2], one.History.Ops[2]
	inner.CallTime, inner.ReturnTime = 7*time.Second, 8*time.Second
	outer.CallTime, outer.ReturnTime = 9*time.Second, 10*time.Second
	one.History.Ops = []lin.Op{one.History.Ops[0], again, inner, outer}
	for i := range one.History.Ops {
		one.History.Ops[i].Call, one.History.Ops[i].Return = int64(2*i+2), int64(2*i+3)
	}
	one.History.End, one.History.EndTime = 10, 11*time.Second
	log := []Change{at(one, 11, created(7, 1)), at(one, 9500, deleted(9, 7, 1))}
	with, offset, err := one.WithServer(log)
	check.OK(t, err)
	check.Equal(t, offset, 0)
	check.List(t, []int64{with.History.Server[0].Step, with.History.Server[1].Step}, []int64{3, 10})
	two.History.Ops = two.History.Ops[1:2] // another process waits meanwhile
	two.History.Ops[0].ReturnTime = 20 * time.Second
	_, err = Align([]File{one, two}, append(log, at(one, 13, created(8, 2))))
	check.OK(t, err)
}

// TestNamesTellFilesApart: hosts may give their files the same name.
func TestNamesTellFilesApart(t *testing.T) {
	for _, c := range []struct{ files, want []string }{
		{[]string{"x/one.jsonl", "two.log"}, []string{"one", "two"}},
		{[]string{"host1/h.jsonl", "host2/h.jsonl", "g.jsonl"}, []string{"host1/h", "host2/h", "g"}},
		{[]string{"h.jsonl", "d/h.jsonl"}, []string{"h.jsonl", "d/h"}},
		{[]string{"/a/b/h", "/c/b/h"}, []string{"a/b/h", "c/b/h"}},
		{[]string{"h.jsonl", "h.log", "d/g.log"}, []string{"h.jsonl", "h.log", "g"}},
		{[]string{"h.jsonl", "h.log", "h.jsonl.gz"}, []string{"h.jsonl", "h.log", "h.jsonl.gz"}},
	} {
		check.List(t, distinct(c.files), c.want)
	}
}

// TestTokensThatAreNoCzxids have an order, and say nothing of the server's clock.
func TestTokensThatAreNoCzxids(t *testing.T) {
	for _, token := range []func(int64) int64{
		func(czxid int64) int64 { return 1000 * czxid },
		func(czxid int64) int64 { return (czxid - 3) / 2 }, // counts from 1, and some are czxids
	} {
		behind := []time.Duration{0, 0, 0}
		files, log := processes(rand.New(rand.NewPCG(1, 1)), behind)
		for _, f := range files {
			for i, op := range f.History.Ops {
				if op.Token != 0 {
					f.History.Ops[i].Token = token(op.Token)
				}
			}
		}
		for _, changes := range [][]Change{nil, log} {
			clocks, err := Align(slices.Clone(files), changes)
			check.OK(t, err)
			for _, c := range clocks.Bounds {
				check.Equal(t, c.Least <= 0 && c.Most >= 0, true, "%+v", c)
			}
		}
		merged, err := Merge(files, []string{"a", "b", "c"}, nil)
		check.OK(t, err)
		server, offset, err := merged.WithServer(log)
		check.OK(t, err)
		check.Equal(t, offset, 0)
		check.Equal(t, lin.Judge(server.History, nil, lock.Claims{Path: "/l"}).Status(), lin.OK)
	}
}

// TestTokensThatNoClockExplains are an error.
func TestTokensThatNoClockExplains(t *testing.T) {
	one := twoGrants(t)
	two := File{Began: one.Began, History: lin.History{Ops: slices.Clone(one.History.Ops[:2])}}
	two.History.Ops[0].Token, two.History.Ops[1].Token = 9, 6
	_, err := Align([]File{one, two}, nil)
	if err == nil || !strings.Contains(err.Error(), "explains the tokens of all files") {
		t.Errorf("error %v", err)
	}
}

// TestAnswersAboutTheLeaderAreNoGrants: an old token in a late answer says nothing of the clocks.
func TestAnswersAboutTheLeaderAreNoGrants(t *testing.T) {
	one, two := twoGrants(t), twoGrants(t)
	token := one.History.Ops[0].Token
	two.History.Ops = []lin.Op{{Client: "c", Kind: ops.Leader, Token: token, Outcome: lin.OpOK,
		Call: 1, CallTime: time.Hour, Return: 2, ReturnTime: 2 * time.Hour}}
	clocks, err := Align([]File{one, two}, nil)
	check.OK(t, err)
	check.Equal(t, clocks.Bounds[1].Bounded(), false)
}
