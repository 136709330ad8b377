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
	for token := range int64(20) {
		i := dice.IntN(len(files))
		event := func() (int64, time.Duration) {
			step[i]++
			return step[i], pass() - behind[i]
		}
		op := lin.Op{Client: "worker", Kind: ops.Lock, Token: token + 5, Session: int64(i + 1),
			Outcome: lin.OpOK}
		op.Call, op.CallTime = event()
		log = append(log, Change{lin.ServerEvent{Kind: lin.NodeCreated, Path: fmt.Sprint("/l/", token),
			Zxid: token + 5, Czxid: token + 5, Session: int64(i + 1), Owner: int64(i + 1)},
			began.Add(pass()).Truncate(time.Millisecond)})
		op.Return, op.ReturnTime = event()
		unlock := lin.Op{Client: "worker", Kind: ops.Unlock, Session: int64(i + 1), Outcome: lin.OpOK}
		unlock.Call, unlock.CallTime = event()
		log = append(log, Change{lin.ServerEvent{Kind: lin.NodeDeleted, Path: fmt.Sprint("/l/", token),
			Zxid: token + 5, Czxid: token + 5, Session: int64(i + 1), Owner: int64(i + 1)},
			began.Add(pass()).Truncate(time.Millisecond)})
		unlock.Return, unlock.ReturnTime = event()
		h := &files[i].History
		h.Ops = append(h.Ops, op, unlock)
		h.End, h.EndTime = unlock.Return, unlock.ReturnTime
	}
	for i := range log {
		if log[i].Kind == lin.NodeDeleted {
			log[i].Zxid = int64(1000 + i)
		} else {
			log[i].Zxid = log[i].Czxid
		}
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
		for _, changes := range [][]Change{nil, log} {
			clocks, err := Align(files, changes)
			check.OK(t, err)
			for i, c := range clocks {
				if d := behind[i]; d < c.Least || d > c.Most || c.Likely < c.Least ||
					c.Likely > c.Most {
					t.Fatalf("seed %d, file %d is behind by %s: %+v", seed, i, d, c)
				}
			}
		}
		merged, err := Merge(files, []string{"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}[:len(files)], behind)
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
		[]time.Duration{0, 990 * time.Millisecond})
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

	_, err = Merge([]File{one, {}}, []string{"one", "two"}, make([]time.Duration, 2))
	check.Contains(t, fmt.Sprint(err), "two does not say when it began")
	one.History.Server = []lin.ServerEvent{}
	_, err = Merge([]File{one}, []string{"one"}, make([]time.Duration, 1))
	check.Contains(t, fmt.Sprint(err), "one has changes at the server")
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
