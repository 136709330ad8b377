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

// Load makes the nodes and their missing parents: as persistent nodes with null data that are open
// to all clients. The order of the list does not matter. Watches fire as for any client's writes.
// All loaded nodes have version 0, whatever it was where they come from.
//
// The data directory of a real server is loaded by tree.ReadFile(dir) of package fakezk/tree, and
// then by the method Load(server) of the Tree that it returns.
//
// It is all or nothing: the error names an impossible node, the first in order of path of up to
// 4,096 nodes. A node that already exists is an error, except "/", which gets the data, ACL and
// number of its spec. So load into a new server, after Reset, or beside the existing nodes;
// errors.Is finds ErrConflict in such errors.
//
// Up to 4,096 nodes, with the missing parents, come in one transaction. More come in several, and
// other clients have their turn between them. An error in a later one then takes the nodes of the
// first ones away again, as writes that clients see, but for nodes that others have changed. It is
// an error if a client makes a missing parent, or deletes a parent, before its turn.
//
// Sequence numbers move on as in a server that loads a snapshot of its tree: without a
// notification.
//
// Missing parents with more than 16 MiB of paths together are refused: some 4,000 names in one
// path. Stop and Close interrupt a Load; errors.Is finds ErrStopped in its error. Nodes of earlier
// transactions then stay.
func (s *Server) Load(nodes []view.NodeSpec) error {
	sorted := make([]*view.NodeSpec, len(nodes))
	for i := range nodes {
		sorted[i] = &nodes[i]
	}
	slices.SortStableFunc(sorted, func(a, b *view.NodeSpec) int {
		return cmp.Compare(a.Path, b.Path)
	})
	s.turns.begin()
	defer s.turns.end()
	if s.front.closed {
		return fmt.Errorf("fakezk: load: %w", ErrStopped)
	}
	l := loading{
		Server: s, stops: s.turns.stops, made: map[string]bool{}, zxids: map[int64]bool{},
		ops: make([]proto.Request, 0, len(nodes)), nodes: make([]string, 0, len(nodes)),
	}
	if err := l.load(sorted); err != nil {
		return fmt.Errorf("fakezk: load: %w", err)
	}
	return nil
}

// loading is one call of Load.
type loading struct {
	*Server
	stops  int             // of the server, when the call began
	ops    []proto.Request // parents first
	nodes  []string        // for each operation the path of the node that needs it
	acl    *proto.SetACL   // of "/", nil if it stays as it is
	before *located        // "/" as it was, nil if it is not given
	made   map[string]bool // by ops
	zxids  map[int64]bool  // of the transactions
	parent int             // bytes of the paths of missing parents
}

// load plans the operations, and applies them in parts.
func (l *loading) load(nodes []*view.NodeSpec) error {
	if err := l.plan(nodes); err != nil {
		return err
	}
	l.recorder.call("load", "", "%d nodes", len(nodes))
	for done := 0; done < len(l.ops); {
		part := min(len(l.ops)-done, mostSteps)
		if err := l.apply(done, done+part); err != nil {
			if !errors.Is(err, ErrStopped) {
				l.undo(done)
			}
			return err
		}
		done += part
		if l.turns.step(part); done < len(l.ops) && l.interrupted() {
			return ErrStopped
		}
	}
	if l.acl != nil {
		l.pipeline.mustSubmit(l.acl, time.Now())
		l.ensemble.catchUp()
	}
	l.setNumbers(nodes)
	l.expiry.schedule()
	return nil
}

// interrupted reports whether Stop or Close was called in the meantime.
func (l *loading) interrupted() bool {
	return l.turns.interrupted() || l.turns.stops != l.stops
}

// plan lists all operations, in order of path, and finds what is impossible whatever comes between.
// It changes nothing.
func (l *loading) plan(nodes []*view.NodeSpec) error {
	for i := range nodes {
		if l.turns.step(1); l.interrupted() {
			return ErrStopped
		}
		err := l.add(nodes[i])
		if err == nil {
			continue
		}
		if _, before := l.prepare(0, min(len(l.ops), mostSteps)); before != nil {
			return before
		}
		return fmt.Errorf("node %q: %w", nodes[i].Path, err)
	}
	if l.acl != nil {
		if err := l.engine.Prepare(l.acl, time.Now()).Err; err != proto.OK {
			return refusedLoad(`node "/"`, err)
		}
	}
	return nil
}

// apply carries out some operations in one transaction, or none of them.
func (l *loading) apply(from, to int) error {
	txn, err := l.prepare(from, to)
	if l.interrupted() {
		err = ErrStopped // which also ends a long transaction
	}
	if err != nil {
		return err
	}
	l.zxids[txn.Zxid] = true
	_, reaction := l.engine.SubmitTxn(txn, time.Now())
	l.pipeline.deliver(reaction)
	l.ensemble.catchUp()
	return nil
}

// undo takes back the first operations. What others have written meanwhile stays.
func (l *loading) undo(done int) {
	for _, op := range slices.Backward(l.ops[:done]) {
		create, ok := op.(*proto.Create)
		if !ok {
			continue
		}
		n, _ := l.engine.Store().Node(create.Path)
		if l.zxids[n.Stat.Czxid] && n.Stat.Mzxid == n.Stat.Czxid {
			l.pipeline.submit(&proto.Delete{Path: create.Path, Version: -1}, time.Now())
		}
		l.turns.step(1)
	}
	root, _ := l.engine.Store().Node("/")
	if l.before != nil && l.zxids[root.Stat.Mzxid] {
		for _, req := range changesOfRoot(l.engine.Store(), l.before.Data, root.ACL) {
			l.pipeline.submit(req, time.Now())
		}
	}
}

// mostParents bounds the bytes of the paths of missing parents: their number grows with the square
// of the depth.
const mostParents = 16 << 20

// add plans one node and the parents it misses.
func (l *loading) add(n *view.NodeSpec) error {
	if err := checkSpec(n); err != nil {
		return err
	}
	if n.Path == "/" {
		return l.addRoot(n)
	}
	if err := l.addParents(n.Path); err != nil {
		return err
	}
	if l.made[n.Path] {
		return errTwice
	}
	l.create(n, n.Path)
	return nil
}

// addParents plans the missing parents of a path.
func (l *loading) addParents(path string) error {
	var missing []string
	for p := path; ; {
		if p = p[:strings.LastIndexByte(p, '/')]; p == "" || l.exists(p) {
			break
		}
		missing = append(missing, p)
		if l.parent += len(p); l.parent > mostParents {
			return fmt.Errorf("missing parents have more than %d bytes of paths together; "+
				"expected less, or parents that are given", mostParents)
		}
	}
	for _, p := range slices.Backward(missing) {
		l.create(&view.NodeSpec{Path: p}, path)
	}
	return nil
}

// addRoot plans the changes of "/". The multi sets its data; a request of its own sets its ACL.
func (l *loading) addRoot(n *view.NodeSpec) error {
	if l.before != nil {
		return errTwice
	}
	before, _ := l.engine.Store().Node("/")
	l.before = &located{"/", before}
	for _, req := range changesOfRoot(l.engine.Store(), slices.Clone(n.Data), aclOf(n)) {
		if set, ok := req.(*proto.SetACL); ok {
			l.acl = set
			continue
		}
		l.ops, l.nodes = append(l.ops, req), append(l.nodes, n.Path)
	}
	return nil
}

var errTwice = errors.New("it is given twice")

func (l *loading) exists(p string) bool {
	_, ok := l.engine.Store().Node(p)
	return ok || l.made[p]
}

// create plans the creation of a node, which the node at path needs.
func (l *loading) create(n *view.NodeSpec, path string) {
	req := &proto.Create{
		Code: proto.OpCreate, Path: n.Path, Data: slices.Clone(n.Data), ACL: aclOf(n),
	}
	switch n.Kind {
	case view.ContainerNode:
		req.Code, req.Flags = proto.OpCreateContainer, proto.FlagContainer
	case view.TTLNode:
		req.Code, req.Flags, req.TTL = proto.OpCreateTTL, proto.FlagTTL, n.TTL.Milliseconds()
	}
	l.ops, l.nodes = append(l.ops, req), append(l.nodes, path)
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

// prepare prepares some operations, or finds the error that they would have.
func (l *loading) prepare(from, to int) (state.Txn, error) {
	txn := l.engine.Prepare(&proto.Multi{Ops: l.ops[from:to]}, time.Now())
	for i, err := range txn.OpErrs {
		if err != proto.OK {
			return txn, refusedLoad(l.describe(from+i), err)
		}
	}
	if txn.Err != proto.OK {
		return txn, fmt.Errorf("%d nodes: %s", to-from, txn.Err)
	}
	return txn, nil
}

// describe names the operation at an index.
func (l *loading) describe(i int) string {
	if path := proto.PathOf(l.ops[i]); path != l.nodes[i] {
		return fmt.Sprintf("node %q: create its parent %s", l.nodes[i], path)
	}
	return fmt.Sprintf("node %q", l.nodes[i])
}

// ErrConflict is wrapped by errors of Load that the content of the server causes: a node that
// exists, a parent that is ephemeral, a quota.
var ErrConflict = errors.New("fakezk: in conflict with the content of the server")

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

// setNumbers moves the sequence numbers of the loaded nodes on.
func (l *loading) setNumbers(nodes []*view.NodeSpec) {
	for _, spec := range nodes {
		if n, ok := l.engine.Store().Node(spec.Path); ok && n.Created < spec.Next {
			l.ensemble.catchUp()
			l.engine.SetCreated(spec.Path, spec.Next)
		}
		l.turns.step(1)
	}
}
