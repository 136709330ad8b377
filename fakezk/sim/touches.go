package sim

import (
	"maps"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// The parts of a node that requests read and change each by itself. A part is written as its path
// with an ending.
const (
	being    = ""  // whether it exists, and its ACL
	content  = "=" // its data and version
	children = "/" // which they are, and how many; their order is that of the names
	counter  = "#" // the number of the next sequential child
	watched  = "!" // by whom
	deleted  = "-" // by a request
)

// The parts of the queue of transactions that a server of an ensemble is to apply.
const (
	first = "<"
	last  = ">"
)

// touches are what a request reads and changes. Changes of updates commute with each other: they
// add or remove different children.
type touches struct {
	reads, writes, updates []string
	numbered               []string
	nodes, parents         []string // with watches that fire: of data, and of children
	creates                []string // parents of new nodes
	opaque                 bool     // it is not known

	countsHidden bool // stats do not tell of children
}

func parts(path string, of ...string) []string {
	list := make([]string, len(of))
	for i, part := range of {
		list[i] = path + part
	}
	return list
}

// add adds what a request does.
func (t *touches) add(req proto.Request) {
	path := proto.PathOf(req)
	parent := parentOf(path)
	t.opaque = t.opaque || strings.HasPrefix(path, "/zookeeper/") // where the server keeps quotas
	switch r := req.(type) {
	case *proto.Multi:
		for _, op := range r.Ops {
			t.add(op)
		}
	case *proto.Create:
		if r.Flags&sequential != 0 {
			t.numbered = append(t.numbered, path)
			t.writes = append(t.writes, parent+counter)
		} else {
			t.updates = append(t.updates, parent+counter)
		}
		t.change(path, parent)
		t.creates = append(t.creates, parent)
	case *proto.Delete:
		t.change(path, parent)
		t.writes = append(t.writes, path+deleted)
	case *proto.SetData:
		t.readStat(path, being)
		t.writes = append(t.writes, path+content)
		t.nodes = append(t.nodes, path)
	case *proto.SetACL:
		t.readStat(path, content)
		t.writes = append(t.writes, path)
	case *proto.Exists, *proto.GetData, *proto.GetACL:
		t.readStat(path, being, content)
	case *proto.GetChildren:
		t.reads = append(t.reads, parts(path, being, content, children)...)
	case *proto.Check:
		t.reads = append(t.reads, parts(path, being, content)...)
	case *proto.Sync:
	default:
		t.opaque = true
	}
}

// readStat adds that a request reads parts of a node, and that its reply has a stat.
func (t *touches) readStat(path string, of ...string) {
	t.reads = append(t.reads, parts(path, of...)...)
	if !t.countsHidden {
		t.reads = append(t.reads, path+children)
	}
}

// change adds that a node comes or goes.
func (t *touches) change(path, parent string) {
	t.writes = append(t.writes, parts(path, being, content, children, counter)...)
	t.updates = append(t.updates, parent+children)
	t.reads = append(t.reads, parent)
	t.nodes, t.parents = append(t.nodes, path), append(t.parents, parent)
}

// refuse adds what decides that a request is refused: it is all that it reads, and changes nothing.
func (t *touches) refuse(req proto.Request) {
	path := proto.PathOf(req)
	parent := parentOf(path)
	switch r := req.(type) {
	case *proto.Multi:
		for _, op := range r.Ops {
			t.refuse(op)
		}
	case *proto.Create:
		t.reads = append(t.reads, path, parent)
		if r.Flags&sequential != 0 { // the node with the number may be there, or not
			t.reads = append(t.reads, parent+counter, parent+children)
		}
	case *proto.Delete:
		t.reads = append(t.reads, parts(path, being, content, children)...)
		t.reads = append(t.reads, parent)
	case *proto.SetData, *proto.Check:
		t.reads = append(t.reads, parts(path, being, content)...)
	case *proto.SetACL:
		t.reads = append(t.reads, path)
	default:
		t.opaque = true
	}
}

// touched are what a request on its way would do at the server now.
func (t *turns) touched(h head) touches {
	does := touches{countsHidden: t.hideCounts}
	header, body, err := wire.DecodeHeader(h.message.Bytes)
	if err == nil && header.Op == proto.OpPing {
		return does
	}
	var request proto.Request
	if err == nil {
		request, err = wire.DecodeRequest(header.Op, body)
	}
	if err != nil {
		return touches{opaque: true}
	}
	if header.Op.IsWrite() && t.engine.Refuses(h.link.id, request, t.agenda.Clock()) {
		does.refuse(request)
	} else {
		does.add(request)
	}
	return does
}

// describeRequest adds what a request does. The ids of sessions are mere names here, so a handshake
// does nothing at a single server.
func (t *turns) describeRequest(d *trace.Thing, h head) {
	d.Kind = trace.AtServer
	d.Reads, d.Writes, d.Numbered, d.Creates = nil, nil, nil, nil
	d.Opaque, d.Steals = false, false
	if h.message.End != nil || d.Number == 1 && t.engine.Servers() == 1 {
		return
	}
	var does touches
	if d.Number > 1 {
		does = t.touched(h)
		d.Steals, d.Creates = t.steals(h.link.process, does), does.creates
	}
	if t.engine.Servers() > 1 {
		does = t.atEnsemble(d, h, does)
	} else {
		t.addWatchers(d, &does, 0)
	}
	d.Reads, d.Writes, d.Updates = does.reads, does.writes, does.updates
	d.Numbered, d.Opaque = does.numbered, does.opaque
}

// steals reports whether a request of a process deletes an ephemeral node of another session.
func (t *turns) steals(p *process, does touches) bool {
	var gone []string
	for _, part := range does.writes {
		if path, deletes := strings.CutSuffix(part, deleted); deletes {
			gone = append(gone, path)
		}
	}
	isGone := func(path string) bool { return slices.Contains(gone, path) }
	return gone != nil && slices.ContainsFunc(t.engine.Sessions(), func(s engine.SessionView) bool {
		return !p.sessions[s.ID] && slices.ContainsFunc(t.engine.Store().Ephemerals(s.ID), isGone)
	})
}

// atEnsemble are the touches of a request to one of several servers. A read is of the tree of that
// server. Before all else the server applies all that the leader has decided. The leader decides a
// write by all writes so far, and the other servers are to apply it.
func (t *turns) atEnsemble(d *trace.Thing, h head, does touches) (all touches) {
	own := h.link.conn.Server
	if header, _, err := wire.DecodeHeader(h.message.Bytes); err == nil && d.Number > 1 &&
		!header.Op.IsWrite() && header.Op != proto.OpSync && !does.opaque {
		all = does.at(own)
		if t.hasFaults() { // how far the server is decides whether another one takes the client
			all.reads = append(all.reads, serverName(own)+first)
		}
		return all
	}
	all = does
	all.reads = append(all.reads, parts(serverName(own), first, last)...)
	if len(does.writes)+len(does.updates) > 0 || does.opaque {
		for server := range t.engine.Servers() {
			if server != own {
				all.writes = append(all.writes, serverName(server)+last)
			}
		}
	}
	t.addWatchers(d, &does, own)
	all.join(does.at(own))
	for _, txn := range t.engine.Unapplied(own) {
		all.join(t.transaction(d, txn, own))
	}
	return all
}

// describeApply adds what a server does that applies a transaction.
func (t *turns) describeApply(d *trace.Thing, a *apply) {
	does := t.transaction(d, t.engine.Unapplied(a.server)[0], a.server)
	d.Reads, d.Updates = does.reads, does.updates
	d.Writes = append(does.writes, serverName(a.server)+first)
}

// transaction are the touches of a transaction at a server, where it may end a connection.
func (t *turns) transaction(d *trace.Thing, txn state.Txn, server int) touches {
	var does touches
	for _, change := range txn.Changes {
		switch c := change.(type) {
		case state.CreateNode:
			does.change(c.Path, parentOf(c.Path))
		case state.DeleteNode:
			does.change(c.Path, parentOf(c.Path))
		case state.SetData:
			does.writes = append(does.writes, c.Path+content)
			does.nodes = append(does.nodes, c.Path)
		case state.SetACL:
			does.writes = append(does.writes, c.Path)
		case state.CloseSession:
			for _, l := range t.network.links {
				if l.conn.Server == server && l.process.sessions[c.ID] {
					d.Notifies = append(d.Notifies, l.process.name)
				}
			}
		}
	}
	slices.Sort(d.Notifies)
	t.addWatchers(d, &does, server)
	return does.at(server)
}

// isUnnoticed reports whether no client can see that a server applies a transaction: it has no
// connection, or the transaction changes no node. With faults a client may come back to a server,
// which refuses it if it is behind what the client has seen.
func (t *turns) isUnnoticed(a *apply) bool {
	if t.hasFaults() {
		return false
	}
	connected := a.server == t.engine.Leader()
	for _, l := range t.network.links {
		connected = connected || l.conn.Server == a.server
	}
	return !connected || !changesSomething(t.engine.Unapplied(a.server)[0])
}

// hasFaults reports whether there are faults in this run.
func (t *turns) hasFaults() bool { return len(t.network.faults.Armed()) > 0 }

// changesSomething reports whether a transaction does more than to open a session.
func changesSomething(txn state.Txn) bool {
	return slices.ContainsFunc(txn.Changes, func(c state.Change) bool {
		_, opens := c.(state.CreateSession)
		return !opens
	})
}

// at are the same touches of a tree of one of several servers.
func (t touches) at(server int) touches {
	on := func(list []string) (there []string) {
		for _, part := range list {
			there = append(there, serverName(server)+part)
		}
		return there
	}
	return touches{reads: on(t.reads), writes: on(t.writes), updates: on(t.updates),
		numbered: on(t.numbered), opaque: t.opaque}
}

func (t *touches) join(o touches) {
	t.reads, t.writes = append(t.reads, o.reads...), append(t.writes, o.writes...)
	t.updates, t.numbered = append(t.updates, o.updates...), append(t.numbered, o.numbered...)
	t.opaque = t.opaque || o.opaque
}

// describeFaults adds what faults do that act on a message. All but a few do nothing at the server
// but to its client's connections.
func (t *turns) describeFaults(d *trace.Thing, p *process, faults []*carry.Armed) {
	for _, f := range faults {
		if !f.Applies() && len(faults) == 1 {
			d.Reads, d.Writes, d.Updates, d.Notifies = nil, nil, nil, nil
			d.Numbered, d.Opaque = nil, false
		}
		if endsSession(f) {
			t.describeExpiry(d, p)
		}
		d.Alone = d.Alone || f.Client == "" || f.Kind == fault.Restart
		t.describeEnd(d, p)
	}
}

// describeEnd adds what the end of a client's connections does: the server forgets their watches.
func (t *turns) describeEnd(d *trace.Thing, p *process) {
	d.Own = true
	for _, watch := range t.engine.Watches() {
		if l := t.network.links[watch.Conn]; l != nil && l.process == p {
			path := watch.Path
			if t.engine.Servers() > 1 {
				path = serverName(watch.Server) + path
			}
			d.Writes = append(d.Writes, path+watched)
			d.Alone = d.Alone || watch.Mode != engine.OneShot // it is one of more paths
		}
	}
}

// describeExpiry adds what the end of a client's sessions does: their ephemerals go. Of those that
// have gone before, only the deletes matter: behind that end they would fail.
func (t *turns) describeExpiry(d *trace.Thing, p *process) {
	var does touches
	there := t.noteEphemeralsOf(p) // without a connection of p none may have been noted
	for _, path := range slices.Sorted(maps.Keys(p.ephemerals)) {
		if slices.Contains(there, path) {
			does.change(path, parentOf(path))
		}
		does.reads = append(does.reads, path+deleted)
	}
	d.Alone = d.Alone || t.engine.Servers() > 1 // what each server sees of it is too much to tell
	t.addWatchers(d, &does, 0)
	d.Reads, d.Writes = append(d.Reads, does.reads...), append(d.Writes, does.writes...)
	d.Updates = append(d.Updates, does.updates...)
}

// noteEphemeralsOf notes and returns the nodes that go with the sessions of a client.
func (t *turns) noteEphemeralsOf(p *process) (paths []string) {
	for session := range p.sessions {
		paths = append(paths, t.engine.Store().Ephemerals(session)...)
	}
	for _, path := range paths {
		p.ephemerals[path] = true
	}
	return paths
}

// noteEphemerals notes which nodes go with the sessions of clients, if a fault may end one.
func (t *turns) noteEphemerals() {
	if !slices.ContainsFunc(t.network.faults.Armed(), endsSession) {
		return
	}
	for _, l := range t.network.links {
		t.noteEphemeralsOf(l.process)
	}
}

func endsSession(f *carry.Armed) bool {
	return f.Kind == fault.Expire || f.Kind == fault.LateReap
}

// addWatchers adds the watches at a server that a request may fire: it takes them away from other
// requests.
func (t *turns) addWatchers(d *trace.Thing, does *touches, server int) {
	if len(does.nodes)+len(does.parents) == 0 {
		return
	}
	for _, path := range slices.Concat(does.nodes, does.parents) {
		does.reads = append(does.reads, path+watched)
	}
	for _, watch := range t.engine.Watches() {
		l := t.network.links[watch.Conn]
		if l == nil || watch.Server != server || !does.fires(watch) {
			continue
		}
		does.writes = append(does.writes, watch.Path+watched)
		if client := l.process.name; client != d.Client && !slices.Contains(d.Notifies, client) {
			d.Notifies = append(d.Notifies, client)
		}
	}
	slices.Sort(d.Notifies)
}

// fires reports whether a watch may fire.
func (t *touches) fires(watch engine.WatchView) bool {
	return watch.Mode != engine.OneShot || slices.Contains(t.nodes, watch.Path) ||
		watch.Child && slices.Contains(t.parents, watch.Path) ||
		slices.ContainsFunc(t.numbered, func(prefix string) bool {
			return strings.HasPrefix(watch.Path, prefix)
		})
}
