package fakezk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// The guarantees of ZooKeeper, as a model that judges what clients of an ensemble have recorded:
//
//   - Writes are linearizable: they have one order, that of their zxids, which agrees with time.
//   - A client's requests take effect in the order in which it sends them.
//   - A client never goes back: each read shows a state that is no older than what it has seen.
//   - After a write of its own a client sees every write that was answered before it was sent.
//   - A client gets the event of a watch before it sees a state with the change.
//
// A read may show an old state otherwise. After a sync it shows all that the leader had which has
// answered the sync. That is every write answered before, unless that leader was deposed and does
// not know. So the reads that are older than that are counted: there are none as long as no leader
// stands still or is cut off.
//
// The nodes exist all the time, and each datum is written once, so a datum names its write.

// recordedOp is one request of a client. Moments count the beginnings and ends of the requests of
// all clients.
type recordedOp struct {
	kind         string // "set", "get", "watch" (a get with a watch) or "sync"
	node         string
	data         string // written or read
	began, ended int64  // ended is 0 without a reply
	zxid         int64  // of the reply
	mzxid        int64  // of the datum that was read
	conn         int    // the number of the client's connection
	events       []string
}

// answered reports whether the request was answered.
func (o *recordedOp) answered() bool { return o.ended != 0 }

// written is a write of a node. Its end is 0 without a reply.
type written struct {
	zxid, ended int64
	data        string
}

// oldReads counts the reads that showed an old state.
type oldReads struct {
	all       int
	afterSync int // those that lack a write which was answered before a sync of the client
}

// judgeGuarantees counts the reads that showed an old state, or returns the first breach.
func judgeGuarantees(clients [][]recordedOp) (old oldReads, err error) {
	nodes, err := writesOf(clients)
	if err != nil {
		return old, err
	}
	if err := linearizableWrites(clients); err != nil {
		return old, err
	}
	for i, ops := range clients {
		j := clientJudge{nodes: nodes, clients: clients, watches: map[string]int64{}}
		for k := range ops {
			if err := j.see(&ops[k]); err != nil {
				return old, fmt.Errorf("client %d, request %d (%+v): %w", i, k, ops[k], err)
			}
		}
		old.all += j.old.all
		old.afterSync += j.old.afterSync
	}
	return old, nil
}

// writesOf lists the writes by node. The zxid of one without a reply is known if it was read.
func writesOf(clients [][]recordedOp) (map[string][]written, error) {
	type key struct{ node, data string }
	known := map[key]written{}
	for _, ops := range clients {
		for _, o := range ops {
			k, w := key{o.node, o.data}, written{zxid: o.mzxid, data: o.data}
			switch {
			case !o.answered() || o.kind == "sync":
				continue
			case o.kind == "set":
				w.zxid, w.ended = o.zxid, o.ended
			}
			before, found := known[k]
			if found && before.zxid != w.zxid {
				return nil, fmt.Errorf("%s = %q has the zxids %#x and %#x", o.node, o.data,
					before.zxid, w.zxid)
			}
			if w.ended = max(w.ended, before.ended); w.zxid != 0 {
				known[k] = w
			}
		}
	}
	nodes := map[string][]written{}
	for k, w := range known {
		nodes[k.node] = append(nodes[k.node], w)
	}
	for node, list := range nodes {
		slices.SortFunc(list, func(a, b written) int { return cmp.Compare(a.zxid, b.zxid) })
		for i := 1; i < len(list); i++ {
			if list[i].zxid == list[i-1].zxid {
				return nil, fmt.Errorf("%s: %q and %q have the zxid %#x", node, list[i-1].data,
					list[i].data, list[i].zxid)
			}
		}
	}
	return nodes, nil
}

// linearizableWrites compares the order of the zxids with time.
func linearizableWrites(clients [][]recordedOp) error {
	var sets []recordedOp
	for _, ops := range clients {
		for _, o := range ops {
			if o.kind == "set" && o.answered() {
				sets = append(sets, o)
			}
		}
	}
	slices.SortFunc(sets, func(a, b recordedOp) int { return cmp.Compare(a.zxid, b.zxid) })
	latest := recordedOp{} // the one that began last, of those with lower zxids
	for _, o := range sets {
		if o.ended < latest.began {
			return fmt.Errorf("%q was answered before %q was sent, but its zxid %#x is not below "+
				"%#x",
				o.data, latest.data, o.zxid, latest.zxid)
		}
		if o.began > latest.began {
			latest = o
		}
	}
	return nil
}

// clientJudge follows one client.
type clientJudge struct {
	nodes   map[string][]written
	clients [][]recordedOp

	seen    int64 // the client has seen a state with this zxid, or a later one
	synced  int64 // the highest zxid of the writes that were answered before a sync
	replied int64 // the zxid of its last reply
	conn    int
	watches map[string]int64 // by node: the zxid of the datum that it had
	old     oldReads
}

func (j *clientJudge) see(o *recordedOp) error {
	if o.conn != j.conn { // the server does not know its watches
		j.conn = o.conn
		clear(j.watches)
	}
	for _, node := range o.events {
		delete(j.watches, node)
	}
	if !o.answered() {
		return nil
	}
	if o.zxid < j.replied {
		return fmt.Errorf("the zxid of the reply is below %#x, that of the last one", j.replied)
	}
	j.replied = o.zxid
	if err := j.advance(o); err != nil {
		return err
	}
	for node, since := range j.watches {
		if w, ok := j.next(node, since); ok && w.zxid <= j.seen {
			return fmt.Errorf("it sees a state of %#x, without the event of its watch for %s = %q",
				j.seen, node, w.data)
		}
	}
	return nil
}

// advance moves on to the least state that the reply shows.
func (j *clientJudge) advance(o *recordedOp) error {
	switch o.kind {
	case "set":
		if o.zxid <= j.seen {
			return fmt.Errorf("its own write is not above %#x, which it has seen", j.seen)
		}
		j.seen = max(o.zxid, j.answeredBefore(o.began))
	case "sync":
		j.synced = max(j.synced, j.answeredBefore(o.began))
	default:
		next, overwritten := j.next(o.node, o.mzxid)
		switch state := max(j.seen, o.mzxid); {
		case o.mzxid > o.zxid:
			return fmt.Errorf("the datum is newer than the reply")
		case overwritten && next.zxid <= state:
			return fmt.Errorf("it goes back: it has seen %#x, with %s = %q of %#x", j.seen, o.node,
				next.data, next.zxid)
		default:
			j.seen = state
		}
		if overwritten && next.ended != 0 && next.ended < o.began {
			j.old.all++
		}
		if overwritten && next.zxid <= j.synced {
			j.old.afterSync++
		}
		if o.kind == "watch" {
			j.watches[o.node] = o.mzxid
		}
	}
	return nil
}

// next is the first known write of a node after a zxid.
func (j *clientJudge) next(node string, zxid int64) (w written, ok bool) {
	list := j.nodes[node]
	i, _ := slices.BinarySearchFunc(list, zxid+1, func(w written, zxid int64) int {
		return cmp.Compare(w.zxid, zxid)
	})
	if i == len(list) {
		return written{}, false
	}
	return list[i], true
}

// answeredBefore is the highest zxid of the writes that were answered before a moment.
func (j *clientJudge) answeredBefore(moment int64) (zxid int64) {
	for _, list := range j.nodes {
		for _, w := range list {
			if w.ended != 0 && w.ended < moment {
				zxid = max(zxid, w.zxid)
			}
		}
	}
	return zxid
}

// TestGuaranteesCanBeBroken: each guarantee has a history that breaks it, and one that does not.
func TestGuaranteesCanBeBroken(t *testing.T) {
	set := func(data string, began, ended, zxid int64) recordedOp {
		return recordedOp{kind: "set", node: "/n", data: data, began: began, ended: ended,
			zxid: zxid}
	}
	get := func(data string, began, zxid, mzxid int64) recordedOp {
		return recordedOp{kind: "get", node: "/n", data: data, began: began, ended: began + 1,
			zxid: zxid, mzxid: mzxid}
	}
	watch := get("x", 3, 1, 1)
	watch.kind = "watch"
	event := get("y", 10, 2, 2)
	event.events = []string{"/n"}
	sync := recordedOp{kind: "sync", node: "/n", began: 7, ended: 8, zxid: 1}
	own := recordedOp{kind: "set", node: "/m", data: "z", began: 7, ended: 8, zxid: 3}
	x, y := set("x", 1, 2, 1), set("y", 5, 6, 2)
	for _, test := range []struct {
		name    string
		clients [][]recordedOp
		want    string // part of the error
	}{
		{"an old read", [][]recordedOp{{x, y}, {get("x", 7, 1, 1)}}, ""},
		{"a new read, then an old one",
			[][]recordedOp{{x, y}, {get("y", 7, 2, 2), get("x", 9, 2, 1)}}, "it goes back"},
		{"the zxid of replies falls",
			[][]recordedOp{{x, y}, {get("y", 7, 2, 2), get("x", 9, 1, 1)}},
			"the zxid of the reply"},
		{"not its own write", [][]recordedOp{{x, y, get("x", 7, 2, 1)}}, "it goes back"},
		{"an old read after a sync", [][]recordedOp{{x, y}, {sync, get("x", 9, 1, 1)}}, ""},
		{"an old read after an own write", [][]recordedOp{{x, y}, {own, get("x", 9, 3, 1)}},
			"it goes back"},
		{"writes against time", [][]recordedOp{{set("x", 1, 2, 2)}, {set("y", 5, 6, 1)}},
			"was answered before"},
		{"two writes of one zxid", [][]recordedOp{{x}, {set("y", 1, 2, 1)}}, "have the zxid 0x1"},
		{"two zxids of one write", [][]recordedOp{{x, get("x", 3, 2, 2)}}, "has the zxids"},
		{"data before the event", [][]recordedOp{{x, y}, {watch, get("y", 10, 2, 2)}},
			"without the event"},
		{"the event before data", [][]recordedOp{{x, y}, {watch, event}}, ""},
		{"a datum from the future", [][]recordedOp{{x, y}, {get("y", 7, 1, 2)}}, "is newer"},
		{"a write without a reply", [][]recordedOp{{x, set("y", 5, 0, 0)},
			{get("y", 7, 2, 2)}}, ""},
	} {
		old, err := judgeGuarantees(test.clients)
		check.Equal(t, old.afterSync > 0, test.name == "an old read after a sync",
			"%s: old reads after a sync", test.name)
		if text := fmt.Sprint(err); test.want == "" && err != nil ||
			test.want != "" && !strings.Contains(text, test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
}
