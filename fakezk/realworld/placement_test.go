package realworld

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// asked is a request with the lengths of the trace when it was sent and when it was answered, with
// a zxid; 0 if it was not answered.
func asked(sent, received int, zxid int64) *request {
	return &request{Request: engine.Request{Zxid: zxid}, sent: sent, received: received}
}

func TestChangesLieWhereTheyCanHaveBeen(t *testing.T) {
	t.Parallel()
	const session = 7
	entry := func(zxid int64, xid int32, ms int64) proto.LogEntry {
		return proto.LogEntry{
			Session: session, Cxid: xid, Zxid: zxid, TimeMs: ms, Op: proto.OpDelete,
		}
	}
	tests := []struct {
		name    string
		answers []*request
		calls   map[int32]*request // by xid
		entries []proto.LogEntry
		want    []int
		wrong   string
	}{
		{name: "behind its own request", calls: map[int32]*request{1: asked(4, 0, 0)},
			entries: []proto.LogEntry{entry(10, 1, 0)}, want: []int{4}},
		{name: "behind a read that did not see it", answers: []*request{asked(6, 8, 9)},
			calls:   map[int32]*request{1: asked(2, 0, 0)},
			entries: []proto.LogEntry{entry(10, 1, 0)}, want: []int{6}},
		{name: "not behind a read that saw it", answers: []*request{asked(6, 8, 10)},
			calls:   map[int32]*request{1: asked(2, 0, 0)},
			entries: []proto.LogEntry{entry(10, 1, 0)}, want: []int{2}},
		{name: "not before the server's clock", calls: map[int32]*request{1: asked(2, 0, 0)},
			entries: []proto.LogEntry{entry(10, 1, 105)}, want: []int{5}},
		{name: "not before the one before",
			calls:   map[int32]*request{1: asked(7, 0, 0), 2: asked(3, 0, 0)},
			entries: []proto.LogEntry{entry(10, 1, 0), entry(11, 2, 0)}, want: []int{7, 7}},
		{name: "the end of a session goes by the clock",
			entries: []proto.LogEntry{
				{Session: session, Zxid: 10, TimeMs: 108, Op: proto.OpCloseSession},
			},
			want: []int{8}},
		{name: "a request that was answered lies before its answer",
			answers: []*request{asked(4, 6, 10)},
			entries: []proto.LogEntry{entry(10, 1, 109)},
			wrong:   "zxid 10 of the log cannot have been applied before line 9"},
		{name: "an earlier request was answered with a greater zxid",
			answers: []*request{asked(1, 3, 12)}, calls: map[int32]*request{1: asked(5, 0, 0)},
			entries: []proto.LogEntry{entry(10, 1, 0)}, wrong: "by line 3"},
	}
	for _, test := range tests {
		x, j := &exchanges{requests: test.answers, calls: map[call]*request{}}, &journal{}
		for ms := range int64(10) { // line n is as old as 100+n-1
			j.wallMs = append(j.wallMs, 100+ms)
		}
		for xid, q := range test.calls {
			x.calls[call{session, xid}] = q
		}
		got, err := x.places(test.entries, j)
		if !slices.Equal(got, test.want) || (err == nil) != (test.wrong == "") || err != nil &&
			!strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: got %v, %v; want %v, %q", test.name, got, err, test.want, test.wrong)
		}
	}
}

// TestChangesOfAnEnsembleLieBehindSyncs: a sync that was answered with a smaller zxid was sent
// before the change, while a read may come from a server that lags.
func TestChangesOfAnEnsembleLieBehindSyncs(t *testing.T) {
	t.Parallel()
	for op, want := range map[proto.OpCode]int{
		proto.OpSync: 6, proto.OpSetData: 6, proto.OpGetData: 0,
	} {
		q := asked(6, 8, 9)
		q.Header.Op = op
		x := &exchanges{ensemble: true, requests: []*request{q}}
		got, err := x.places([]proto.LogEntry{{Session: 7, Zxid: 10, Op: proto.OpDelete}},
			&journal{})
		check.OK(t, err)
		check.Equal(t, got[0], want, "%s", op)
	}
}

// TestASyncThatTheLeaderAnswersTooEarlyDoesNotCount: the leader has not applied a change that a
// follower has answered with.
func TestASyncThatTheLeaderAnswersTooEarlyDoesNotCount(t *testing.T) {
	t.Parallel()
	write, sync := asked(2, 4, 10), asked(6, 8, 9)
	write.Header.Op, sync.Header.Op = proto.OpDelete, proto.OpSync
	x := &exchanges{
		ensemble: true, requests: []*request{write, sync}, calls: map[call]*request{{7, 1}: write},
	}
	entry := proto.LogEntry{Session: 7, Cxid: 1, Zxid: 10, Op: proto.OpDelete}
	got, err := x.places([]proto.LogEntry{entry}, &journal{})
	check.OK(t, err)
	check.List(t, got, []int{4})
}

// TestAGuestsSessionMayEndEarly: the server had not heard of its last request. A log has the clock
// of the server.
func TestAGuestsSessionMayEndEarly(t *testing.T) {
	t.Parallel()
	j := &journal{wallMs: []int64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}}
	end := proto.LogEntry{Session: 7, Zxid: 10, TimeMs: 108, Op: proto.OpCloseSession}
	for _, ensemble := range []bool{false, true} {
		x := exchanges{ensemble: ensemble, guest: true, requests: []*request{asked(4, 6, 11)}}
		got, err := x.places([]proto.LogEntry{end}, j)
		check.OK(t, err)
		check.List(t, got, []int{6})
		x.guest = false
		_, err = x.places([]proto.LogEntry{end}, j)
		check.Contains(t, fmt.Sprint(err), "zxid 10 of the log cannot have been applied before line 8")
	}
}

func TestWatchesAreThoseAskedForAndNotFired(t *testing.T) {
	t.Parallel()
	at := func(path string, children bool) watch { return watch{path, children} }
	answered := func(body proto.Request, err proto.ErrCode) func(watchesBy) {
		return func(w watchesBy) {
			w.asked(&request{Request: engine.Request{Body: body, Err: err}})
		}
	}
	fires := func(kind proto.EventType, path string) func(watchesBy) {
		return func(w watchesBy) { w.fired(proto.WatcherEvent{Type: kind, Path: path}) }
	}
	get := answered(&proto.GetData{Path: "/a", Watch: true}, proto.OK)
	list := answered(&proto.GetChildren{Path: "/a", Watch: true}, proto.OK)
	for _, test := range []struct {
		name  string
		steps []func(watchesBy)
		want  []watch
	}{
		{
			"data and children", []func(watchesBy){get, list},
			[]watch{at("/a", false), at("/a", true)},
		},
		{
			"no watch asked for", []func(watchesBy){
				answered(&proto.GetData{Path: "/a"}, proto.OK),
			}, nil,
		},
		{"nothing to watch", []func(watchesBy){answered(&proto.GetData{Path: "/a", Watch: true},
			proto.NoNode)}, nil},
		{"absence is watched", []func(watchesBy){answered(&proto.Exists{Path: "/a", Watch: true},
			proto.NoNode)}, []watch{at("/a", false)}},
		{"a change of data uses up one",
			[]func(watchesBy){
				get, list, fires(proto.EventDataChanged, "/a"),
			}, []watch{at("/a", true)}},
		{"one of children the other",
			[]func(watchesBy){
				get, list, fires(proto.EventChildrenChanged, "/a"),
			}, []watch{at("/a", false)}},
		{"a deletion both", []func(watchesBy){get, list, fires(proto.EventDeleted, "/a")}, nil},
		{"set again", []func(watchesBy){func(w watchesBy) {
			w.setAgain(&request{Request: engine.Request{Body: &proto.SetWatches{
				DataWatches:  []string{"/a"},
				ExistWatches: []string{"/b"}, ChildWatches: []string{"/c"}}}})
		}, fires(proto.EventCreated, "/b")}, []watch{at("/a", false), at("/c", true)}},
	} {
		w := watchesBy{}
		for _, step := range test.steps {
			step(w)
		}
		for _, want := range test.want {
			if !w[want] {
				t.Errorf("%s: %v", test.name, w)
			}
		}
		check.Equal(t, len(w), len(test.want), "%s: %v", test.name, w)
	}
}
