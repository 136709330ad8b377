package gallery

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var publishedThresholdBarrier = []Exhibit{
	{
		Slug: "exactly-enough", Alias: "S4-29",
		Title:  "one more than enough is not enough",
		Source: Code, Link: "https://github.com/asgokhale/DistributedSystemsCourse/blob/d2f3567306e311b6858bd2e032c2b5c42573e9d7/ZooKeeper/BarrierMininet/zkbarrier_client.py#L118",
		Bug: "The barrier opens when just so many are there as it says. Members come without " +
			"asking: with one more than that, or when the number is made smaller, it never opens.",
		Property: linearizability.Liveness,
		Wrong: quorumOf(func(q *quorum) {
			q.enough = func(members, n int) bool { return members == n } // wrong: or more
		}),
	},
	{
		Slug: "seen-by-first-only", Alias: "S4-30",
		Title:  "the slow find the barrier closed again",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		Bug: "Each member looks every now and then whether enough are there, and keeps nothing of " +
			"what it has seen. The first that does goes on, and deletes its node; for those who " +
			"look after that one is missing for ever.",
		Property: linearizability.Liveness,
		Wrong: quorumOf(func(q *quorum) {
			q.tell = func(int32) error { return nil } // wrong: the others do not know
		}),
	},
	{
		Slug: "member-before-number", Alias: "S4-31",
		Title:  "a member comes before the number",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "Who joins makes the parents of its node, the barrier itself among them, with no " +
			"number in it. Then it cannot read the number, fails, and leaves its node.",
		Property: linearizability.Orphans,
		Wrong: quorumOf(func(q *quorum) {
			q.join = func() error {
				for _, path := range []string{quorumsDir, quorumPath} {
					if _, err := q.conn.Create(path, nil, 0, acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
						return err
					}
				}
				return q.joinOnce()
			}
			q.number = func() (int, int32, error) {
				n, version, err := q.readNumber()
				if errors.Is(err, strconv.ErrSyntax) {
					err = errFailed // wrong: nobody deletes the own node
				}
				return n, version, err
			}
		}),
	},
	{
		Slug: "last-round-counted", Alias: "S4-35",
		Title:  "members of the round before are counted",
		Source: Report, Link: "https://github.com/apache/curator/issues/601",
		Bug: "Who has passed leaves its node until it comes again, or its session ends. Those who " +
			"come to the next round find it, and are enough too soon.",
		Property: linearizability.Safety,
		Wrong: quorumOf(func(q *quorum) {
			q.leave = func() error { return nil } // wrong: the node counts
			join := q.join
			q.join = func() error {
				if q.own != "" {
					if err := q.remove(); err != nil {
						return err
					}
				}
				return join()
			}
		}),
	},
}

// quorum is the threshold barrier of tutorials: the number is the data of a node, whose
// children are the members, which look once a second. Who finds enough leaves a
// node for the others, named after the version of the number. An exhibit replaces a
// step of it by a wrong one.
type quorum struct {
	conn *zk.Conn
	own  string // path of the own node

	set    func(ctx context.Context, members int) error
	join   func() error
	number func() (n int, version int32, err error)
	enough func(members, n int) bool
	member func(name string) bool     // whether a child counts
	ready  func(version int32) string // the node that tells the others
	tell   func(version int32) error  // the others that there were enough
	giveUp func() error
	leave  func() error // after it has passed
}

// The nodes of a threshold barrier, as its workload has them.
const (
	quorumsDir = "/thresholds"
	quorumPath = quorumsDir + "/t"
)

// quorumOf is a workload of a threshold barrier with some steps replaced, nil for none.
func quorumOf(replace func(*quorum)) scenario.Workload {
	claims := object.BarrierClaims{LeavesAtRest: []string{quorumPath + "/ready*"}}
	return object.ThresholdBarrier(func(env object.Env) object.ThresholdBarrierer {
		q := &quorum{conn: env.Conn}
		q.join, q.number, q.tell, q.giveUp, q.leave = q.joinOnce, q.readNumber, q.makeReady, q.remove, q.remove
		q.enough = func(members, n int) bool { return members >= n }
		q.set = recipes.NewThresholdBarrier(env.Conn, quorumPath).Set
		q.member, q.ready = isMember, readyNode
		if replace != nil {
			replace(q)
		}
		return q
	}, claims).Named("")
}

func (q *quorum) Set(ctx context.Context, members int) error {
	return q.set(ctx, members)
}

func (q *quorum) Wait(ctx context.Context) error {
	for joined := false; ctx.Err() == nil; time.Sleep(time.Second) {
		if !joined {
			if err := q.join(); errors.Is(err, zk.ErrNoNode) {
				continue // nobody has set it
			} else if err != nil {
				return err
			}
			joined = true
		}
		open, err := q.look()
		switch {
		case errors.Is(err, errGone): // with the session
			joined = false
		case errors.Is(err, errFailed):
			return err
		case err == nil && open:
			return q.leave()
		}
	}
	return errors.Join(ctx.Err(), q.giveUp())
}

func (q *quorum) joinOnce() error {
	if there, _, err := q.conn.Exists(quorumPath); err != nil || !there {
		return errors.Join(err, zk.ErrNoNode)
	}
	own, err := memberNode(q.conn, quorumPath)
	q.own = own
	return err
}

// look looks whether there are enough, or were.
func (q *quorum) look() (open bool, err error) {
	number, version, err := q.number()
	if err != nil {
		return false, err
	}
	if ready, _, err := q.conn.Exists(q.ready(version)); ready || err != nil {
		return ready, err
	}
	names, _, err := q.conn.Children(quorumPath)
	if err != nil {
		return false, err
	}
	if !slices.Contains(names, path.Base(q.own)) {
		return false, errGone
	}
	members := slices.DeleteFunc(names, func(name string) bool { return !q.member(name) })
	if !q.enough(len(members), number) {
		return false, nil
	}
	if _, now, err := q.number(); err != nil || now != version {
		return false, err // they have been counted under another number
	}
	return true, q.tell(version)
}

func readyNode(version int32) string { return fmt.Sprintf("%s/ready-%d", quorumPath, version) }

func (q *quorum) readNumber() (int, int32, error) {
	data, stat, err := q.conn.Get(quorumPath)
	if err != nil {
		return 0, 0, err
	}
	n, err := strconv.Atoi(string(data))
	return n, stat.Version, err
}

func (q *quorum) makeReady(version int32) error {
	_, err := q.conn.Create(q.ready(version), nil, 0, acl)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (q *quorum) remove() (err error) {
	for range attempts {
		if err = q.conn.Delete(q.own, -1); err == nil || errors.Is(err, zk.ErrNoNode) || q.own == "" {
			return nil
		}
	}
	return err
}

var plantedThresholds = []Exhibit{
	{
		Title: "sets again whatever was lost", Property: linearizability.Delivery,
		Wrong: quorumOf(func(q *quorum) {
			q.set = func(_ context.Context, members int) (err error) {
				for range attempts {
					if err = q.setOnce(strconv.AppendInt(nil, int64(members), 10)); err == nil {
						return nil
					}
					time.Sleep(100 * time.Millisecond)
				}
				return err
			}
		}),
	},
	{
		Title: "counts what is left of other rounds", Property: linearizability.Safety,
		Wrong: quorumOf(func(q *quorum) { q.member = func(string) bool { return true } }),
	},
	{
		Title: "stays open", Property: linearizability.Safety,
		Wrong: quorumOf(func(q *quorum) {
			q.ready = func(int32) string { return quorumPath + "/ready" }
		}),
	},
	{
		Title: "leaves its node when it gives up", Property: linearizability.Orphans,
		Wrong: quorumOf(func(q *quorum) { q.giveUp = func() error { return nil } }),
	},
	{
		Title: "counts the node of its dying session", Property: linearizability.Safety,
		Wrong: quorumOf(func(q *quorum) {
			session := int64(0)
			q.join = func() error {
				err := q.joinOnce()
				session = q.conn.SessionID()
				return err
			}
			q.number = func() (int, int32, error) {
				if session != q.conn.SessionID() {
					if err := q.join(); err != nil {
						return 0, 0, err
					}
				}
				return q.readNumber()
			}
		}),
	},
	{
		Title: "does not see that the number changes", Property: linearizability.Safety,
		Wrong: quorumOf(func(q *quorum) {
			number, version := 0, int32(0)
			q.number = func() (_ int, _ int32, err error) {
				if number == 0 {
					number, version, err = q.readNumber()
				}
				return number, version, err
			}
		}),
	},
	{Title: "waits for one more", Property: linearizability.Liveness, Wrong: quorumOf(setsOther(+1))},
	{Title: "waits for one less", Property: linearizability.Safety, Wrong: quorumOf(setsOther(-1))},
}

// setOnce writes the number over what is there.
func (q *quorum) setOnce(data []byte) error {
	_, err := q.conn.Set(quorumPath, data, -1)
	if !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	_, err = q.conn.Create(quorumsDir, nil, 0, acl)
	if err == nil || errors.Is(err, zk.ErrNodeExists) {
		_, err = q.conn.Create(quorumPath, data, 0, acl)
	}
	return err
}

// setsOther sets some more or less than it is told to.
func setsOther(more int) func(*quorum) {
	return func(q *quorum) {
		set := q.set
		q.set = func(ctx context.Context, members int) error { return set(ctx, max(1, members+more)) }
	}
}
