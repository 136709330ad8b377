package gallery

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// The exhibits below are found only by scripts that do more in some of their runs.

var rareLocks = []Exhibit{
	planted("tells another token later", linearizability.Fencing,
		object.Lock(func(env object.Env) object.Locker {
			return &agingLock{rightLock: recipes.NewLock(env.Conn, lockDir)}
		})),
	planted("gives the lock back after a minute", safety,
		object.Lock(func(env object.Env) object.Locker {
			return &minuteLock{Locker: recipes.NewLock(env.Conn, lockDir)}
		})),
	planted("makes its directory once", liveness, dirOnce()),
	{Title: "takes what its session holds for its own", Property: safety,
		Wrong: object.Lock(func(env object.Env) object.Locker {
			return &sessionLock{rightLock: recipes.NewLock(env.InTurn(), lockDir),
				conn: env.InTurn()}
		}), Right: builtIn("lock", "recipes.WriteLock")},
}

// dirOnce is a workload of a lock whose clients make the directory with their first locks only.
func dirOnce() scenario.Workload {
	const dir = lockDir + "/line"
	w := object.Lock(func(env object.Env) object.Locker {
		return newLock(env.Conn, dir, func(l *plainLock) {
			made, join := false, l.join
			l.join = func() error {
				if !made {
					_, err := l.conn.CreateContainer(dir, nil, zk.FlagContainer, acl)
					if err != nil && !errors.Is(err, zk.ErrNodeExists) {
						return err
					}
					made = true
				}
				return join()
			}
			l.makeDir = func() error { return errFailed } // wrong: the server removes an empty one
		})
	}, object.LockClaims{LeavesAtRest: []string{dir}})
	w.Nodes = map[string]string{lockDir: ""}
	return w
}

var rareQueue = Exhibit{
	Title: "takes one beginning for one element", Property: delivery,
	Wrong: object.Queue(func(env object.Env) object.Queuer {
		return &firstBytes{Queue: recipes.NewQueue(env.Conn, queueDir)}
	}, object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
	}),
}

var rareValue = Exhibit{
	Title: "has a byte for the length", Property: linearizable,
	Wrong: object.Value(func(env object.Env) object.Valuer {
		v := recipes.NewSharedValue(env.Conn, valuePath)
		return byteLong{builtin.SharedValue{SharedValue: v}}
	}), Right: builtIn("value", "recipes.SharedValue"),
}

var rareIDs = Exhibit{
	Title: "counts in a container", Property: safety, Right: numberedIn(func(c *zk.Conn) error {
		_, err := c.Create(idsDir, nil, 0, acl)
		return err
	}),
	Wrong: numberedIn(func(c *zk.Conn) error { // wrong: the server removes an empty one
		_, err := c.CreateContainer(idsDir, nil, zk.FlagContainer, acl)
		return err
	}),
}

var rareElection = Exhibit{
	Title: "remembers the leader for a moment", Property: answers,
	Wrong: object.Election(func(env object.Env) object.Elector {
		l := newLock(env.Conn, lockDir)
		l.data = []byte(env.Name)
		return &shortMemory{oldAnswer: oldAnswer{candidate: candidate{l}}}
	}, oneWaiterWoken),
}

var rareMembers = []Exhibit{
	planted("takes those along whose names begin like its own", safety, memberOf(func(m *member) {
		remove := m.leave
		m.leave = func() error {
			names, _ := m.list()
			for _, name := range names {
				if name != m.name && strings.HasPrefix(name, m.name) {
					_ = m.conn.Delete(membersDir+"/"+name, -1) // wrong
				}
			}
			return remove()
		}
	})),
	planted("opens what it has closed", liveness,
		beside(object.Membership(onePerConn(func(env object.Env) object.Roster {
			return &closedMember{member: newMember(env)}
		})), membersDir)),
}

var rareConfig = Exhibit{
	Title: "writes once more when it closes", Property: delivery,
	Wrong: openConfig(func(c *config) object.Configurer {
		w := &lastWriter{config: c}
		c.update = func(ctx context.Context, key string, value []byte, version int32) error {
			w.again, w.wrote = func() { _, _ = c.conn.Set(keyPath(key), value, -1) }, time.Now()
			return c.ConfigCenter.Update(ctx, key, value, version)
		}
		return w
	}),
}

// agingLock counts its token up when it is asked again.
type agingLock struct {
	*rightLock
	asked int64
}

func (l *agingLock) Lock(ctx context.Context) error {
	l.asked = -1
	return l.rightLock.Lock(ctx)
}

func (l *agingLock) Token() int64 {
	l.asked++
	return l.rightLock.Token() + l.asked
}

// minuteLock lends the lock for a minute.
type minuteLock struct {
	object.Locker
	over *time.Timer
}

func (l *minuteLock) Lock(ctx context.Context) error {
	err := l.Locker.Lock(ctx)
	if err == nil {
		l.over = time.AfterFunc(time.Minute, func() { _ = l.Locker.Unlock(context.Background()) })
	}
	return err
}

func (l *minuteLock) Unlock(ctx context.Context) error {
	l.over.Stop()
	return l.Locker.Unlock(ctx)
}

// shortMemory asks for the leader again after 30 ms.
type shortMemory struct {
	oldAnswer
	asked time.Time
}

func (c *shortMemory) Leader(ctx context.Context) (string, int64, error) {
	if time.Since(c.asked) > 30*time.Millisecond {
		c.leader, c.asked = "", time.Now()
	}
	return c.oldAnswer.Leader(ctx)
}

const idsDir = "/ids"

// numberedIn is a workload of a generator that takes the numbers of sequential nodes.
func numberedIn(makeDir func(*zk.Conn) error) scenario.Workload {
	return object.IDGenerator(func(env object.Env) object.IDSource {
		return nodeNumbers{conn: env.Conn, makeDir: makeDir}
	}, uncounted)
}

type nodeNumbers struct {
	conn    *zk.Conn
	makeDir func(*zk.Conn) error
}

func (g nodeNumbers) Next(context.Context) (int64, error) {
	if err := ignore(g.makeDir(g.conn), zk.ErrNodeExists); err != nil {
		return 0, err
	}
	node, err := g.conn.Create(idsDir+"/n-", nil, zk.FlagEphemeralSequential, acl)
	if err != nil {
		return 0, err
	}
	if err := remove(g.conn, node); err != nil {
		return 0, err
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(node, idsDir+"/n-"), 10, 64)
	return 1 + number, err
}

// firstBytes drops elements that begin as the last one, as if that had been delivered twice.
type firstBytes struct {
	*recipes.Queue
	last []byte
}

func (q *firstBytes) Take(ctx context.Context) ([]byte, error) {
	for {
		data, err := q.Queue.Take(ctx)
		first := data[:min(100, len(data))]
		if err != nil || !bytes.Equal(first, q.last) {
			q.last = first
			return data, err
		}
	}
}

// byteLong shows as many bytes of a value as a length of one byte can say.
type byteLong struct{ builtin.SharedValue }

func (v byteLong) Get(ctx context.Context) (object.ValueState, error) {
	state, err := v.SharedValue.Get(ctx)
	state.Data = state.Data[:len(state.Data)%256]
	return state, err
}

// onePerConn opens an object once for each connection, and returns the same one afterwards.
func onePerConn[T any](open func(object.Env) T) func(object.Env) T {
	var opened sync.Map
	return func(env object.Env) T {
		if before, ok := opened.Load(env.Conn); ok {
			return before.(T)
		}
		one := open(env)
		opened.Store(env.Conn, one)
		context.AfterFunc(env.Context, func() { opened.Delete(env.Conn) })
		return one
	}
}

// closedMember shows nothing any more when it was closed.
type closedMember struct {
	*member
	closed bool
}

func (m *closedMember) Close(context.Context) error {
	m.closed = true
	return nil
}

func (m *closedMember) View(ctx context.Context) (string, error) {
	if m.closed {
		return "", errGone
	}
	return m.member.View(ctx)
}

// lastWriter sends its last update again if it is closed soon after that.
type lastWriter struct {
	*config
	again func()
	wrote time.Time
}

func (c *lastWriter) Close(ctx context.Context) error {
	if c.again != nil && time.Since(c.wrote) < 5*time.Second {
		c.again()
	}
	return c.config.Close(ctx)
}

// sessionLock finds the node of its session that comes first, and takes it for that of an attempt
// whose reply was lost, as the lock of the Apache recipes does. It may be another lock's.
type sessionLock struct {
	*rightLock
	conn  recipes.Conn
	found int64
}

func (l *sessionLock) Lock(ctx context.Context) error {
	names, _, err := l.conn.Children(lockDir)
	if err := ignore(err, zk.ErrNoNode); err != nil {
		return err
	}
	if len(names) > 0 {
		first := slices.MinFunc(names, byNumber)
		exists, stat, err := l.conn.Exists(lockDir + "/" + first)
		if err == nil && exists && stat.EphemeralOwner == l.conn.SessionID() {
			l.found = stat.Czxid // wrong
			return nil
		}
	}
	return l.rightLock.Lock(ctx)
}

func (l *sessionLock) Token() int64 { return cmp.Or(l.found, l.rightLock.Token()) }

func (l *sessionLock) Unlock(ctx context.Context) error {
	if l.found != 0 {
		l.found = 0
		return nil
	}
	return l.rightLock.Unlock(ctx)
}
