package object

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/cache"
	"github.com/zksim/zksim/linearizability/ops"
)

// Cacher is a cache under test. Ready waits until everything was read once. Nodes returns the
// content, and Stale reports whether the cache knows that it may be out of date. A cache may begin
// to read when it is made or with Ready. The events of an Eventer are tested, too.
type Cacher interface {
	Ready(ctx context.Context) error
	Nodes() []CachedNode
	Stale() bool
	Close(ctx context.Context) error
}

// CachedNode is a znode as a cache shows it. Zxid is the mzxid of the data.
type CachedNode struct {
	Path string
	Data []byte
	Zxid int64
}

// CacheEvent is one change of a cache. Node is the znode as the cache shows it after the event; for
// NodeRemoved, before it.
type CacheEvent struct {
	Kind CacheEventKind
	Node CachedNode
}

// CacheEventKind is the kind of a change of a cache.
type CacheEventKind string

// The kinds of changes. An update has another Zxid.
const (
	NodeAdded   CacheEventKind = "added"
	NodeUpdated CacheEventKind = "updated"
	NodeRemoved CacheEventKind = "removed"
)

// Eventer is a Cacher with events. TryNext returns the next event if there is one. All events so
// far, applied to an empty cache, must give the result of Nodes.
type Eventer interface {
	TryNext() (CacheEvent, bool)
}

// CacheClaims are the promises of a cache.
type CacheClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the cached node, or the directory; "" means /cache.
	Path string
	// Levels is the number of levels below Path that are cached; below 0 means all.
	Levels int
	// Rootless says that Path is not cached, only the znodes below it.
	Rootless bool
	// Silent says that the cache has no events.
	Silent bool
	// Recheck is the time after which the cache reads again without an event, in case the client
	// has lost one; 0 if it never does.
	Recheck time.Duration
}

// Cache makes a workload of a cache. Each client calls open once, on an empty tree or on one that
// it has filled; one in three closes its cache half-way and opens another. Twice a round it changes
// a znode in the cached part of the tree or near it, through its connection, and looks several
// times into its cache. At the end it waits until all faults are over and looks once more.
func Cache(open func(Env) Cacher, given ...CacheClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/cache")
	return scenario.Workload{
		Name:  "cache",
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			c := &cachePlayer{client: p, path: claims.Path, open: opener(open, claims.Path)}
			if p.Choose("late", 3) == 0 {
				c.fill()
			}
			c.begin()
			for turn := range p.Rounds(2 * s.Rounds) {
				c.reopen(turn == s.Rounds)
				p.Rest(turn)
				c.change(turn)
				c.look(turn)
			}
			c.settle()
			c.close()
		},
		Length: func(scenario.Script) time.Duration { return 3 * cacheRest },
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Judge(withNames(e.History), e.Rest, claims.of(e)), nil
		},
		Properties: claims.of(scenario.Evidence{}).Properties(),
	}
}

// of are the claims of a run.
func (c CacheClaims) of(e scenario.Evidence) cache.Claims {
	return cache.Claims{
		Path: c.Path, Levels: c.Levels, Rootless: c.Rootless, Events: !c.Silent,
		Patience: maxStaleness(e.Plan, c.Recheck),
	}
}

// cacheRest is the time for which a client waits before its last look: longer than a few short
// faults, the sessions that they end, and a recheck after that.
const cacheRest = 40 * time.Second

// maxStaleness is the longest time after the last change for which the faults of a plan may keep a
// cache out of date. It is 0 if the last look may come earlier.
func maxStaleness(plan []fault.Fault, recheck time.Duration) time.Duration {
	d := 2 * scenario.SessionTimeout
	for _, f := range plan {
		d += f.For
	}
	for _, f := range plan {
		d = max(d, f.At+f.For+2*scenario.SessionTimeout)
	}
	if d += recheck; d >= cacheRest {
		return 0
	}
	return d
}

type cachePlayer struct {
	client *scenario.Player
	open   func(*scenario.Player) Cacher
	cache  Cacher
	path   string
	events []cache.Change // since the last look that was recorded
	shown  []cache.Node   // by that look
}

// fill makes a tree before the cache is opened.
func (p *cachePlayer) fill() {
	for i, node := range []string{"", p.node("/a"), p.node("/b"), p.node("/a/x")} {
		data := p.data("%s-%d", i)
		_, err := p.client.Conn().Create(p.path+node, data, 0, zk.WorldACL(zk.PermAll))
		if err != nil {
			p.client.Pause(retryPause)
		}
	}
}

// data is what the client stores in a turn; format names it.
func (p *cachePlayer) data(format string, turn int) []byte {
	if isEmpty(p.client, turn) {
		return nil
	}
	return payloadOf(named(p.client, fmt.Sprintf(format, p.client.Name(), turn)))
}

// node is the path of a node below that of the cache: in one run of three a name is a prefix of
// another.
func (p *cachePlayer) node(path string) string {
	if path == "/b" && p.client.OfRun("prefixes", 3) == 0 {
		return "/ab"
	}
	return path
}

// begin opens a cache. To the judge a new cache is the old one without any node.
func (p *cachePlayer) begin() {
	for _, n := range p.shown {
		p.events = append(p.events, cache.Change{
			Kind: string(NodeRemoved), Node: n,
		})
	}
	p.cache = p.open(p.client)
	p.ready()
}

// reopen closes the cache half-way and opens another, for one client in three.
func (p *cachePlayer) reopen(halfway bool) {
	if halfway && p.client.Choose("again", 3) == 0 {
		p.close()
		p.begin()
	}
}

func (p *cachePlayer) ready() {
	p.client.Persist(func(int) error {
		return p.client.Call(ops.Ready, "", p.cache.Ready)
	})
}

// change changes one znode by a request that is sent once. The log of the server says whether it
// took effect. A znode that is deleted and soon made again has the same version.
func (p *cachePlayer) change(turn int) {
	nodes := []string{"", "/a", "/b", "/a/x", "/a", "/b"}
	path := p.path + p.node(nodes[p.client.Choose(scenario.At("node", turn), len(nodes))])
	data := p.data("%s%d", turn)
	conn := p.client.Conn()
	_, err := conn.Create(path, data, 0, zk.WorldACL(zk.PermAll))
	if err == nil {
		return
	}
	switch p.client.Choose(scenario.At("change", turn), 3) {
	case 0:
		err = conn.Delete(path, -1)
	case 1:
		_, err = conn.Set(path, data, -1)
	default:
		if err = conn.Delete(path, -1); err == nil {
			_, err = conn.Create(path, data, 0, zk.WorldACL(zk.PermAll))
		}
	}
	if err != nil {
		p.client.Pause(retryPause)
	}
}

// look looks into the cache twice, now and then after some seconds.
func (p *cachePlayer) look(turn int) {
	for i := range 2 {
		d := time.Duration(p.client.Choose(scenario.At("pause", turn, i), 30_000)) * time.Microsecond
		if p.client.Choose(scenario.At("long pause", turn, i), 4) == 0 {
			d += 3 * time.Second
		}
		if !p.client.Pause(d) {
			return
		}
		p.record(p.client.Begin(ops.Look, ""), p.snapshot())
	}
}

// settle waits until all faults are over and the cache is not stale, and looks.
func (p *cachePlayer) settle() {
	c := p.client.Begin(ops.Settle, "")
	if !p.client.Pause(cacheRest) {
		return
	}
	for {
		look := p.snapshot()
		if !look.Stale {
			p.record(c, look)
			return
		}
		if !p.client.Pause(time.Second) {
			return
		}
	}
}

// snapshot looks at state, events and nodes at one moment: it reads the nodes again if an event
// comes meanwhile.
func (p *cachePlayer) snapshot() cache.Look {
	down := p.down()
	look := cache.Look{Stale: p.cache.Stale()}
	look.Down = down && p.down()
	p.takeEvents()
	nodes := p.cache.Nodes()
	for p.takeEvents() {
		nodes = p.cache.Nodes()
	}
	for _, n := range nodes {
		look.Nodes = append(look.Nodes, asSeen(n))
	}
	return look
}

func (p *cachePlayer) down() bool { return p.client.Conn().State() != zk.StateHasSession }

// takeEvents takes all events that are ready, and reports whether there were any.
func (p *cachePlayer) takeEvents() bool {
	e, ok := p.cache.(Eventer)
	if !ok {
		return false
	}
	before := len(p.events)
	for ev, ok := e.TryNext(); ok; ev, ok = e.TryNext() {
		p.events = append(p.events, cache.Change{
			Kind: string(ev.Kind), Node: asSeen(ev.Node),
		})
	}
	return len(p.events) > before
}

func asSeen(n CachedNode) cache.Node {
	return cache.Node{
		Path: n.Path, Data: payloadName(string(n.Data)), Zxid: n.Zxid,
	}
}

// record ends a look, with all events since the one before.
func (p *cachePlayer) record(c scenario.Call, look cache.Look) {
	look.Events, p.events = p.events, nil
	p.shown = look.Nodes
	c.OK(linearizability.Result{Output: look.String()})
}

func (p *cachePlayer) close() {
	if err := p.cache.Close(p.client.Context()); err != nil {
		p.client.Pause(retryPause)
	}
}
