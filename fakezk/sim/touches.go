package sim

import (
	"maps"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// The parts of a node that requests read and change each by itself. A part is written as its path
// with an ending.
const (
	being    = ""  // whether it exists, and its ACL
	content  = "=" // its data and version
	children = "/" // which they are, and how many
	counter  = "#" // the number of the next sequential child
	watched  = "!" // by whom
)

// touches are what a request reads and changes. Changes of updates commute with each other: they
// add or remove different children.
type touches struct {
	reads, writes, updates []string
	numbered               []string
	nodes, parents         []string // with watches that fire: of data, and of children
	opaque                 bool     // it is not known
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
	case *proto.Delete:
		t.change(path, parent)
	case *proto.SetData:
		t.reads = append(t.reads, parts(path, being, children)...) // for the stat in the reply
		t.writes = append(t.writes, path+content)
		t.nodes = append(t.nodes, path)
	case *proto.SetACL:
		t.reads = append(t.reads, parts(path, content, children)...)
		t.writes = append(t.writes, path)
	case *proto.Exists, *proto.GetData, *proto.GetACL, *proto.GetChildren, *proto.Check:
		t.reads = append(t.reads, parts(path, being, content, children)...)
	case *proto.Sync:
	default:
		t.opaque = true
	}
}

// change adds that a node comes or goes.
func (t *touches) change(path, parent string) {
	t.writes = append(t.writes, parts(path, being, content, children, counter)...)
	t.updates = append(t.updates, parent+children)
	t.reads = append(t.reads, parent)
	t.nodes, t.parents = append(t.nodes, path), append(t.parents, parent)
}

// refuse makes a request that is refused out of one that is not: it reads what decides that.
func (t *touches) refuse() {
	parentsCounters := slices.DeleteFunc(t.updates, func(part string) bool {
		return strings.HasSuffix(part, children)
	})
	*t = touches{reads: slices.Concat(t.reads, t.writes, parentsCounters), opaque: t.opaque}
}

// touched are what a request on its way would do at the server now.
func (t *turns) touched(h head) touches {
	var does touches
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
	does.add(request)
	if header.Op.IsWrite() && t.engine.Refuses(h.link.id, request, t.agenda.Clock()) {
		does.refuse()
	}
	return does
}

// describeRequest adds what a request does. The ids of sessions are mere names here, so a handshake
// does nothing.
func (t *turns) describeRequest(d *trace.Thing, h head) {
	d.Kind = trace.AtServer
	d.Reads, d.Writes, d.Numbered, d.Opaque = nil, nil, nil, false
	if d.Number == 1 || h.message.End != nil {
		return
	}
	does := t.touched(h)
	t.addWatchers(d, &does)
	d.Reads, d.Writes, d.Updates = does.reads, does.writes, does.updates
	d.Numbered, d.Opaque = does.numbered, does.opaque
}

// describeExpiry adds what the end of a client's sessions does: their ephemerals go.
func (t *turns) describeExpiry(d *trace.Thing, p *process) {
	var does touches
	for _, session := range slices.Sorted(maps.Keys(p.sessions)) {
		for _, path := range t.engine.Store().Ephemerals(session) {
			does.change(path, parentOf(path))
		}
	}
	t.addWatchers(d, &does)
	d.Reads, d.Writes, d.Updates = does.reads, does.writes, does.updates
}

// addWatchers adds the watches that a request may fire: it takes them away from other requests.
func (t *turns) addWatchers(d *trace.Thing, does *touches) {
	if len(does.nodes)+len(does.parents) == 0 {
		return
	}
	for _, path := range slices.Concat(does.nodes, does.parents) {
		does.reads = append(does.reads, path+watched)
	}
	for _, watch := range t.engine.Watches() {
		l := t.network.links[watch.Conn]
		if l == nil || !does.fires(watch) {
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
