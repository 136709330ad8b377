package fakezk

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// manyNodes are more nodes than a few turns take.
func manyNodes() (nodes []view.NodeSpec) {
	for i := range 5 * mostSteps {
		nodes = append(nodes, view.NodeSpec{Path: fmt.Sprintf("/many/%d/%d", i%100, i)})
	}
	return nodes
}

// TestOthersHaveTheirTurnInLongWork lets another goroutine write in the course of long work.
func TestOthersHaveTheirTurnInLongWork(t *testing.T) {
	for _, servers := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			othersHaveTheirTurn(t, New(Options{Servers: servers}))
		})
	}
}

func othersHaveTheirTurn(t *testing.T, s *Server) {
	defer s.Close()
	nodes := manyNodes()
	for _, test := range []struct {
		name string
		work func() error
	}{
		{"load", func() error { return s.Load(nodes) }},
		{"tree", func() error { s.Tree(); return nil }},
		{"snapshot", func() error { s.Snapshot(); return nil }},
		{"remove", func() error { return s.Remove("/many") }},
	} {
		var began, over atomic.Bool
		writes := make(chan int)
		go func() {
			n := 0
			for !over.Load() {
				mustDo(t, s.Put("/other", nil))
				if began.Load() && !over.Load() {
					n++
				}
			}
			writes <- n
		}()
		began.Store(true)
		mustDo(t, test.work())
		over.Store(true)
		if n := <-writes; n < 3 { // one before the work, and one after it
			t.Errorf("%s: %d writes of others", test.name, n)
		}
	}
}

// TestTheTreeIsOfOneMoment moves a node to and fro, and gives it a child, while the tree is listed.
func TestTheTreeIsOfOneMoment(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	mustDo(t, s.Load(append(manyNodes(), view.NodeSpec{Path: "/a/x"}, view.NodeSpec{Path: "/z"})))
	var over atomic.Bool
	moved := make(chan int)
	go func() {
		n := 0
		for from, to := "/a/x", "/z/x"; !over.Load(); from, to = to, from {
			s.mu.Lock()
			s.pipeline.mustSubmit(&proto.Multi{Ops: []proto.Request{
				&proto.Delete{Path: from, Version: -1},
				&proto.Create{Code: proto.OpCreate, Path: to, ACL: inspect.OpenACL},
			}}, time.Now())
			s.mu.Unlock()
			n++
		}
		moved <- n
	}()
	for range 10 {
		children, listed := map[string]int{}, map[string]int{}
		for _, n := range s.Tree() {
			children[n.Path] = n.NumChildren
			listed[parentOf(n.Path)]++
		}
		for _, path := range []string{"/a", "/z"} {
			check.Equal(t, children[path], listed[path], "children of %s", path)
		}
		check.Equal(t, listed["/a"]+listed["/z"], 1, "the node is listed")
	}
	over.Store(true)
	if n := <-moved; n < 10 {
		t.Errorf("%d moves", n)
	}
}

// TestALoadOfSeveralTransactionsIsAllOrNothing has an impossible node at the end.
func TestALoadOfSeveralTransactionsIsAllOrNothing(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	mustDo(t, s.Put("/there", nil))
	before := s.Snapshot()
	nodes := append(manyNodes(), view.NodeSpec{Path: "/", Data: []byte("root")},
		view.NodeSpec{Path: "/zz", ACL: []view.ACL{{Scheme: "none"}}})
	check.Contains(t, fmt.Sprint(s.Load(nodes)), `node "/zz": InvalidACL`)
	after := s.Snapshot()
	after[0].Next = before[0].Next // goes on
	check.Diff(t, after, before)
}

// TestStopEndsALoadUnderWay stops a server between two transactions of a load.
func TestStopEndsALoadUnderWay(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	go func() {
		for s.LastZxid() == 0 {
		}
		s.Stop()
	}()
	check.Is(t, s.Load(manyNodes()), ErrStopped)
	if n := len(s.Tree()); n <= 1 || n > 5*mostSteps {
		t.Errorf("%d nodes, want some", n)
	}
}
