package museum

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

// quorum is the threshold barrier of tutorials: the number is the data of a node, whose
// children are the members, which look once a second. Who finds enough leaves a
// node for the others, named after the version of the number. An exhibit replaces a
// step of it by a wrong one.
type quorum struct {
	conn *zk.Conn
	own  string // path of the own node

	join   func() error
	number func() (n int, version int32, err error)
	enough func(members, n int) bool
	tell   func(version int32) error // the others that there were enough
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
		if replace != nil {
			replace(q)
		}
		return q
	}, claims).Named("")
}

func (q *quorum) Set(ctx context.Context, members int) error {
	return recipes.NewThresholdBarrier(q.conn, quorumPath).Set(ctx, members)
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
	if ready, _, err := q.conn.Exists(readyNode(version)); ready || err != nil {
		return ready, err
	}
	names, _, err := q.conn.Children(quorumPath)
	if err != nil {
		return false, err
	}
	if !slices.Contains(names, path.Base(q.own)) {
		return false, errGone
	}
	members := slices.DeleteFunc(names, func(name string) bool { return !isMember(name) })
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
	_, err := q.conn.Create(readyNode(version), nil, 0, acl)
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
