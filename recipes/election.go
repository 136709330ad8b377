package recipes

import (
	"context"
	"errors"
	"sync"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ErrLeadershipLost is the cause of a leader's context when the server has ended the term or may
// have ended it.
var ErrLeadershipLost = errors.New("leadership was lost")

// Term is one period of leadership. It begins with the confirmation by the server and ends when the
// leadership is given up or lost. The next period of the same candidate is another Term.
type Term struct{ held *hold.Hold }

// Epoch is the fencing epoch of the term, like the Token of a lock: every later term in the same
// election has a greater one. It is the czxid of the leader's node. Pass it to the resources that
// the leader changes, and let them refuse smaller epochs.
func (t *Term) Epoch() int64 { return t.held.Token }

// Lost is closed when the term has ended, for any reason; Lost of a Lock says how the end is
// learned. It is a hint, and can come late.
func (t *Term) Lost() <-chan struct{} { return t.held.Ended }

// Candidate describes a candidate in an election.
type Candidate struct {
	// ID is the name that the candidate was made with.
	ID string
	// Epoch is the epoch of its present or future term: the Token of a Member.
	Epoch int64
}

// election is the common part of LeaderLatch and LeaderSelector: a background loop with a candidate
// in a queue, and its term.
type election struct {
	lifecycle
	queue *hold.Turnstile

	mu       sync.Mutex
	standing bool          // a loop of candidacies is under way
	wanted   bool          // Start was called since the latest election
	term     *Term         // the latest; nil before the first
	failure  error         // of the latest candidacy; nil while one is under way
	changed  chan struct{} // closed and replaced when one of these changes
}

// newElection makes a candidate. The names of its nodes have kind before the sequence number. Nodes
// with one of the markers in their names are its rivals.
func newElection(
	conn Conn, what, path, id, kind string, markers []string, opts []Option,
) *election {
	e := &election{lifecycle: newLifecycle(conn, what, path, opts), changed: make(chan struct{})}
	queueOpts := e.tasks.Opts
	queueOpts.Data = []byte(id)
	e.queue = &hold.Turnstile{
		Dir: path, Kind: kind, Markers: markers, Opts: queueOpts, Ahead: hold.Predecessor,
	}
	return e
}

// Leader returns the candidate that led at some moment of the call, or false if there was none. The
// candidate itself may learn later that its term has begun or ended. Leader needs no Start.
func (e *election) Leader(ctx context.Context) (leader Candidate, ok bool, err error) {
	list, err := task.Ask(ctx, e.tasks, "look up the leader of", e.leader)
	if err != nil || len(list) == 0 {
		return Candidate{}, false, err
	}
	return list[0], true, nil
}

// Participants returns the candidates in the order of their turns, the leader first. The list is no
// older than the call; candidates that left while it was read are omitted. Participants needs no
// Start.
func (e *election) Participants(ctx context.Context) ([]Candidate, error) {
	return task.Ask(ctx, e.tasks, "list the candidates of", e.candidates)
}

// HasLeadership reports whether this candidate leads, as far as the client knows. It sends nothing.
func (e *election) HasLeadership() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leads()
}

// Err returns the error of the latest candidacy, or nil if it has not failed or a new one is under
// way. After a refusal the candidate stands again, with pauses, until Close.
func (e *election) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tasks.Explain("stand in", e.failure)
}

// Close ends the term, if there is one, and removes the candidate from the election. HasLeadership
// is false and Lost of the Term is closed before the first request. It waits until nothing is left
// to clean up or ctx is done; in the latter case the clean-up goes on. It leaves the Conn open. It
// returns the first refusal of the server to remove a node. That node stays until the session ends.
func (e *election) Close(ctx context.Context) error {
	e.tasks.Cancel(ErrClosed)
	e.mu.Lock()
	if e.term != nil {
		e.term.held.End()
	}
	e.mu.Unlock()
	return e.tasks.Close(ctx)
}

// leads is HasLeadership for a caller that holds mu.
func (e *election) leads() bool { return e.term != nil && !e.term.held.Over() }

// start begins candidacies in the background, unless the loop is running. With once the loop ends
// when lead has returned true, unless start was called again since the election.
func (e *election) start(once bool, lead func(*Term) bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted = true
	if e.standing && !e.tasks.Closed() {
		return nil
	}
	err := e.tasks.Background(func(r *request.Sender) {
		e.run(r, once, lead)
	})
	e.standing = err == nil
	return e.tasks.Explain("stand in", err)
}

// run repeats candidacies until Close of the election or of the Conn. With once it also ends after
// a turn.
func (e *election) run(r *request.Sender, once bool, lead func(*Term) bool) {
	var failures request.Backoff
	for {
		e.publish(func() { e.failure = nil })
		led, err := e.candidacy(r, lead)
		if err == nil {
			failures.Reset()
		} else {
			e.publish(func() { e.failure = err })
		}
		over := r.Ctx.Err() != nil || errors.Is(err, ErrConnClosed) ||
			err != nil && failures.Wait(r.Ctx, nil, err) != nil
		if e.loopEnds(over, led && once) {
			return
		}
	}
}

// loopEnds reports whether the loop of candidacies ends: it is over, or its turn was served and
// start was not called since the election.
func (e *election) loopEnds(over, served bool) bool {
	ended := false
	e.publish(func() {
		ended = over || served && !e.wanted
		e.standing = !ended
	})
	return ended
}

// candidacy waits for the election, and leads until lead returns. Then it removes the node, as the
// next candidacy must not wait behind it. Only Close of the election or of the Conn makes it return
// before that is confirmed.
func (e *election) candidacy(r *request.Sender, lead func(*Term) bool) (led bool, err error) {
	r.EndWaiting()
	held, err := e.queue.Acquire(r, true)
	if err != nil {
		return false, err
	}
	held.WatchOver(e.tasks)
	term := &Term{held}
	e.publish(func() { e.term, e.wanted = term, false })
	led = lead(term)
	held.End()
	var failures request.Backoff
	for {
		err := r.Tidy(held.Release)
		if err == nil || errors.Is(err, ErrConnClosed) {
			return led, err
		}
		e.publish(func() { e.failure = err })
		if failures.Wait(r.Ctx, nil, err) != nil {
			return led, err
		}
	}
}

// publish makes a change and wakes the callers of await. After Close it also ends the term.
func (e *election) publish(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	if e.term != nil && e.tasks.Closed() {
		e.term.held.End()
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// await waits for a term that has not ended.
func (e *election) await(ctx context.Context) (*Term, error) {
	for {
		e.mu.Lock()
		term, failure, changed, leads := e.term, e.failure, e.changed, e.leads()
		begun := e.standing || term != nil || failure != nil
		e.mu.Unlock()
		switch {
		case e.tasks.Closed():
			return nil, ErrClosed
		case leads:
			return term, nil
		case failure != nil:
			return nil, failure
		case !begun:
			return nil, errNotStarted
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-e.tasks.Ctx.Done():
		}
	}
}

// errNotStarted is for a candidate that nobody would ever elect, and a cache that reads nothing.
var errNotStarted = errors.New("it was not started; call Start first")

// leader reads the oldest candidate.
func (e *election) leader(r *request.Sender) ([]Candidate, error) {
	for {
		queue, err := hold.QueueIn(r, e.tasks.Path, e.queue.Markers)
		if err != nil || len(queue) == 0 {
			return nil, err
		}
		first, there, err := hold.ReadParticipant(r, request.Join(e.tasks.Path, queue[0].Name))
		if err != nil || there {
			return []Candidate{candidate(first)}, err
		}
	}
}

// candidates reads all candidates.
func (e *election) candidates(r *request.Sender) (list []Candidate, err error) {
	all, err := e.queue.Participants(r)
	for _, m := range append(all.Holders, all.Waiters...) {
		list = append(list, candidate(m))
	}
	return list, err
}

// candidate returns a member of the election's queue as a Candidate.
func candidate(m hold.Participant) Candidate {
	return Candidate{ID: string(m.Data), Epoch: m.Token}
}
