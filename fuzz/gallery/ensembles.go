package gallery

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// Exhibits that need an ensemble. A follower answers reads from its own tree, which may be older
// than the leader's. A leader that was deposed and does not know answers from its own, too, even
// after a sync. The right recipes send a write that changes nothing before they read.

// onThree is a script against an ensemble of three servers.
var onThree = scenario.Script{
	Clients: scenario.DefaultScript.Clients, Rounds: scenario.DefaultScript.Rounds, Servers: 3,
}

var ensembleLocks = []Exhibit{
	{Slug: "queued-by-clock", Title: "the nodes are ordered by the leader's clock",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The contenders are ordered by ctime, the time at which the leader made their " +
			"nodes. The next leader's clock is slow: a node that it makes is older than that of " +
			"the owner, and its client finds itself the first.",
		Property: safety,
		// wrong: each leader has its own clock
		Wrong:  lockOf(func(l *plainLock) { l.ahead = l.olderNode(ctime) }),
		Right:  lockOf(func(l *plainLock) { l.ahead = l.olderNode(czxid) }),
		Script: onThree},
	{Slug: "token-without-epoch", Title: "a fencing token of 32 bits",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The token is the czxid of the owner's node, in a field of 32 bits. The bits that " +
			"are left out are the epoch of the leader: when another one leads the tokens begin " +
			"anew, and the resource turns the owner away.",
		Property: linearizability.Fencing, Wrong: openLock(func(l *plainLock) object.Locker {
			return shortToken{l} // wrong: the epoch is in the upper half
		}), Script: onThree},
	{Slug: "lease-until-last-answer", Title: "a lease until the last answer and the timeout",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The owner takes the lock for its own until the session's timeout after the last " +
			"answer. The answer came from a follower that is cut off: the leader has heard " +
			"nothing of the session since then, and ends it before.",
		Property: belief,
		// wrong: a server answers a read alone
		Wrong: leaseOf(scenario.SessionTimeout, true, func(l *plainLock) error {
			return l.confirmOwner()
		}),
		Right: leaseOf(scenario.SessionTimeout*2/3, false, func(l *plainLock) error {
			return errors.Join(confirm(l.conn, l.dir), l.confirmOwner())
		}),
		Script: onThree},
}

// leaseOf is a workload of a lock that is valid for a while after each renewal. Its owners work for
// longer than a session lasts.
func leaseOf(
	valid time.Duration, fromAnswer bool, renew func(l *plainLock) error,
) scenario.Workload {
	lease := claims
	lease.Lease = true
	w := object.Lock(func(object.Env) object.Locker { return nil }, lease)
	return beside(playing(w, func(p *scenario.Player, _ int) {
		l := &leasedLock{plainLock: newLock(p.Conn(), lockDir), valid: valid,
			fromAnswer: fromAnswer, renew: renew}
		p.Persist(func(int) error { return do(p, ops.Lock, "", l.Lock) })
		p.AtCall(p.Heed(0, l.lost))
		p.Pause(scenario.LongHold)
		p.Persist(func(int) error { return do(p, ops.Unlock, "", l.Unlock) })
	}), lockDir)
}

// leasedLock is a lock whose owner renews its lease twice a second.
type leasedLock struct {
	*plainLock
	valid      time.Duration
	fromAnswer bool // valid from the answer to a renewal, and not from its request
	renew      func(l *plainLock) error

	lost, unlocked chan struct{}
}

func (l *leasedLock) Lock(ctx context.Context) error {
	if err := l.plainLock.Lock(ctx); err != nil {
		return err
	}
	for {
		began := time.Now()
		if err := l.renew(l.plainLock); err != nil {
			return errors.Join(err, l.Unlock(ctx))
		}
		if end := l.end(began); time.Until(end) > l.valid/2 {
			l.lost, l.unlocked = make(chan struct{}), make(chan struct{})
			go l.keep(end, l.lost, l.unlocked)
			return nil
		}
	}
}

// end is when the lease ends that a renewal has begun which has its answer now.
func (l *leasedLock) end(began time.Time) time.Time {
	if l.fromAnswer {
		began = time.Now()
	}
	return began.Add(l.valid)
}

// keep renews the lease until the lock is unlocked, and tells its owner of the end of a lease.
func (l *leasedLock) keep(end time.Time, lost, unlocked chan struct{}) {
	session, renewed := l.conn.SessionID(), make(chan time.Time, 1)
	renew := func(end time.Time) {
		began := time.Now()
		if l.renew(l.plainLock) == nil {
			end = l.end(began)
		}
		renewed <- end
	}
	soon := func() <-chan time.Time {
		return time.After(max(min(time.Second, time.Until(end))/2, time.Millisecond))
	}
	for next := soon(); ; {
		select {
		case <-unlocked:
			return
		case <-time.After(time.Until(end)):
			close(lost)
			return
		case <-next:
			if l.conn.SessionID() != session {
				close(lost)
				return
			}
			go renew(end)
		case end = <-renewed:
			next = soon()
		}
	}
}

func (l *leasedLock) Unlock(ctx context.Context) error {
	if l.unlocked != nil {
		close(l.unlocked)
		l.unlocked = nil
	}
	return l.plainLock.Unlock(ctx)
}

// shortToken is a lock with half a token.
type shortToken struct{ *plainLock }

func (l shortToken) Token() int64 { return int64(uint32(l.token)) }

// syncWith waits until the server of the connection has applied all that the leader has decided.
func syncWith(conn *zk.Conn, path string) error {
	return repeat(func() error {
		_, err := conn.Sync(path)
		return err
	})
}

// syncOnce is syncWith for a recipe that returns each error.
func syncOnce(conn *zk.Conn, path string) error {
	_, err := conn.Sync(path)
	return err
}

// confirm makes the next read see all writes that were answered before: a majority stores the check
// of a node, which changes nothing.
func confirm(conn *zk.Conn, path string) error {
	_, err := conn.Multi(&zk.CheckVersionRequest{Path: path, Version: -1})
	return ignore(err, zk.ErrNoNode)
}

// confirmWith is confirm, repeated until it is answered.
func confirmWith(conn *zk.Conn, path string) error {
	return repeat(func() error { return confirm(conn, path) })
}

var ensembleValues = []Exhibit{
	{Slug: "value-of-the-past", Title: "a value is read without a sync",
		Source: Text, Link: "https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#ch_zkGuarantees",
		Bug: "A client writes a value and tells another client, which reads it from a follower " +
			"that has not applied the write. The guide says so, and that a sync before the read " +
			"helps.",
		Property: linearizable, Wrong: valueOf(value{}), // wrong: the answer may be old
		Right:  valueOf(value{before: confirm}),
		Script: onThree},
	{Slug: "value-of-a-deposed-leader", Title: "a value is read after a sync alone",
		Source: Report, Link: "https://issues.apache.org/jira/browse/ZOOKEEPER-2136",
		See: []string{"ZOOKEEPER-1675"},
		Bug: "The leader is cut off from the others, or stands still, and they elect another " +
			"one, which acknowledges a write. For a while the old leader does not know. It asks " +
			"nobody when it answers a sync, and the read after it shows the old value.",
		Property: linearizable,
		Wrong:    valueOf(value{before: syncOnce}), // wrong: the server may have been the leader
		Right:    valueOf(value{before: confirm}),
		Script:   onThree},
	{Slug: "read-on-another-connection", Title: "own writes are read on another connection",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "A client writes on one connection and reads on another, which leads to a follower " +
			"that is behind. ZooKeeper promises its own writes to a session, and this is another.",
		Property: linearizable,
		Wrong:    readElsewhere(nil), // wrong: the other session has seen less
		Right:    readElsewhere(confirm),
		Script:   onThree},
}

// readElsewhere is a workload of a value that is read on a connection of its own.
func readElsewhere(before func(conn *zk.Conn, path string) error) scenario.Workload {
	return object.Value(func(env object.Env) object.Valuer {
		reads, _ := env.Connect()
		return &twoConnections{value{conn: env.Conn}, value{conn: reads, before: before}}
	})
}

// twoConnections is a value that is written on one connection and read on another.
type twoConnections struct{ value, reads value }

func (v *twoConnections) Get(ctx context.Context) (object.ValueState, error) {
	return v.reads.Get(ctx)
}

func (v *twoConnections) Set(ctx context.Context, data []byte) (object.ValueState, error) {
	return v.value.Set(ctx, data)
}

func (v *twoConnections) CompareAndSet(ctx context.Context, seen object.ValueState, data []byte) (
	object.ValueState, bool, error) {
	return v.value.CompareAndSet(ctx, seen, data)
}

var ensembleCounters = []Exhibit{
	{Slug: "count-of-the-past", Title: "a counter is read without a sync",
		Source: Text, Link: "https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#ch_zkGuarantees",
		Bug: "A client adds to a counter and tells another client, which reads it from a follower " +
			"that has not applied the addition.",
		Property: linearizable, Wrong: readableOf(nil), // wrong: the answer may be old
		Right:  readableOf(confirm),
		Script: onThree},
	{Slug: "count-at-a-deposed-leader", Title: "a counter is read after a sync alone",
		Source: Report, Link: "https://issues.apache.org/jira/browse/ZOOKEEPER-2136",
		Bug: "The leader is cut off from the others, or stands still, and they elect another " +
			"one, which acknowledges an addition. The old leader does not know yet, and answers " +
			"the sync and the read of a client that is still connected to it.",
		Property: linearizable,
		Wrong:    readableOf(syncOnce), // wrong: the server may have been the leader
		Right:    readableOf(confirm),
		Script:   onThree},
}

// readableOf is a workload of a counter that is read; before, unless nil, comes first.
func readableOf(before func(conn *zk.Conn, path string) error) scenario.Workload {
	return object.Counter(func(env object.Env) object.Counterer {
		return &readable{counter{conn: env.Conn}, before}
	})
}

type readable struct {
	counter
	before func(conn *zk.Conn, path string) error
}

func (c *readable) Get(context.Context) (int64, error) {
	if c.before != nil {
		if err := c.before(c.conn, counterPath); err != nil {
			return 0, err
		}
	}
	sum, _, err := c.read()
	return sum, ignore(err, zk.ErrNoNode)
}

var ensembleConfigs = []Exhibit{
	{Slug: "setting-of-the-past", Title: "a setting is fetched without a sync",
		Source: Text, Link: "https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#ch_zkGuarantees",
		Bug: "A fetch is to tell what the setting is, and not what a copy has. It asks a " +
			"follower " +
			"that has not applied the last update, whose author has told others of it.",
		Property: linearizable, Wrong: configOf(func(c *config) {
			c.fetch = func(_ context.Context, key string) (object.ValueState, error) {
				return fetchOnce(c.conn, key) // wrong: the answer may be old
			}
		}), Right: configOf(), Script: onThree},
}

// fetchOnce reads a setting from the server of the connection.
func fetchOnce(conn *zk.Conn, key string) (object.ValueState, error) {
	data, stat, err := conn.Get(keyPath(key))
	if err != nil {
		return object.ValueState{}, ignore(err, zk.ErrNoNode)
	}
	return object.ValueState{Data: data, Exists: true, Version: stat.Version}, nil
}

var ensembleBarriers = []Exhibit{
	{Slug: "passed-on-a-follower", Title: "a follower does not know the barrier yet",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "A barrier is set, and its maker tells the others. A client that waits comes to a " +
			"follower that has not applied the create: there is no barrier, so it goes on.",
		Property: linearizable, Wrong: barrierOf(plainBarrier{}), // wrong: it may be set
		Right:  barrierOf(plainBarrier{before: confirm}),
		Script: onThree},
	{Slug: "passed-at-a-deposed-leader", Title: "a barrier is looked for after a sync alone",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The leader is cut off, and the others elect another one, where a barrier is set. " +
			"The old leader does not know yet. It answers the sync of a client that waits, and " +
			"shows no barrier, so the client goes on.",
		Property: linearizable,
		Wrong:    barrierOf(plainBarrier{before: syncOnce}), // wrong: it may be set elsewhere
		Right:    barrierOf(plainBarrier{before: confirm}),
		Script:   onThree},
}

var ensembleElections = []Exhibit{
	{Slug: "leader-of-the-past", Title: "two leaders, by two servers",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "A client asks a follower who leads, and gets the name of a leader whose node the " +
			"ensemble has removed, while another one leads and has said so.",
		Property: answers, Wrong: asked(nothingFirst), // wrong: the follower may be behind
		Right:  asked(confirmWith),
		Script: onThree},
	{Slug: "leader-at-a-deposed-server", Title: "the leader is asked for after a sync alone",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The server that leads the ensemble is cut off, and the others elect another one. " +
			"There a candidate resigns, and the next one leads. A client of the old server asks " +
			"who leads. Even after a sync it gets the name of the one that has resigned.",
		Property: answers, Wrong: asked(syncWith), // wrong: the server may have been the leader
		Right:  asked(confirmWith),
		Script: onThree},
}

func nothingFirst(*zk.Conn, string) error { return nil }

// asked is a workload of an election with candidates that ask for the leader; first is what they do
// before they ask.
func asked(first func(*zk.Conn, string) error) scenario.Workload {
	return beside(object.Election(func(env object.Env) object.Elector {
		l := newLock(env.Conn, lockDir)
		l.data = []byte(env.Name)
		return &answering{candidate{l}, first}
	}, oneWaiterWoken), lockDir)
}

// answering is a candidate with a method that returns the leader.
type answering struct {
	candidate
	first func(*zk.Conn, string) error
}

// Leader is the candidate with the first node.
func (c *answering) Leader(context.Context) (name string, epoch int64, err error) {
	if err := c.first(c.conn, c.dir); err != nil {
		return "", 0, err
	}
	err = zk.ErrNoNode // of a node that goes meanwhile
	for errors.Is(err, zk.ErrNoNode) {
		var queue []string
		if queue, _, err = c.conn.Children(c.dir); err != nil || len(queue) == 0 {
			return "", 0, err
		}
		var data []byte
		stat := &zk.Stat{}
		data, stat, err = c.conn.Get(c.path(c.sorted(queue)[0]))
		if err == nil {
			name, epoch = string(data), stat.Czxid
		}
	}
	return name, epoch, err
}
