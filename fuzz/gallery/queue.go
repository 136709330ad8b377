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
	{Slug: "watch-lost-with-session", Alias: "B61",
		Title:  "the consumer that lost its watch with its session",
		Source: Report, Link: "https://github.com/apache/curator/issues/1140",
		See: []string{"kazoo's LockingQueue", "S0-19"},
		Bug: "A consumer waits for the event that the children have changed, and listens to no " +
			"other. When its session ends its watch goes with it. It does not hear of later " +
			"elements.",
		Property: liveness, Wrong: queueOf(func(q *plainQueue) {
			q.await = func(ctx context.Context, change <-chan zk.Event) error {
				event, err := await(ctx, change)
				if err == nil && event.Type != zk.EventNodeChildrenChanged {
					<-ctx.Done() // wrong: the watch is gone
				}
				return ctx.Err()
			}
		}), Script: scenario.Script{Clients: 2, Rounds: 4}}, // one offers, one takes
	{Slug: "sleeps-beside-elements", Alias: "B63",
		Title:  "a consumer that loses the race for an element sleeps beside others",
		Source: Report, Link: "https://github.com/python-zk/kazoo/pull/501",
		Bug: "A consumer tries for the first element only. When another has taken that, it waits " +
			"for the next event, and does not look at the elements that are there. Without " +
			"another offer it waits for ever.",
		Property: liveness, Wrong: queueOf(func(q *plainQueue) {
			lost := false
			q.scan = func(names []string) ([]byte, error) {
				if lost = len(names) > 0; lost {
					return q.firstOf(names[:1])
				}
				return nil, errGone
			}
			q.await = func(ctx context.Context, change <-chan zk.Event) (err error) {
				if lost { // the watch of the list tells of the element of the other
					_, _, change, err = q.conn.ChildrenW(queueDir) // wrong: there may be some
				}
				if err != nil {
					return err
				}
				return awaitChange(ctx, change)
			}
		})},
	{Slug: "lost-delete-loses-element", Alias: "B65", Title: "an element is lost with its deletion",
		Source: Code, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/queue.py#L85-L106",
		See: []string{"S0-15", "DistributedQueue of the Apache recipes"},
		Bug: "The reply to the delete is lost, and all is done again: the element is gone, so " +
			"the consumer thinks that another has taken it, and returns the next one. No " +
			"consumer has the first.",
		Property: delivery, Wrong: queueOf(func(q *plainQueue) {
			q.remove = func(path string) (err error) {
				for range attempts {
					if err = q.removeOnce(path); ignore(err, zk.ErrNoNode) == nil {
						return err // wrong: the node may be gone by the first try
					}
				}
				return err
			}
		})},
	{Slug: "counted-then-offered", Alias: "B67", Title: "counted, and then offered",
		Source: Report, Link: "https://github.com/apache/curator/issues/774",
		Bug: "A queue with a bound: a producer counts the elements, and adds one if there is " +
			"room. Two producers that count at the same time find the same room, and both use it.",
		Property: invariant, Wrong: boundedOf(func(q *plainQueue, _ int32) error {
			return q.addOnce(nil) // wrong: others may, too
		}), Right: boundedOf((*plainQueue).addAlone)},
	{Slug: "directory-made-once", Alias: "S0-12", Title: "the directory is made once, or never",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#producer-consumer-queues",
		Bug: "The directory is made by ensureExists, which asks whether it is there, makes it, " +
			"and logs its errors. It is called once: if the connection breaks over that, all " +
			"later calls fail with NoNode.",
		Property: invariant, Wrong: withoutDir(func(q *plainQueue) {
			tried := false
			q.prepare = func() error {
				if !tried {
					tried = true
					_ = q.makeDir() // wrong: it may not be there
				}
				return nil
			}
		}), Right: withoutDir(func(q *plainQueue) { q.prepare = q.makeDir })},
	{Slug: "offered-twice", Alias: "S0-16", Title: "an element is offered twice",
		Source: Code, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/queue/DistributedQueue.java#L402-L407",
		Bug: "The reply to the create is lost, and it is sent again. The element has no name by " +
			"which the first one could be found, so it is in the queue twice.",
		Property: delivery, Says: "twice", Wrong: queueOf(offersAgain)},
	{Slug: "directory-made-by-two", Alias: "S0-17", Title: "two make the directory",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-queue/src/main/java/org/apache/zookeeper/recipes/queue/DistributedQueue.java#L265-L269",
		See: []string{"dcos/dcos-go"},
		Bug: "A client that finds no directory makes it. If two do at once the second gets " +
			"NodeExists, which is as good as success, and its caller gets an error instead.",
		Property: invariant, Wrong: withoutDir(func(q *plainQueue) {
			q.prepare = q.checkThenCreate // wrong: another may have made it
		}), Right: withoutDir(func(q *plainQueue) { q.prepare = q.makeDir })},
	{Slug: "one-element-wakes-all", Alias: "S0-18", Title: "one element wakes all consumers",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#queues",
		Bug: "A consumer that finds the queue empty watches its directory. One new element wakes " +
			"all consumers that wait, though one of them can have it; the others look, find " +
			"nothing, and watch again.",
		Property: invariant,
		// wrong: all of them watch
		Wrong: waitingTakers(func(q *plainQueue, _ *plainLock) object.Queuer { return q }),
		Right: waitingTakers(func(q *plainQueue, l *plainLock) object.Queuer {
			return inTurn{q, l}
		})},
	{Slug: "newest-first-after-wrap", Alias: "S0-20", Title: "the newest elements come first",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-queue/src/main/java/org/apache/zookeeper/recipes/queue/DistributedQueue.java",
		Bug: "The number of an element is parsed as one of 64 bits. After 2147483647 a server " +
			"before 3.6 goes on with -2147483648. Elements that are offered from then on come " +
			"before those that have waited.",
		Property: invariant, Wrong: aroundWrap(func(q *plainQueue) {
			q.order = func(a, b string) int {
				return cmp.Compare(signedNumber(a), signedNumber(b)) // wrong: numbers wrap
			}
		}), Right: aroundWrap(func(q *plainQueue) {
			q.order = func(a, b string) int { return int(signedNumber(a) - signedNumber(b)) }
		})},
	{Slug: "ephemeral-elements", Title: "the elements go with their producer",
		Source: Code, Link: "https://github.com/control-center/serviced/blob/5c449491265136576015007033e701617a268969/coordinator/client/zookeeper/queue.go#L150",
		Bug: "An element is an ephemeral node. When the session of its producer ends, by a fault " +
			"or because the producer has done its work, the server deletes the element, and no " +
			"consumer gets it.",
		Property: delivery, Says: "session", Wrong: queueOf(func(q *plainQueue) {
			q.add = func(data []byte) error {
				const flags = zk.FlagSequence | zk.FlagEphemeral // wrong: the element must stay
				_, err := q.conn.Create(queueDir+"/"+q.prefix, data, flags, acl)
				return err
			}
		})},
}

// plainQueue is the queue of the ZooKeeper guide in steps: an element is read, deleted and handed
// out, and the caller gets an error of any request. An exhibit replaces a step by a wrong one.
type plainQueue struct {
	conn *zk.Conn

	prepare func() error                                            // before each call
	prefix  string                                                  // of the elements' names
	order   func(a, b string) int                                   // of the elements' names
	add     func(data []byte) error                                 // create an element
	remove  func(path string) error                                 // delete an element
	scan    func([]string) ([]byte, error)                          // the first, or errGone
	await   func(ctx context.Context, change <-chan zk.Event) error // before another look
}

// queueDir is the directory of a queue, as its workload has it.
const queueDir = "/queue"

func newQueue(c *zk.Conn, steps ...func(*plainQueue)) *plainQueue {
	q := &plainQueue{conn: c, prefix: "n-", order: byNumber, prepare: nothing, await: awaitChange}
	q.add, q.scan, q.remove = q.addOnce, q.firstOf, q.removeOnce
	return with(q, steps)
}

// queueOf is a workload of a queue with some steps replaced.
func queueOf(steps ...func(*plainQueue)) scenario.Workload {
	return openQueue(func(q *plainQueue) object.Queuer { return with(q, steps) })
}

// openQueue is a workload of any queue that is made of a plain one.
func openQueue(open func(*plainQueue) object.Queuer) scenario.Workload {
	return beside(object.Queue(func(env object.Env) object.Queuer {
		return open(newQueue(env.Conn))
	}, object.QueueClaims{LeavesAtRest: []string{queueDir}}), queueDir)
}

// byNumber orders names by their last ten digits.
func byNumber(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) }

func (q *plainQueue) Offer(_ context.Context, data []byte) error {
	if err := q.prepare(); err != nil {
		return err
	}
	return q.add(data)
}

func (q *plainQueue) Take(ctx context.Context) ([]byte, error) {
	if err := q.prepare(); err != nil {
		return nil, err
	}
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

func (q *plainQueue) addOnce(data []byte) error {
	_, err := q.conn.Create(queueDir+"/"+q.prefix, data, zk.FlagSequence, acl)
	return err
}

// addAlone adds an element unless another has been added since the directory had a version.
func (q *plainQueue) addAlone(version int32) error {
	_, err := q.conn.Multi(&zk.SetDataRequest{Path: queueDir, Version: version},
		&zk.CreateRequest{Path: queueDir + "/" + q.prefix, Acl: acl, Flags: zk.FlagSequence})
	return err
}

// firstOf takes the first element that no other consumer takes.
func (q *plainQueue) firstOf(names []string) ([]byte, error) {
	for _, name := range names {
		if data, err := q.take(name); !errors.Is(err, zk.ErrNoNode) {
			return data, err
		}
	}
	return nil, errGone
}

func (q *plainQueue) take(name string) ([]byte, error) {
	data, _, err := q.conn.Get(queueDir + "/" + name)
	if err == nil {
		err = q.remove(queueDir + "/" + name)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (q *plainQueue) removeOnce(path string) error { return q.conn.Delete(path, -1) }

// awaitChange waits until something has changed.
func awaitChange(ctx context.Context, change <-chan zk.Event) error {
	_, err := await(ctx, change)
	return err
}

// boundedOf is a workload of a queue with room for two elements, to which all clients offer; add
// adds an element where there was room at a version of the directory.
func boundedOf(add func(q *plainQueue, version int32) error) scenario.Workload {
	const bound = 2
	w := playing(beside(queueOf(), queueDir, lockDir), func(p *scenario.Player, round int) {
		q := newQueue(p.Conn())
		element := fmt.Sprintf("%s%d", p.Name(), round)
		_ = do(p, ops.Offer, element, func(context.Context) error {
			names, stat, err := q.conn.Children(queueDir)
			if err != nil || len(names) >= bound {
				return err
			}
			return add(q, stat.Version)
		})
		p.Hold(scenario.At("hold", round), nil)
	})
	name := fmt.Sprintf("there are %d elements at most", bound)
	return judgedBy(w, name, func(e scenario.Evidence) error {
		for n, ev := range offered(e.History) {
			if n >= bound { // no client takes any
				return fmt.Errorf("%s at step %d makes %d", ev.Path, ev.Step, n+1)
			}
		}
		return nil
	})
}

// offered are the creations of elements.
func offered(h linearizability.History) []linearizability.ServerEvent {
	return slices.DeleteFunc(slices.Clone(h.Server), func(ev linearizability.ServerEvent) bool {
		return ev.Kind != linearizability.NodeCreated || !strings.HasPrefix(ev.Path, queueDir+"/")
	})
}

// withoutDir is a workload of a queue with a directory that its clients make.
func withoutDir(step func(*plainQueue)) scenario.Workload {
	w := object.Queue(func(env object.Env) object.Queuer { return newQueue(env.Conn, step) })
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

func (q *plainQueue) checkThenCreate() error {
	there, _, err := q.conn.Exists(queueDir)
	if err == nil && !there {
		_, err = q.conn.Create(queueDir, nil, 0, acl)
	}
	return err
}

// makeDir makes the directory, unless it is there.
func (q *plainQueue) makeDir() error { return ignore(q.checkThenCreate(), zk.ErrNodeExists) }

// inTurn is a queue with one waiting consumer at a time.
type inTurn struct {
	*plainQueue
	turn *plainLock
}

func (q inTurn) Take(ctx context.Context) (data []byte, err error) {
	if err := q.turn.Lock(ctx); err != nil {
		return nil, err
	}
	data, err = q.plainQueue.Take(ctx)
	_ = q.turn.Unlock(ctx) // it goes with the connection
	return data, err
}

// waitingTakers is a workload of a queue in which the first client offers, with pauses, as many
// elements as the others take.
func waitingTakers(open func(*plainQueue, *plainLock) object.Queuer) scenario.Workload {
	w := beside(queueOf(), queueDir, lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		q := open(newQueue(p.Conn()), newLock(p.Conn(), lockDir))
		if p.Index() > 0 {
			for range s.Rounds {
				takeWithin(p, q, time.Minute)
			}
			return
		}
		for n := range s.Rounds * (s.Clients - 1) {
			p.Pause(100 * time.Millisecond)
			element := fmt.Sprintf("%s%d", p.Name(), n)
			_ = do(p, ops.Offer, element, func(ctx context.Context) error {
				return q.Offer(ctx, []byte(element))
			})
		}
	}
	w.Length = func(s scenario.Script) time.Duration {
		return time.Duration(s.Rounds) * time.Minute
	}
	return judgedBy(w, "an element wakes one consumer", func(e scenario.Evidence) error {
		for _, ev := range offered(e.History) {
			if ev.Notified > 1 && !e.GaveUp() { // the watch of an earlier wait cannot be taken back
				return fmt.Errorf("%s wakes %d at step %d", ev.Path, ev.Notified, ev.Step)
			}
		}
		return nil
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
