package gallery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedQueue = []Exhibit{
	{
		Slug: "watch-lost-with-session", Alias: "B61",
		Title:  "the consumer that lost its watch with its session",
		Source: Report, Link: "https://github.com/apache/curator/issues/1140",
		See: []string{"kazoo's LockingQueue", "S0-19"},
		Bug: "A consumer waits for the event that the children have changed, and listens to no " +
			"other. When its session ends its watch goes with it; nothing tells of what is " +
			"offered from then on.",
		Property: linearizability.Liveness,
		Wrong: lineOf(func(q *line) {
			q.await = func(ctx context.Context, change <-chan zk.Event) error {
				select {
				case ev := <-change:
					if ev.Type == zk.EventNodeChildrenChanged {
						return nil
					}
					<-ctx.Done() // wrong: the watch is gone
				case <-ctx.Done():
				}
				return ctx.Err()
			}
		}),
		Script: scenario.Script{Clients: 2, Rounds: 4}, // one offers, one takes
	},
	{
		Slug: "sleeps-beside-elements", Alias: "B63",
		Title:  "who loses the race for an element sleeps beside others",
		Source: Report, Link: "https://github.com/python-zk/kazoo/pull/501",
		Bug: "A consumer tries for the first element only. When another has taken that, it waits " +
			"for the next event, and does not look at the elements that are there: if nobody " +
			"offers more it waits for ever.",
		Property: linearizability.Liveness,
		Wrong: lineOf(func(q *line) {
			lost := false
			q.scan = func(names []string) ([]byte, error) {
				if lost = len(names) > 0; !lost {
					return nil, errGone
				}
				data, err := q.take(names[0])
				if errors.Is(err, zk.ErrNoNode) {
					err = errGone
				}
				return data, err
			}
			q.await = func(ctx context.Context, change <-chan zk.Event) (err error) {
				if lost { // the watch of the list tells of the one that another has taken
					_, _, change, err = q.conn.ChildrenW(queueDir) // wrong: there may be some
				}
				if err != nil {
					return err
				}
				return awaitChange(ctx, change)
			}
		}),
	},
	{
		Slug: "lost-delete-loses-element", Alias: "B65",
		Title:  "the element whose deletion got lost",
		Source: Code, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/queue.py#L85-L106",
		See: []string{"S0-15", "DistributedQueue of the Apache recipes"},
		Bug: "The reply to the delete is lost, and all is done again: the element is gone, so " +
			"somebody else must have taken it, and the next one is returned. Nobody has the " +
			"first.",
		Property: linearizability.Delivery,
		Wrong: lineOf(func(q *line) {
			q.remove = func(path string) (err error) {
				for range attempts {
					if err = q.removeOnce(path); err == nil || errors.Is(err, zk.ErrNoNode) {
						return err // wrong: it may have been this one's
					}
				}
				return err
			}
		}),
	},
	{
		Slug: "counted-then-offered", Alias: "B67",
		Title:  "counted, and then offered",
		Source: Report, Link: "https://github.com/apache/curator/issues/774",
		Bug: "A queue with a bound: who offers counts the elements, and adds one if there is room. " +
			"Two who count at the same time find the same room, and both use it.",
		Property: scenario.InvariantProperty,
		Wrong: boundedOf(func(c *zk.Conn, offer func() error) error {
			return offer() // wrong: others may, too
		}),
		Right: boundedOf(func(c *zk.Conn, offer func() error) error {
			l := newNaked(c, lockDir)
			if err := l.Lock(context.Background()); err != nil {
				return err
			}
			defer func() { _ = l.leave() }()
			return offer()
		}),
	},
	{
		Slug: "directory-made-once", Alias: "S0-12",
		Title:  "the directory is made, or nobody hears of it",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#producer-consumer-queues",
		Bug: "The directory is made by ensureExists, which asks whether it is there, makes it, and " +
			"logs what goes wrong. It is called once: if the connection breaks over that, " +
			"whatever is done later fails with NoNode.",
		Property: scenario.InvariantProperty,
		Wrong: withoutDir(func() dirMaker {
			tried := false
			return func(conn *zk.Conn) error {
				if !tried {
					tried = true
					_ = makeQueueDir(conn) // wrong: it may not be there
				}
				return nil
			}
		}),
		Right: withoutDir(func() dirMaker { return makeQueueDir }),
	},
	{
		Slug: "offered-twice", Alias: "S0-16",
		Title:  "an element is offered twice",
		Source: Code, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/queue/DistributedQueue.java#L402-L407",
		Bug: "The reply to the create is lost, and it is sent again. The element has no name by " +
			"which the first one could be found, so it is in the queue twice.",
		Property: linearizability.Delivery,
		Wrong:    lineOf(offersAgain), // wrong: each create may have made one
	},
	{
		Slug: "directory-made-by-two", Alias: "S0-17",
		Title:  "two make the directory",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-queue/src/main/java/org/apache/zookeeper/recipes/queue/DistributedQueue.java#L265-L269",
		Bug: "Who finds no directory makes it. If two do at once the second gets NodeExists, which " +
			"is as good as success, and its caller gets an error instead.",
		Property: scenario.InvariantProperty,
		// wrong: another may have made it
		Wrong: withoutDir(func() dirMaker { return checkThenCreate }),
		Right: withoutDir(func() dirMaker { return makeQueueDir }),
	},
	{
		Slug: "one-element-wakes-all", Alias: "S0-18",
		Title:  "one element wakes all consumers",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#queues",
		Bug: "Whoever finds the queue empty watches its directory. One element that is offered " +
			"wakes all who wait, though one of them can have it; the others look, find nothing, " +
			"and watch again.",
		Property: scenario.InvariantProperty,
		// wrong: all of them watch
		Wrong: waitingTakers(func(q *line, _ *naked) object.Queuer { return q }),
		Right: waitingTakers(func(q *line, turn *naked) object.Queuer { return turnTaking{q, turn} }),
	},
}

// line is the queue of the ZooKeeper guide, as many have written it: an element is
// read, deleted and handed out, and an error of any request is the caller's. An
// exhibit replaces a step of it by a wrong one.
type line struct {
	conn *zk.Conn

	prefix string                // of the elements' names
	order  func(a, b string) int // of the elements' names
	add    func(data []byte) error
	scan   func(names []string) ([]byte, error)                    // take the first that is there, errGone if none is
	await  func(ctx context.Context, change <-chan zk.Event) error // before another look
	remove func(path string) error
}

// queueDir is the directory of a queue, as its workload has it.
const queueDir = "/queue"

// lineOf is a workload of a queue with some steps replaced, nil for none.
func lineOf(replace func(*line)) scenario.Workload {
	return queueOf(func(q *line) object.Queuer {
		if replace != nil {
			replace(q)
		}
		return q
	})
}

// queueOf is a workload of any queue made of a line.
func queueOf(open func(*line) object.Queuer) scenario.Workload {
	return beside(object.Queue(func(env object.Env) object.Queuer {
		return open(newLine(env.Conn, nil))
	}, object.QueueClaims{LeavesAtRest: []string{queueDir}}).Named(""), queueDir)
}

func newLine(c *zk.Conn, replace func(*line)) *line {
	q := &line{conn: c, prefix: "n-", order: byNumber}
	q.add, q.scan, q.await, q.remove = q.addOnce, q.first, awaitChange, q.removeOnce
	if replace != nil {
		replace(q)
	}
	return q
}

// byNumber orders names by their last ten digits.
func byNumber(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) }

// queue is the queue of package recipes, which is right.
func queue() scenario.Workload { return builtIn("queue", "recipes.Queue") }

func (q *line) Offer(_ context.Context, data []byte) error { return q.add(data) }

func (q *line) Take(ctx context.Context) ([]byte, error) {
	for {
		names, _, change, err := q.conn.ChildrenW(queueDir)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(names, q.order)
		data, err := q.scan(names)
		if !errors.Is(err, errGone) {
			return data, err
		}
		if err := q.await(ctx, change); err != nil {
			return nil, err
		}
	}
}

func (q *line) addOnce(data []byte) error {
	_, err := q.conn.Create(queueDir+"/"+q.prefix, data, zk.FlagSequence, acl)
	return err
}

// first takes the first of the elements that nobody else takes.
func (q *line) first(names []string) ([]byte, error) {
	for _, name := range names {
		if data, err := q.take(name); !errors.Is(err, zk.ErrNoNode) {
			return data, err
		}
	}
	return nil, errGone
}

func (q *line) take(name string) ([]byte, error) {
	data, _, err := q.conn.Get(queueDir + "/" + name)
	if err == nil {
		err = q.remove(queueDir + "/" + name)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (q *line) removeOnce(path string) error { return q.conn.Delete(path, -1) }

// awaitChange waits until something has changed.
func awaitChange(ctx context.Context, change <-chan zk.Event) error {
	select {
	case <-change:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bound is how many elements a bounded queue has room for.
const bound = 2

// boundedOf is a workload of a bounded queue to which everybody offers; alone does so
// while nobody else does.
func boundedOf(alone func(c *zk.Conn, offer func() error) error) scenario.Workload {
	w := beside(lineOf(nil), queueDir, lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		q := newLine(p.Conn(), nil)
		for round := range s.Rounds {
			_ = p.Do(ops.Offer, fmt.Sprintf("%s%d", p.Name(), round), func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, alone(p.Conn(), q.offerIfRoom)
			})
			p.Hold(scenario.At("hold", round), nil)
		}
	}
	return judgedBy(w, fmt.Sprintf("there are %d elements at most", bound), moreThanBound)
}

func (q *line) offerIfRoom() error {
	names, _, err := q.conn.Children(queueDir)
	if err != nil || len(names) >= bound {
		return err
	}
	return q.addOnce(nil)
}

// moreThanBound says which element was one too many; nobody takes any.
func moreThanBound(e scenario.Evidence) error {
	elements := 0
	for _, ev := range e.History.Server {
		if !strings.HasPrefix(ev.Path, queueDir+"/") || ev.Kind != linearizability.NodeCreated {
			continue
		}
		if elements++; elements > bound {
			return fmt.Errorf("%s at step %d makes %d", ev.Path, ev.Step, elements)
		}
	}
	return nil
}

func checkThenCreate(conn *zk.Conn) error {
	there, _, err := conn.Exists(queueDir)
	if err == nil && !there {
		_, err = conn.Create(queueDir, nil, 0, acl)
	}
	return err
}

// makeQueueDir makes the directory, unless it is there.
func makeQueueDir(conn *zk.Conn) error {
	err := checkThenCreate(conn)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// dirMaker makes the directory if need be.
type dirMaker func(*zk.Conn) error

// withoutDir is a workload of a queue whose directory is made by those who use it, each
// by a maker of its own.
func withoutDir(maker func() dirMaker) scenario.Workload {
	w := object.Queue(func(env object.Env) object.Queuer {
		return dirQueue{newLine(env.Conn, nil), maker()}
	}).Named("")
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// dirQueue is a queue that makes its directory before it is used.
type dirQueue struct {
	*line
	makeDir dirMaker
}

func (q dirQueue) Offer(ctx context.Context, data []byte) error {
	if err := q.makeDir(q.conn); err != nil {
		return err
	}
	return q.line.Offer(ctx, data)
}

func (q dirQueue) Take(ctx context.Context) ([]byte, error) {
	if err := q.makeDir(q.conn); err != nil {
		return nil, err
	}
	return q.line.Take(ctx)
}

// turnTaking is a queue of whose consumers one at a time waits for an element.
type turnTaking struct {
	*line
	turn *naked
}

func (q turnTaking) Take(ctx context.Context) (data []byte, err error) {
	if err := q.turn.Lock(ctx); err != nil {
		return nil, err
	}
	data, err = q.line.Take(ctx)
	_ = q.turn.Unlock(ctx) // it goes with the connection
	return data, err
}

// waitingTakers is a workload of a queue in which the first client offers, with pauses,
// as many elements as the others take.
func waitingTakers(open func(*line, *naked) object.Queuer) scenario.Workload {
	w := beside(lineOf(nil), queueDir, lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		q := open(newLine(p.Conn(), nil), newNaked(p.Conn(), lockDir))
		if p.Index() > 0 {
			for range s.Rounds {
				takeWithin(p, q, time.Minute)
			}
			return
		}
		for n := range s.Rounds * (s.Clients - 1) {
			p.Pause(100 * time.Millisecond)
			offer(p, q, fmt.Sprintf("%s%d", p.Name(), n))
		}
	}
	w.Length = func(s scenario.Script) time.Duration { return time.Duration(s.Rounds) * time.Minute }
	return judgedBy(w, "an element wakes one consumer", wakesSeveral)
}

func offer(p *scenario.Player, q object.Queuer, element string) {
	_ = p.Do(ops.Offer, element, func(ctx context.Context) (linearizability.Result, error) {
		return linearizability.Result{}, q.Offer(ctx, []byte(element))
	})
}

func takeWithin(p *scenario.Player, q object.Queuer, d time.Duration) {
	_ = p.Do(ops.Take, "", func(ctx context.Context) (linearizability.Result, error) {
		ctx, cancel := p.Within(ctx, d)
		defer cancel()
		data, err := q.Take(ctx)
		return linearizability.Result{Output: string(data)}, err
	})
}

// wakesSeveral looks at runs in which nobody has given up: the watch of who has cannot
// be taken back.
func wakesSeveral(e scenario.Evidence) error {
	for _, ev := range e.History.Server {
		offered := ev.Kind == linearizability.NodeCreated && strings.HasPrefix(ev.Path, queueDir+"/")
		if offered && ev.Notified > 1 && !e.GaveUp() {
			return fmt.Errorf("%s wakes %d at step %d", ev.Path, ev.Notified, ev.Step)
		}
	}
	return nil
}
