package fakezk

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/view"
)

// Load makes the nodes, all in one transaction, and their missing parents: as persistent nodes with
// null data that are open to all clients. The order of the list does not matter. Watches fire as
// for any client's writes.
//
// It is all or nothing: the error names the first impossible node, in order of path, and then
// nothing has changed. A node that already exists is such an error, except "/", which gets the
// data, ACL and number of its spec. So load into a new server, after Reset, or beside the existing
// nodes; errors.Is finds ErrConflict in such errors.
//
// Sequence numbers move on as in a server that loads a snapshot of its tree: without a
// notification.
func (s *Server) Load(nodes []view.NodeSpec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := loading{server: s, now: time.Now(), made: map[string]bool{}}
	if err := l.plan(nodes); err != nil {
		return fmt.Errorf("fakezk: load: %w", err)
	}
	l.make(nodes)
	s.schedule()
	return nil
}

// loading is one call of Load.
type loading struct {
	server *Server
	now    time.Time
	ops    []proto.Request // parents first
	errors []string        // the error if the operation at the index fails
	acl    *proto.SetACL   // of "/", nil if it stays as it is
	root   bool            // "/" was given
	made   map[string]bool // by ops
}

// plan lists all operations, or finds an impossible one. It changes nothing.
func (l *loading) plan(nodes []view.NodeSpec) error {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b view.NodeSpec) int {
		return cmp.Compare(a.Path, b.Path)
	})
	for i := range nodes {
		if err := l.add(&nodes[i]); err != nil {
			if before := l.rehearse(); before != nil {
				return before
			}
			return fmt.Errorf("node %q: %w", nodes[i].Path, err)
		}
	}
	return l.rehearse()
}

// add plans one node and the parents it misses.
func (l *loading) add(n *view.NodeSpec) error {
	if err := checkSpec(n); err != nil {
		return err
	}
	if n.Path == "/" {
		return l.addRoot(n)
	}
	for i := 1; i < len(n.Path); i++ {
		if n.Path[i] == '/' && !l.exists(n.Path[:i]) {
			l.create(&view.NodeSpec{Path: n.Path[:i]},
				fmt.Sprintf("node %q: create its parent %s", n.Path, n.Path[:i]))
		}
	}
	if l.made[n.Path] {
		return errTwice
	}
	l.create(n, fmt.Sprintf("node %q", n.Path))
	return nil
}

// addRoot plans the changes of "/". A multi takes its data, but no ACL.
func (l *loading) addRoot(n *view.NodeSpec) error {
	if l.root {
		return errTwice
	}
	l.root = true
	for _, req := range l.server.changesOfRoot(slices.Clone(n.Data), aclOf(n)) {
		if set, ok := req.(*proto.SetACL); ok {
			l.acl = set
			continue
		}
		l.ops = append(l.ops, req)
		l.errors = append(l.errors, `node "/"`)
	}
	return nil
}

var errTwice = errors.New("it is given twice")

func (l *loading) exists(p string) bool {
	_, ok := l.server.engine.Store().Node(p)
	return ok || l.made[p]
}

func (l *loading) create(n *view.NodeSpec, about string) {
	req := &proto.Create{
		Code: proto.OpCreate, Path: n.Path, Data: slices.Clone(n.Data), ACL: aclOf(n),
	}
	switch n.Kind {
	case view.ContainerNode:
		req.Code, req.Flags = proto.OpCreateContainer, proto.FlagContainer
	case view.TTLNode:
		req.Code, req.Flags, req.TTL = proto.OpCreateTTL, proto.FlagTTL, n.TTL.Milliseconds()
	}
	l.ops = append(l.ops, req)
	l.errors = append(l.errors, about)
	l.made[n.Path] = true
}

// checkSpec finds mistakes in a single node, unless the server reports them better.
func checkSpec(n *view.NodeSpec) error {
	switch {
	case !strings.HasPrefix(n.Path, "/"), strings.Contains(n.Path, "//"),
		n.Path != "/" && strings.HasSuffix(n.Path, "/"):
		return errors.New("expected a path of / or names that each follow one /")
	case isServersOwn(n.Path):
		return errors.New("it is the server's own")
	case n.Kind != view.PersistentNode && n.Kind != view.ContainerNode && n.Kind != view.TTLNode:
		return fmt.Errorf("kind %d: expected persistent, container or ttl", n.Kind)
	case n.Path == "/" && n.Kind != view.PersistentNode:
		return fmt.Errorf("kind %s: the root is persistent", n.Kind)
	case n.Kind != view.TTLNode && n.TTL != 0:
		return fmt.Errorf("ttl %s: only a node of kind ttl has one", n.TTL)
	case n.Kind == view.TTLNode && (n.TTL < time.Millisecond || n.TTL%time.Millisecond != 0):
		return fmt.Errorf("ttl %s: expected whole milliseconds from 1ms", n.TTL)
	case n.Next < 0:
		return fmt.Errorf("next %d: expected 0 to %d", n.Next, math.MaxInt32)
	}
	return nil
}

func aclOf(n *view.NodeSpec) []proto.ACL {
	if len(n.ACL) == 0 {
		return inspect.OpenACL
	}
	list := make([]proto.ACL, len(n.ACL))
	for i, entry := range n.ACL {
		list[i] = proto.ACL(entry)
	}
	return list
}

// rehearse finds the error that the operations would have.
func (l *loading) rehearse() error {
	if l.acl != nil {
		if err := l.prepare(l.acl).Err; err != proto.OK {
			return refusedLoad(`node "/"`, err)
		}
	}
	txn := l.prepare(&proto.Multi{Ops: l.ops})
	for i, err := range txn.OpErrs {
		if err != proto.OK {
			return refusedLoad(l.errors[i], err)
		}
	}
	if txn.Err != proto.OK {
		return fmt.Errorf("%d nodes: %s", len(l.ops), txn.Err)
	}
	return nil
}

func (l *loading) prepare(req proto.Request) state.Txn {
	return l.server.engine.Store().Prepare(req, state.Caller{Super: true}, l.now.UnixMilli())
}

// ErrConflict is wrapped by an error of Load with a cause on the server: a node that exists, a
// parent that is ephemeral, a quota.
var ErrConflict = errors.New("fakezk: in conflict with what the server holds")

type conflict struct{ error }

func (conflict) Is(target error) bool { return target == ErrConflict }

func refusedLoad(what string, code proto.ErrCode) error {
	err := fmt.Errorf("%s: %s", what, code)
	switch code {
	case proto.NodeExists, proto.NoChildrenForEphemerals, proto.QuotaExceeded:
		return conflict{err}
	}
	return err
}

// make makes the rehearsed changes.
func (l *loading) make(nodes []view.NodeSpec) {
	if len(l.ops) > 0 {
		l.server.mustSubmit(&proto.Multi{Ops: l.ops}, l.now)
	}
	if l.acl != nil {
		l.server.mustSubmit(l.acl, l.now)
	}
	store := l.server.engine.Store()
	for i := range nodes {
		if n, _ := store.Node(nodes[i].Path); n.Created < nodes[i].Next {
			store.SetCreated(nodes[i].Path, nodes[i].Next)
		}
	}
}
