package engine

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// The queue's earliest time equals that of a plain map after the same calls.
func TestExpiryQueueKnowsItsEarliestTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, plain := newExpiryQueue[int](), map[int]int64{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			k, at := rapid.IntRange(0, 5).Draw(t, "key"), rapid.Int64Range(0, 4).Draw(t, "at")
			if old, ok := plain[k]; ok {
				q.remove(k, old)
				delete(plain, k)
			}
			q.remove(k, at) // a missing key can be removed
			if rapid.Bool().Draw(t, "add") {
				q.add(k, at)
				plain[k] = at
			}
			first := int64(never)
			var due []int
			for _, at := range plain {
				first = min(first, at)
			}
			for k, at := range plain {
				if at == first && at <= 2 {
					due = append(due, k)
				}
			}
			slices.Sort(due)
			if q.first != first || !slices.Equal(q.due(2), due) {
				t.Fatalf("first %d due %v, want %d %v", q.first, q.due(2), first, due)
			}
		}
	})
}

func TestSessionsOfOneTickEndInOrderOfTheirIDs(t *testing.T) {
	b := newBench(t, nil)
	observer := b.connect(20 * time.Second)
	b.must(observer, &proto.AddWatch{Path: "/", Mode: proto.WatchPersistentRecursive})
	for i, timeout := range []time.Duration{3, 2, 4, 2} {
		id := b.connect(timeout*time.Second + 500*time.Millisecond)
		b.must(id, create("/"+string(rune('a'+i)), 1))
	}
	b.now = b.now.Add(900 * time.Millisecond)
	b.takeOutputs()
	b.wait(6 * time.Second)
	b.wantOutputs("1:NodeDeleted /b@3000 3:closed@3000 1:NodeDeleted /d@3000 5:closed@3000 " +
		"1:NodeDeleted /a@4000 2:closed@4000 1:NodeDeleted /c@5000 4:closed@5000")
}

// Every request restarts the expiry timer, even one that cannot be decoded; auth and sasl do not.
func TestRequestsThatRestartTheExpiryTimer(t *testing.T) {
	for _, test := range []struct {
		name string
		req  proto.Request
		want bool
	}{
		{"ping", ping, true},
		{"read that fails", &proto.GetData{Path: "/no"}, true},
		{"createSession", &proto.CreateSession{TimeoutMs: 2000}, true},
		{"auth", &proto.Auth{Scheme: "digest", Data: []byte("u:p")}, false},
		{"sasl", &proto.Sasl{Token: []byte{}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, nil)
			id := b.connect(2 * time.Second)
			for range 4 {
				b.wait(900 * time.Millisecond)
				if b.takeOutputs() != "" {
					break
				}
				b.ask(id, test.req)
			}
			check.Equal(t, len(b.e.Sessions()) == 1, test.want,
				"after 3.6 s of it a session with a timeout of 2 s lives")
		})
	}
	b := newBench(t, nil)
	id := b.connect(2 * time.Second)
	b.now = b.now.Add(1900 * time.Millisecond)
	b.take(b.e.Handle(id, []byte{0, 0, 0, 1, 0, 0, 0, 3}, b.now))
	check.Equal(t, b.e.NextDeadline().Sub(start), 4*time.Second,
		"after a request without a body the deadline is")
}

// A createSession moves the deadline until the next request, also into the past, which
// a real server never handles.
func TestCreateSessionMovesTheDeadline(t *testing.T) {
	marks.Expect(t, "timeout that has run out")
	for _, test := range []struct {
		timeoutMs int32
		want      time.Duration // of the deadline; 0 for none
	}{
		{1, 2 * time.Second}, {-1, time.Second}, {-999, time.Second},
		{-1000, 0}, {-100_000, 0}, {100_000, 101 * time.Second},
	} {
		b := newBench(t, nil)
		id := b.connect(2 * time.Second)
		b.now = b.now.Add(999 * time.Millisecond)
		zxid := b.e.Store().LastZxid()
		b.ask(id, &proto.CreateSession{TimeoutMs: test.timeoutMs})
		got := time.Duration(0)
		if next := b.e.NextDeadline(); !next.IsZero() {
			got = next.Sub(start)
		}
		if got != test.want || b.e.Store().LastZxid() != zxid+1 {
			t.Errorf("%d ms: the deadline is %s, want %s; zxid %d after %d",
				test.timeoutMs, got, test.want, b.e.Store().LastZxid(), zxid)
		}
		b.must(id, ping)
		check.Equal(t, b.e.NextDeadline().Sub(start), 3*time.Second,
			"%d ms: after a ping the deadline is", test.timeoutMs)
	}
}

func TestConnectionsWithoutAHandshakeAreClosedAfterTenToTwentySeconds(t *testing.T) {
	b := newBench(t, nil)
	b.e.Open(1, 0, "127.0.0.1", b.now)
	b.e.Open(2, 0, "127.0.0.1", b.now.Add(9999*time.Millisecond))
	b.e.Open(3, 0, "127.0.0.1", b.now.Add(10*time.Second))
	b.e.Drop(2)
	b.wait(time.Minute)
	b.wantOutputs("1:closed@20000 3:closed@30000")
	if at := b.e.NextDeadline(); !at.IsZero() {
		t.Errorf("there is a deadline at %s", at)
	}
}
