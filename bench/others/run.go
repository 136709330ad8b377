package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/linearizability"
)

const (
	// objectPath is the path of the object under test.
	objectPath = "/others/object"
	// tick is the server's tick time. Then the longest session timeout is four seconds, and a
	// session ends soon after its timeout.
	tick = 200 * time.Millisecond
	// rounds is how often each client does its turn.
	rounds = 2
	// settleTime is how long clean-up in the background may take after the scripts.
	settleTime = 3 * time.Second
	// longest bounds a run in which something happens all the time.
	longest = 15 * time.Second
)

// run is one play of the script of a recipe, on its own server.
type run struct {
	recipe   *recipe
	driver   *driver
	server   *fakezk.Server
	sessions map[int64]string // the client of each session
	ids      map[string]int64 // the session of each client in the beginning
	record   *record
	ends     *sessionEnds
	patience time.Duration
}

// An outcome is the result of a run.
type outcome struct {
	// fired reports that the request of the fault came.
	fired bool
	// requests are counted in a run without a fault only.
	requests []requests
	// bad is the violation, or "".
	bad string
	// stuck reports that the driver has to be killed.
	stuck bool
	story []string
}

// requests is the number of requests of one operation that a client sent.
type requests struct {
	client, op string
	number     int
}

// A point is a fault of a kind at one request of one client. Requests are counted by operation, so
// that they keep their meaning when a client reads once more or once less.
type point struct {
	kind       fault.Kind
	client, op string
	request    int
}

func (p point) String() string {
	if p.kind == "" {
		return "no fault"
	}
	return fmt.Sprintf("%s client=%s op=%s request=%d", p.kind, p.client, p.op, p.request)
}

// play plays the script once, with a fault unless its kind is empty.
func play(d *driver, rc *recipe, p point, patience time.Duration) (out *outcome, err error) {
	ends := &sessionEnds{}
	server := fakezk.New(fakezk.Options{TickTime: tick, Logger: slog.New(ends)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { err = errors.Join(err, server.Close(), <-served) }()
	r := &run{
		recipe: rc, driver: d, server: server, patience: patience,
		sessions: map[int64]string{}, ids: map[string]int64{}, record: newRecord(), ends: ends,
	}
	if err := r.connect(l.Addr().String()); err != nil {
		return nil, err
	}
	if err := r.arm(p); err != nil {
		return nil, err
	}
	stuck, err := r.watch()
	if err != nil {
		return nil, err
	}
	return r.conclude(p, stuck)
}

// connect lets both clients connect and notes their sessions.
func (r *run) connect(addr string) error {
	if err := r.server.Put("/others", nil); err != nil {
		return err
	}
	if err := r.driver.send("run", r.recipe.name, addr, strconv.Itoa(rounds)); err != nil {
		return err
	}
	for len(r.ids) < 2 {
		words, err := r.driver.next(startTime)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		if words[0] == "told" {
			continue // a client of the run before has lost its server
		}
		if words[0] != "connected" || len(words) != 3 {
			return fmt.Errorf("connect: %w: it prints %q", errDriver, words)
		}
		id, err := strconv.ParseInt(words[2], 16, 64)
		if err != nil {
			return fmt.Errorf("connect: %w: %w", errDriver, err)
		}
		r.ids[words[1]], r.sessions[id] = id, words[1]
	}
	return nil
}

// operations are those at which faults are tried.
var operations = []string{
	"create", "create2", "createContainer", "createTTL", "delete", "exists", "getData", "setData",
	"getChildren", "getChildren2", "multi", "sync", "addWatch", "removeWatches",
}

// never is the number of a request that does not come. A fault at that request never acts: it only
// counts requests.
const never = 1 << 30

// arm injects the fault. Without one it injects, for each operation, a fault that only counts.
func (r *run) arm(p point) error {
	for _, client := range []string{"a", "b"} {
		for _, op := range operations {
			session := fmt.Sprintf("0x%x", r.ids[client])
			f := fault.Fault{Kind: fault.Cut, Client: session, Op: op, Request: never}
			if p.client == client && p.op == op {
				f.Kind, f.Request = p.kind, p.request
			} else if p.client != "" {
				continue
			}
			if err := r.server.Inject(f); err != nil {
				return err
			}
		}
	}
	return r.driver.send("go")
}

// watch records the lines of the driver until both scripts are done. If they are
// stuck, it says why.
func (r *run) watch() (stuck string, err error) {
	began := time.Now()
	for done := 0; done < 2; {
		words, err := r.driver.next(r.patience)
		switch {
		case errors.Is(err, errQuiet):
			return err.Error(), nil
		case err != nil:
			return "", err
		case time.Since(began) > longest:
			return fmt.Sprintf("not done after %s", longest), nil
		case words[0] == "done":
			done++
		default:
			if err := r.record.take(words); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// conclude judges the run and lets the clients close their sessions, unless they are stuck.
func (r *run) conclude(p point, stuck string) (*outcome, error) {
	out := &outcome{stuck: stuck != "", story: r.record.story}
	e := r.settle(stuck)
	for _, f := range r.server.Faults() {
		sent := requests{clientOf[f.Fault.Client], f.Fault.Op, f.Matched}
		out.requests = append(out.requests, sent)
		out.fired = out.fired || f.Fired
	}
	out.bad = r.recipe.kind.judge(r.recipe, e)
	if out.bad == "" && stuck != "" {
		out.bad = "liveness: " + stuck
	}
	if out.bad == "" && r.record.note != "" {
		return nil, fmt.Errorf("%s, %s: %w: %s", r.recipe.name, p, errDriver, r.record.note)
	}
	if stuck != "" {
		return out, nil
	}
	return out, r.end()
}

// end lets the clients close their sessions.
func (r *run) end() error {
	if err := r.driver.send("end"); err != nil {
		return err
	}
	for {
		words, err := r.driver.next(startTime)
		if err != nil {
			return fmt.Errorf("close: %w", err)
		}
		if words[0] == "closed" {
			return nil
		}
	}
}

// clientOf is the client of a session by its name on the server.
var clientOf = map[string]string{"S1": "a", "S2": "b"}

// settle waits until nothing is violated, settleTime at most, and returns the
// evidence of that moment.
func (r *run) settle(stuck string) *evidence {
	deadline := time.Now().Add(settleTime)
	for {
		e := r.atRest(stuck)
		late := stuck != "" || time.Now().After(deadline)
		if late || r.recipe.kind.judge(r.recipe, r.atRest(stuck)) == "" {
			return e
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// atRest is the evidence of this moment.
func (r *run) atRest(stuck string) *evidence {
	e := &evidence{history: r.record.history(), rest: &linearizability.Leftovers{}, stuck: stuck}
	for _, s := range r.server.Sessions() {
		session := linearizability.SessionAtRest{ID: s.ID, Client: r.owner(s.ID)}
		e.rest.Sessions = append(e.rest.Sessions, session)
	}
	for _, n := range r.server.Tree() {
		node := linearizability.NodeAtRest{
			Path: n.Path, Data: string(n.Data), Owner: n.Owner, OwnerClient: r.owner(n.Owner),
			Czxid: n.Czxid,
		}
		if n.Path == objectPath {
			e.value = r.recipe.value(n.Data)
		}
		if !strings.HasPrefix(n.Path, objectPath) {
			continue
		}
		e.nodes = append(e.nodes, node)
		if n.Owner != 0 {
			e.rest.Nodes = append(e.rest.Nodes, node)
		}
	}
	for _, end := range r.ends.list() { // the client hears of it later
		expired := r.record.notice(end.at, r.owner(end.session), linearizability.SessionExpired)
		e.history.Notices = append(e.history.Notices, expired)
	}
	e.rest.Waiting = r.waiting(e.history)
	return e
}

// owner is the client of a session. A session that was not there in the beginning belongs to the
// client that has lost its first session.
func (r *run) owner(id int64) string {
	if client, known := r.sessions[id]; known || id == 0 {
		return client
	}
	live := map[int64]bool{}
	for _, s := range r.server.Sessions() {
		live[s.ID] = true
	}
	for _, client := range []string{"a", "b"} {
		if !live[r.ids[client]] {
			return client
		}
	}
	return ""
}

// waiting lists the calls that have not returned, with the path that each watches.
func (r *run) waiting(h linearizability.History) []linearizability.Wait {
	var waits []linearizability.Wait
	for _, op := range h.Ops {
		if op.Outcome != linearizability.OpPending {
			continue
		}
		w := linearizability.Wait{Client: op.Client, Op: op.Kind}
		for _, watch := range r.server.Watches() {
			if r.owner(watch.Session) == op.Client && strings.HasPrefix(watch.Path, objectPath) {
				w.Path = watch.Path
			}
		}
		waits = append(waits, w)
	}
	return waits
}
