package fakezk

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/internal/refstore"
)

// A step is one thing that one of the clients does, as data.
type step struct {
	Kind    stepKind
	By      int // which client
	Path    string
	Data    []byte
	Flags   int32
	ACL     []refstore.ACL
	Version int32
	Watch   bool
	Ops     []step // of a multi, or of another client during a drop
}

type stepKind string

const (
	doCreate    stepKind = "create"
	doContainer stepKind = "createContainer"
	doTTL       stepKind = "createTTL"
	doDelete    stepKind = "delete"
	doSet       stepKind = "set"
	doCheck     stepKind = "check" // in a multi only: the client has no other
	doSetACL    stepKind = "setACL"
	doMulti     stepKind = "multi"
	doExists    stepKind = "exists"
	doGet       stepKind = "get"
	doChildren  stepKind = "children"
	doGetACL    stepKind = "getACL"
	doSync      stepKind = "sync"
	doDrop      stepKind = "drop"   // the connection breaks and comes back
	doClose     stepKind = "close"  // the session ends, a new client takes its place
	doExpire    stepKind = "expire" // the server ends the session, the client gets another
)

func (s step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client %d: %s %q", s.By, s.Kind, s.Path)
	switch s.Kind {
	case doCreate:
		fmt.Fprintf(&b, " flags %d data %q acl %v", s.Flags, s.Data, s.ACL)
	case doSet, doDelete, doCheck, doSetACL:
		fmt.Fprintf(&b, " version %d data %q acl %v", s.Version, s.Data, s.ACL)
	case doMulti, doDrop:
		for _, op := range s.Ops {
			b.WriteString("\n      " + op.String())
		}
	}
	if s.Watch {
		b.WriteString(" +watch")
	}
	return b.String()
}

const clientCount = 3

// Paths are few, so that steps meet. Every sixth is an odd one, some of them refused by the server
// though the client sends them: its own idea of a path is looser.
var (
	stepPaths = mostly(5, []string{"/a", "/a", "/a", "/a/x", "/a/x", "/b", "/a/y"}, []string{
		"/b/x", "/a/x/p", "/", "/a/s-0000000000", "/a/s-0000000001", "/s-0000000001", "/é",
		"/zookeeper", "/zookeeper/config", "/zookeeper/quota", "/zookeeper/mine", "/a/\U0001F600",
		"/\ue000",
	})
	stepPrefixes = []string{"/a/s-", "/a/s-", "/s-", "/a/", "/a/x/", "/b/é-", "/\U0001F600"}
	stepACLs     = mostly(5, [][]refstore.ACL{refstore.World(refstore.PermAll)}, [][]refstore.ACL{
		refstore.World(refstore.PermRead | refstore.PermAdmin),
		refstore.World(refstore.PermAll &^ refstore.PermRead),
		refstore.World(refstore.PermAll &^ refstore.PermCreate), refstore.World(0),
		{{Perms: refstore.PermRead, Scheme: "world", ID: "anyone"},
			{Perms: refstore.PermAll, Scheme: "digest", ID: "alice:hash"}},
		{{Perms: refstore.PermAll, Scheme: "world", ID: "anyone"},
			{Perms: refstore.PermAll, Scheme: "world", ID: "anyone"}},
		nil, {}, {{Perms: refstore.PermAll, Scheme: "world", ID: "nobody"}},
		{{Perms: refstore.PermAll, Scheme: "digest", ID: "colonless"}},
	})
	stepData  = evenly([][]byte{nil, {}, []byte("x"), []byte("longer data")})
	stepKinds = mostly(20, []stepKind{
		doCreate, doCreate, doCreate, doCreate, doCreate, doDelete, doDelete, doDelete,
		doSet, doSet, doMulti, doMulti,
		doExists, doExists, doExists, doGet, doGet, doChildren, doChildren, doChildren, doGetACL,
	}, []stepKind{doContainer, doTTL, doSetACL, doSetACL, doSync, doDrop, doDrop, doDrop, doClose,
		doExpire})
)

// mostly draws from usual, and once in n times from odd.
func mostly[T any](n int, usual, odd []T) *rapid.Generator[T] {
	weighted := odd
	for len(weighted) < n*len(odd) {
		weighted = append(weighted, usual...)
	}
	slices.Reverse(weighted) // simple ones first: rapid shrinks to the left
	return evenly(weighted)
}

// evenly draws every element equally often. rapid.SampledFrom prefers the first
// ones so much that steps hardly ever meet.
func evenly[T any](from []T) *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) T {
		n := 0
		for range 8 {
			n <<= 1
			if rapid.Bool().Draw(t, "bit") {
				n++
			}
		}
		return from[n*len(from)/256]
	})
}

func drawStep(t *rapid.T) step {
	s := step{Kind: stepKinds.Draw(t, "kind"), By: evenly([]int{0, 1, 2}).Draw(t, "by")}
	switch s.Kind {
	case doMulti:
		s.Ops = drawOps(t, s.By, doCreate, doCreate, doDelete, doSet, doCheck)
	case doDrop:
		s.Ops = drawOps(t, (s.By+1)%clientCount, doCreate, doCreate, doDelete, doDelete,
			doSet, doSetACL)
	case doClose, doExpire:
	default:
		s.drawDetails(t)
	}
	return s
}

func drawOps(t *rapid.T, by int, kinds ...stepKind) (ops []step) {
	for range evenly([]int{0, 1, 2, 3, 4}).Draw(t, "ops") {
		op := step{By: by, Kind: evenly(kinds).Draw(t, "op")}
		op.drawDetails(t)
		ops = append(ops, op)
	}
	return ops
}

func (s *step) drawDetails(t *rapid.T) {
	s.Path = stepPaths.Draw(t, "path")
	switch s.Kind {
	case doCreate:
		s.Flags = evenly([]int32{0, 0, 1, 2, 3}).Draw(t, "flags")
	case doTTL:
		s.Flags = evenly([]int32{5, 6}).Draw(t, "flags")
	case doContainer:
		s.Flags = 4
	case doExists, doGet, doChildren:
		s.Watch = evenly([]bool{false, true, true, true}).Draw(t, "watch")
	case doDelete, doSet, doCheck, doSetACL:
		s.Version = evenly([]int32{-1, -1, -1, 0, 1, 2, -2}).Draw(t, "version")
	}
	switch s.Kind {
	case doCreate, doTTL, doContainer:
		if s.mode() == refstore.PersistentSequential || s.mode() == refstore.EphemeralSequential {
			s.Path = evenly(stepPrefixes).Draw(t, "prefix")
		}
		s.Data = stepData.Draw(t, "data")
		s.ACL = stepACLs.Draw(t, "acl")
	case doSet:
		s.Data = stepData.Draw(t, "data")
	case doSetACL:
		s.ACL = stepACLs.Draw(t, "acl")
	}
}

// mode maps the flags to the model: containers and TTL nodes are persistent nodes as long as
// nothing reaps them.
func (s step) mode() refstore.Mode {
	switch s.Flags {
	case 4, 5:
		return refstore.Persistent
	case 6:
		return refstore.PersistentSequential
	}
	return refstore.Mode(s.Flags)
}

// op is the step as an operation of the model's multi.
func (s step) op() refstore.Op {
	kinds := map[stepKind]refstore.OpKind{
		doCreate: refstore.OpCreate, doDelete: refstore.OpDelete, doSet: refstore.OpSet,
		doCheck: refstore.OpCheck,
	}
	return refstore.Op{Kind: kinds[s.Kind], Path: s.Path, Data: s.Data, Mode: s.mode(), ACL: s.ACL,
		Version: s.Version}
}
