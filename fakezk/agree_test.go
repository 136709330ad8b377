package fakezk

import (
	compare "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/internal/refstore"
	"github.com/zksim/zksim/internal/testrun"
)

// outcome is all that a step shows, to the client that made it and to all others.
type outcome struct {
	Code    refstore.Code
	Zxid    int64 // of the reply's header, or the server's last
	Path    string
	Data    []byte
	Names   []string // sorted
	Stat    refstore.Stat
	ACL     []refstore.ACL
	Results []refstore.Result
	Events  [clientCount][]refstore.Event
	Away    []outcome // of another client's steps during a drop
}

// pair is a server with its clients, and the model of it.
type pair struct {
	server  *Server
	clients [clientCount]*observer
	model   *refstore.Store
}

func newPair() (*pair, error) {
	p := &pair{server: New(Options{}), model: refstore.NewStore()}
	for i := range p.clients {
		p.clients[i] = &observer{server: p.server}
		if err := p.clients[i].connect(); err != nil {
			return nil, err
		}
		p.model.OpenSession(p.clients[i].conn.SessionID())
	}
	return p, nil
}

func (p *pair) close() error {
	for _, c := range p.clients {
		c.conn.Close()
	}
	err := p.server.Close()
	time.Sleep(5 * time.Second) // the clients' own pauses
	return err
}

// A mutant makes a server's outcome wrong, as if one rule were broken.
type mutant func(s step, got *outcome)

// disagreement runs a script on both and describes the first difference.
func disagreement(script []step, wrong mutant) (diff string) {
	failure := bubble.Run(1, func() {
		p, err := newPair()
		if err != nil {
			panic(err)
		}
		for i, s := range script {
			want, got := p.predict(s), p.applyToServer(s)
			if wrong != nil {
				wrong(s, &got)
			}
			if diff = cmp.Diff(want, got); diff != "" {
				diff = fmt.Sprintf("step %d\n%s\n(-model +server)\n%s", i+1,
					listing(script[:i+1]), diff)
				break
			}
		}
		if diff == "" {
			diff = p.compareTrees()
		}
		if err := p.close(); err != nil {
			panic(err)
		}
	})
	if failure != nil && diff == "" {
		return fmt.Sprintf("%v\n%s\n%s", failure, failure.Stack, listing(script))
	}
	return diff
}

func listing(script []step) string {
	var b strings.Builder
	for i, s := range script {
		fmt.Fprintf(&b, "%3d %s\n", i+1, s)
	}
	return b.String()
}

// predict lets the model take the step. It comes first: afterwards the clients
// know things that SetWatches must not use.
func (p *pair) predict(s step) outcome {
	var o outcome
	m, c := p.model, p.clients[s.By]
	id := c.conn.SessionID()
	switch s.Kind {
	case doCreate, doContainer, doTTL:
		o.Path, _, o.Code = m.CreateACL(id, s.Path, s.Data, s.mode(), s.ACL)
	case doDelete:
		o.Code = m.Delete(id, s.Path, s.Version)
	case doSet:
		o.Stat, o.Code = m.Set(id, s.Path, s.Data, s.Version)
	case doSetACL:
		o.Stat, o.Code = m.SetACL(id, s.Path, s.ACL, s.Version)
	case doMulti:
		var ops []refstore.Op
		for _, op := range s.Ops {
			ops = append(ops, op.op())
		}
		o.Results, o.Code = m.Multi(id, ops)
	case doExists:
		o.Stat, o.Code = m.Exists(id, s.Path, s.Watch)
	case doGet:
		o.Data, o.Stat, o.Code = m.Get(id, s.Path, s.Watch)
	case doChildren:
		o.Names, o.Stat, o.Code = m.Children(id, s.Path, s.Watch)
	case doGetACL:
		o.ACL, o.Stat, o.Code = m.GetACL(id, s.Path)
	case doSync:
		o.Path = s.Path
	case doDrop:
		m.Disconnect(id)
		for _, op := range s.Ops {
			o.Away = append(o.Away, p.predict(op))
		}
		relative, data, exist, child := c.setWatches()
		m.SetWatches(id, relative, data, exist, child)
	case doClose, doExpire:
		o.Code = m.CloseSession(id)
	}
	o.Zxid = m.Zxid()
	if s.Kind == doClose || s.Kind == doExpire {
		o.Zxid++ // the session that takes its place
	}
	for i, c := range p.clients {
		for _, ev := range m.Events(c.conn.SessionID()) {
			o.Events[i] = append(o.Events[i], refstore.Event{Type: ev.Type, Path: ev.Path})
		}
	}
	s.removeUnordered(&o)
	return o
}

// removeUnordered removes the parts of an outcome that no client may rely on: the order of the
// events after a reconnect, as the client builds its lists from a map; their order at the end of a
// session, which comes from a hash table (package conform compares it); and the events of its own
// end that an expired session still receives.
func (s step) removeUnordered(o *outcome) {
	slices.Sort(o.Names)
	if s.Kind == doExpire {
		o.Events[s.By] = nil
	}
	for i := range o.Events {
		if s.Kind == doClose || s.Kind == doExpire || s.Kind == doDrop && i == s.By {
			slices.SortFunc(o.Events[i], func(a, b refstore.Event) int {
				return compare.Or(int(a.Type-b.Type), strings.Compare(a.Path, b.Path))
			})
		}
	}
}

// applyToServer lets the server take the step, over the wire.
func (p *pair) applyToServer(s step) outcome {
	var o outcome
	c := p.clients[s.By]
	switch s.Kind {
	case doDrop:
		c.unreachable.Store(true)
		p.server.DropConnections(c.conn.SessionID())
		synctest.Wait()
		for _, op := range s.Ops {
			o.Away = append(o.Away, p.applyToServer(op))
		}
		c.unreachable.Store(false)
		time.Sleep(1500 * time.Millisecond) // the client pauses for a second
	case doClose, doExpire:
		p.replaceSession(s)
	default:
		err := s.request(c, &o)
		o.Code = codeOf(err)
	}
	synctest.Wait()
	o.Zxid = c.lastReply().Zxid
	if s.Kind == doDrop || s.Kind == doClose || s.Kind == doExpire {
		o.Zxid = p.server.engine.Store().LastZxid()
	}
	for i, c := range p.clients {
		o.Events[i] = c.takeEvents()
	}
	s.removeUnordered(&o)
	return o
}

// replaceSession ends the client's session and waits for another.
func (p *pair) replaceSession(s step) {
	c := p.clients[s.By]
	var err error
	if s.Kind == doClose {
		c.conn.Close()
		err = c.connect()
	} else {
		err = p.server.ExpireSession(c.conn.SessionID())
		time.Sleep(1500 * time.Millisecond) // the client pauses for a second
		synctest.Wait()
	}
	if err != nil {
		panic(err)
	}
	p.model.OpenSession(c.conn.SessionID())
}

// request makes one request of the client.
func (s step) request(c *observer, o *outcome) (err error) {
	var stat *zk.Stat
	acl := zkACL(s.ACL)
	switch s.Kind {
	case doCreate:
		o.Path, err = c.conn.Create(s.Path, s.Data, s.Flags, acl)
	case doContainer:
		o.Path, err = c.conn.CreateContainer(s.Path, s.Data, s.Flags, acl)
	case doTTL:
		o.Path, err = c.conn.CreateTTL(s.Path, s.Data, s.Flags, acl, time.Hour)
	case doDelete:
		err = c.conn.Delete(s.Path, s.Version)
	case doSet:
		stat, err = c.conn.Set(s.Path, s.Data, s.Version)
	case doSetACL:
		stat, err = c.conn.SetACL(s.Path, acl, s.Version)
	case doMulti:
		o.Results, err = s.multi(c)
	case doExists, doGet, doChildren:
		stat, err = s.read(c, o)
	case doGetACL:
		var list []zk.ACL
		list, stat, err = c.conn.GetACL(s.Path)
		o.ACL = modelACL(list)
	case doSync:
		o.Path, err = c.conn.Sync(s.Path)
		if !utf8.ValidString(o.Path) { // the server writes U+1F600 as two surrogates, as Java does
			o.Path = s.Path
		}
	}
	o.Stat = statOf(stat)
	return err
}

func (s step) read(c *observer, o *outcome) (stat *zk.Stat, err error) {
	switch {
	case s.Kind == doExists && !s.Watch:
		var exists bool
		if exists, stat, err = c.conn.Exists(s.Path); !exists && err == nil {
			err = zk.ErrNoNode
		}
	case s.Kind == doExists:
		var exists bool
		exists, stat, _, err = c.conn.ExistsW(s.Path)
		if err == nil && exists {
			c.watches(watchData, s.Path)
		} else if err == nil {
			c.watches(watchExist, s.Path)
			err = zk.ErrNoNode
		}
	case s.Kind == doGet && !s.Watch:
		o.Data, stat, err = c.conn.Get(s.Path)
	case s.Kind == doGet:
		if o.Data, stat, _, err = c.conn.GetW(s.Path); err == nil {
			c.watches(watchData, s.Path)
		}
	case !s.Watch:
		o.Names, stat, err = c.conn.Children(s.Path)
	default:
		if o.Names, stat, _, err = c.conn.ChildrenW(s.Path); err == nil {
			c.watches(watchChild, s.Path)
		}
	}
	return stat, err
}

func (s step) multi(c *observer) ([]refstore.Result, error) {
	var ops []any
	for _, op := range s.Ops {
		switch op.Kind {
		case doCreate:
			ops = append(ops, &zk.CreateRequest{Path: op.Path, Data: op.Data, Flags: op.Flags,
				Acl: zkACL(op.ACL)})
		case doDelete:
			ops = append(ops, &zk.DeleteRequest{Path: op.Path, Version: op.Version})
		case doSet:
			ops = append(ops, &zk.SetDataRequest{Path: op.Path, Data: op.Data, Version: op.Version})
		case doCheck:
			ops = append(ops, &zk.CheckVersionRequest{Path: op.Path, Version: op.Version})
		}
	}
	answers, err := c.conn.Multi(ops...)
	results := make([]refstore.Result, len(answers))
	for i, a := range answers {
		results[i] = refstore.Result{Path: a.String, Stat: statOf(a.Stat), Code: codeOf(a.Error)}
	}
	return results, err
}

// compareTrees holds every node that there is against the model's.
func (p *pair) compareTrees() string {
	want, got := map[string]string{}, map[string]string{}
	for _, path := range p.model.Paths() {
		if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
			continue
		}
		stat, _ := p.model.Exists(p.clients[0].conn.SessionID(), path, false)
		want[path] = fmt.Sprintf("czxid %d mzxid %d version %d owner %x children %d",
			stat.Czxid, stat.Mzxid, stat.Version, stat.EphemeralOwner, stat.NumChildren)
	}
	for _, n := range p.server.Tree() {
		got[n.Path] = fmt.Sprintf("czxid %d mzxid %d version %d owner %x children %d",
			n.Czxid, n.Mzxid, n.Version, n.Owner, n.NumChildren)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return "trees differ (-model +server)\n" + diff
	}
	return ""
}

// anyScript has about forty steps: rapid's slices hold six elements on average,
// so it is a slice of slices.
var anyScript = rapid.Custom(func(t *rapid.T) []step {
	return slices.Concat(
		rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(drawStep), 1, 20), 1, 20).Draw(t,
			"steps")...)
})

func TestServerAgreesWithTheModel(t *testing.T) {
	for i := range testrun.Pick(4, 15) { // batches of a hundred scripts
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				if diff := disagreement(anyScript.Draw(t, "script"), nil); diff != "" {
					t.Fatal(diff)
				}
			})
		})
	}
}
