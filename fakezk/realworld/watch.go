package realworld

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
)

// watchesBy are the watches that a server has left on a connection, as far as the
// proxy can tell: those that requests asked for, less those that fired. The
// four-letter words show no watches on children.
type watchesBy map[watch]bool

type watch struct {
	path     string
	children bool
}

// asked notes the watch of a request that was answered.
func (w watchesBy) asked(q *request) {
	switch b := q.Body.(type) {
	case *proto.GetData:
		w.add(b.Watch && q.Err == proto.OK, b.Path, false)
	case *proto.Exists:
		w.add(b.Watch && (q.Err == proto.OK || q.Err == proto.NoNode), b.Path, false)
	case *proto.GetChildren:
		w.add(b.Watch && q.Err == proto.OK, b.Path, true)
	}
}

// setAgain notes the watches of a setWatches that is on its way. The notifications of
// those that fire at once come before its answer.
func (w watchesBy) setAgain(q *request) {
	b, ok := q.Body.(*proto.SetWatches)
	if !ok {
		return
	}
	for _, path := range slices.Concat(b.DataWatches, b.ExistWatches) {
		w.add(true, path, false)
	}
	for _, path := range b.ChildWatches {
		w.add(true, path, true)
	}
}

func (w watchesBy) add(isLeft bool, path string, children bool) {
	if isLeft {
		w[watch{path, children}] = true
	}
}

// fired forgets the watches that a notification has used up.
func (w watchesBy) fired(ev proto.WatcherEvent) {
	if ev.Type != proto.EventChildrenChanged {
		delete(w, watch{ev.Path, false})
	}
	if ev.Type == proto.EventChildrenChanged || ev.Type == proto.EventDeleted {
		delete(w, watch{ev.Path, true})
	}
}

// watchesAtRest are the watches of the connections that live, in order of path.
func (p *proxy) watchesAtRest() []view.Watch {
	list := []view.Watch{}
	for _, l := range p.links {
		if l.conn.State() != carry.Open {
			continue
		}
		for w := range l.watches {
			list = append(list, view.Watch{Path: w.path, Children: w.children, Session: l.session})
		}
	}
	slices.SortFunc(list, func(a, b view.Watch) int {
		children := map[bool]int{false: 0, true: 1}
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Session, b.Session),
			cmp.Compare(children[a.Children], children[b.Children]))
	})
	return list
}
