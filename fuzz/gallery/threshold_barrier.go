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
	"github.com/zksim/zksim/recipes"
)

var publishedThresholdBarrier = []Exhibit{
	{Slug: "exactly-enough", Alias: "S4-29", Title: "one more than enough is not enough",
		Source: Code, Link: "https://github.com/asgokhale/DistributedSystemsCourse/blob/d2f3567306e311b6858bd2e032c2b5c42573e9d7/ZooKeeper/BarrierMininet/zkbarrier_client.py#L118",
		Bug: "The barrier opens when just so many are there as it says. Members come without " +
			"asking: with one more than that, or when the number is made smaller, it never opens.",
		Property: liveness, Wrong: thresholdOf(func(b *plainThreshold) {
			b.enough = func(members, n int) bool { return members == n } // wrong: or more
		})},
	{Slug: "seen-by-first-only", Alias: "S4-30", Title: "the slow find the barrier closed again",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		Bug: "Each member looks every now and then whether enough are there, and keeps no record " +
			"of that. The first that sees enough goes on, and deletes its node. For all that " +
			"look later that one is missing for ever.",
		Property: liveness, Wrong: thresholdOf(func(b *plainThreshold) {
			b.tell = func(int32) error { return nil } // wrong: the others do not know
		})},
	{Slug: "member-before-number", Alias: "S4-31", Title: "a member comes before the number",
		Source: Ours, Remark: unreadArticle,
		Bug: "A new member makes the parents of its node, the barrier itself among them, with no " +
			"number in it. Then it cannot read the number, fails, and leaves its node.",
		Property: orphans, Wrong: thresholdOf(func(b *plainThreshold) {
			b.join = func() error {
				for _, path := range []string{thresholdsDir, thresholdPath} {
					_, err := b.conn.Create(path, nil, 0, acl)
					if ignore(err, zk.ErrNodeExists) != nil {
						return err
					}
				}
				return b.joinOnce()
			}
			b.number = func() (int, int32, error) {
				n, version, err := b.readNumber()
				if errors.Is(err, strconv.ErrSyntax) {
					err = errFailed // wrong: the own node stays
				}
				return n, version, err
			}
		})},
	{Slug: "last-round-counted", Alias: "S4-35", Title: "members of the round before are counted",
		Source: Report, Link: "https://github.com/apache/curator/issues/601",
		Bug: "A member that has passed leaves its node until it comes again, or its session " +
			"ends. The members of the next round count it, and are enough too soon.",
		Property: safety, Wrong: thresholdOf(func(b *plainThreshold) {
			b.leave = nothing // wrong: the node counts
			join := b.join
			b.join = func() error {
				if b.own != "" {
					if err := b.remove(); err != nil {
						return err
					}
				}
				return join()
			}
		})},
}

// plainThreshold is the threshold barrier of tutorials in steps: the number is the data of a node,
// and its children are the members, which look once a second. A member that finds enough leaves a
// node for the others, named after the version of the number. An exhibit replaces a step by a wrong
// one.
type plainThreshold struct {
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
	thresholdsDir = "/thresholds"
	thresholdPath = thresholdsDir + "/t"
)

// thresholdOf is a workload of a threshold barrier with some steps replaced.
func thresholdOf(steps ...func(*plainThreshold)) scenario.Workload {
	return object.ThresholdBarrier(func(env object.Env) object.ThresholdBarrierer {
		b := &plainThreshold{conn: env.Conn}
		b.join, b.number, b.member, b.ready = b.joinOnce, b.readNumber, isMember, readyNode
		b.tell, b.giveUp, b.leave = b.makeReady, b.remove, b.remove
		b.enough = func(members, n int) bool { return members >= n }
		b.set = recipes.NewThresholdBarrier(env.Conn, thresholdPath).Set
		return with(b, steps)
	}, object.BarrierClaims{LeavesAtRest: []string{thresholdPath + "/ready*"}})
}

func (b *plainThreshold) Set(ctx context.Context, members int) error {
	return b.set(ctx, members)
}

func (b *plainThreshold) Wait(ctx context.Context) error {
	for joined := false; ctx.Err() == nil; time.Sleep(time.Second) {
		if !joined {
			if err := b.join(); errors.Is(err, zk.ErrNoNode) {
				continue // it is not set yet
			} else if err != nil {
				return err
			}
			joined = true
		}
		open, err := b.look()
		switch {
		case errors.Is(err, errGone): // with the session
			joined = false
		case errors.Is(err, errFailed):
			return err
		case err == nil && open:
			return b.leave()
		}
	}
	return errors.Join(ctx.Err(), b.giveUp())
}

func (b *plainThreshold) joinOnce() (err error) {
	if there, _, err := b.conn.Exists(thresholdPath); err != nil || !there {
		return errors.Join(err, zk.ErrNoNode)
	}
	b.own, err = memberNode(b.conn, thresholdPath)
	return err
}

// look looks whether there are enough, or were.
func (b *plainThreshold) look() (open bool, err error) {
	number, version, err := b.number()
	if err != nil {
		return false, err
	}
	if ready, _, err := b.conn.Exists(b.ready(version)); ready || err != nil {
		return ready, err
	}
	names, _, err := b.conn.Children(thresholdPath)
	if err != nil {
		return false, err
	}
	if !slices.Contains(names, path.Base(b.own)) {
		return false, errGone
	}
	members := slices.DeleteFunc(names, func(name string) bool { return !b.member(name) })
	if !b.enough(len(members), number) {
		return false, nil
	}
	if _, now, err := b.number(); err != nil || now != version {
		return false, err // they have been counted under another number
	}
	return true, b.tell(version)
}

func readyNode(version int32) string { return fmt.Sprintf("%s/ready-%d", thresholdPath, version) }

func (b *plainThreshold) readNumber() (int, int32, error) {
	data, stat, err := b.conn.Get(thresholdPath)
	if err != nil {
		return 0, 0, err
	}
	n, err := strconv.Atoi(string(data))
	return n, stat.Version, err
}

func (b *plainThreshold) makeReady(version int32) error {
	_, err := b.conn.Create(b.ready(version), nil, 0, acl)
	return ignore(err, zk.ErrNodeExists)
}

func (b *plainThreshold) remove() error {
	if b.own == "" {
		return nil
	}
	return remove(b.conn, b.own)
}

var plantedThresholds = []Exhibit{
	planted("sets again whatever was lost", delivery, thresholdOf(setsAgain)),
	planted("counts what is left of other rounds", safety, thresholdOf(func(b *plainThreshold) {
		b.member = func(string) bool {
			return true
		}
	})),
	planted("stays open", safety, thresholdOf(func(b *plainThreshold) {
		b.ready = func(int32) string { return thresholdPath + "/ready" }
	})),
	planted("leaves its node when it gives up", orphans,
		thresholdOf(func(b *plainThreshold) { b.giveUp = nothing })),
	planted("does not see that the number changes", safety, thresholdOf(func(b *plainThreshold) {
		number, version := 0, int32(0)
		b.number = func() (_ int, _ int32, err error) {
			if number == 0 {
				number, version, err = b.readNumber()
			}
			return number, version, err
		}
	})),
	planted("waits for one more", liveness, thresholdOf(setsOther(+1))),
	planted("waits for one less", safety, thresholdOf(setsOther(-1))),
}

// setsAgain repeats a set with a lost reply, over any later number.
func setsAgain(b *plainThreshold) {
	b.set = func(_ context.Context, members int) error {
		data := strconv.AppendInt(nil, int64(members), 10)
		return repeat(func() error {
			time.Sleep(100 * time.Millisecond)
			_, _ = b.conn.Create(thresholdsDir, nil, 0, acl)
			_, err := b.conn.Create(thresholdPath, data, 0, acl)
			if errors.Is(err, zk.ErrNodeExists) {
				_, err = b.conn.Set(thresholdPath, data, -1)
			}
			return err
		})
	}
}

// setsOther sets another number than it is told to.
func setsOther(more int) func(*plainThreshold) {
	return func(b *plainThreshold) {
		set := b.set
		b.set = func(ctx context.Context, members int) error {
			return set(ctx, max(1, members+more))
		}
	}
}
