package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/view"
)

func Tree(e *engine.Engine) []view.Node {
	var nodes []view.Node
	for path, v := range e.Store().Nodes() {
		if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
			continue
		}
		nodes = append(nodes, NodeOf(path, v))
	}
	return nodes
}

// Node is one node, if it exists.
func Node(e *engine.Engine, path string) (n view.Node, exists bool) {
	v, exists := e.Store().Node(path)
	if !exists {
		return view.Node{}, false
	}
	return NodeOf(path, v), true
}

// NodeOf is a node of a store.
func NodeOf(path string, v state.NodeView) view.Node {
	n := view.Node{
		Path: path, Data: slices.Clone(v.Data), Owner: v.Stat.EphemeralOwner,
		Czxid: v.Stat.Czxid, Mzxid: v.Stat.Mzxid,
		Version: v.Stat.Version, NumChildren: int(v.Stat.NumChildren),
	}
	n.Kind, n.TTL = Kind(v)
	if !slices.Equal(v.ACL, OpenACL) {
		n.ACL = ACLs(v.ACL)
	}
	return n
}

// Sessions lists the live sessions in order of id.
func Sessions(e *engine.Engine) []view.Session {
	var sessions []view.Session
	for _, v := range e.Sessions() {
		session := SessionOf(e, v)
		slices.Sort(session.Ephemerals)
		sessions = append(sessions, session)
	}
	return sessions
}

// SessionOf is a session of an engine, with its ephemeral nodes in any order.
func SessionOf(e *engine.Engine, v engine.SessionView) view.Session {
	return view.Session{
		ID: v.ID, Timeout: v.Timeout, Connected: v.Conn != 0, Server: v.Server + 1,
		Ephemerals: slices.Clone(e.Store().Ephemerals(v.ID)),
	}
}

// Watches turns watches of an engine into those that users see.
func Watches(list []engine.WatchView) []view.Watch {
	modes := [...]view.WatchMode{
		engine.OneShot: view.OneShotWatch, engine.Persistent: view.PersistentWatch,
		engine.Recursive: view.RecursiveWatch,
	}
	var watches []view.Watch
	for _, v := range list {
		watches = append(watches, view.Watch{
			Path: v.Path, Children: v.Child, Mode: modes[v.Mode], Session: v.Session,
		})
	}
	return watches
}

// CheckPath refuses paths of nodes that the direct calls must not change.
func CheckPath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"), strings.Contains(path, "//"),
		path != "/" && strings.HasSuffix(path, "/"):
		return fmt.Errorf("path %q: expected / or names that each follow one /", path)
	case path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/"):
		return fmt.Errorf("path %q: nodes under /zookeeper belong to the server", path)
	}
	return nil
}

// Put creates or sets a node and its missing parents.
func Put(
	e *engine.Engine, path string, data []byte, now time.Time, deliver func(engine.Reaction),
) error {
	submit := func(req proto.Request) proto.ErrCode {
		res, reaction := e.Submit(req, now)
		deliver(reaction)
		return res.Err
	}
	if err := CheckPath(path); err != nil {
		return fmt.Errorf("fakezk: put: %w", err)
	}
	create := func(p string, d []byte) proto.ErrCode {
		return submit(&proto.Create{Code: proto.OpCreate, Path: p, Data: d, ACL: OpenACL})
	}
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if _, code := e.Store().Exists(path[:i]); code == proto.OK {
			continue
		}
		if code := create(path[:i], nil); code != proto.OK {
			return fmt.Errorf("fakezk: put %s: create %s: %s", path, path[:i], code)
		}
	}
	code := proto.NodeExists
	if _, missing := e.Store().Exists(path); missing != proto.OK {
		code = create(path, data)
	}
	if code == proto.NodeExists {
		code = submit(&proto.SetData{Path: path, Data: data, Version: -1})
	}
	if code != proto.OK {
		return fmt.Errorf("fakezk: put %s: %s", path, code)
	}
	return nil
}

// OpenACL is the list that permits everything to all clients.
var OpenACL = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}

func ACLs(acl []proto.ACL) []view.ACL {
	list := make([]view.ACL, len(acl))
	for i, entry := range acl {
		list[i] = view.ACL(entry)
	}
	return list
}

// Kind is the kind of a node, and its TTL.
func Kind(n state.NodeView) (view.NodeKind, time.Duration) {
	switch {
	case n.Stat.EphemeralOwner != 0:
		return view.EphemeralNode, 0
	case n.Kind == state.KindContainer:
		return view.ContainerNode, 0
	case n.Kind == state.KindTTL:
		return view.TTLNode, time.Duration(n.TTLMs) * time.Millisecond
	}
	return view.PersistentNode, 0
}
