package fakezk

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/view"
)

// heap is the number of bytes in use, without those that a collection frees.
func heap() int {
	for range 3 { // a sync.Pool keeps its elements for two
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// The memory that a connection or a call took is free afterwards, without another request.
func TestLargeWorkGivesItsMemoryBack(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	marks.Expect(t, "table made anew")
	for _, test := range []struct {
		name string
		work func(t *testing.T, s *Server, r *rawClient)
	}{
		{"a large reply", func(_ *testing.T, _ *Server, r *rawClient) {
			r.mustCall(&proto.MultiRead{
				Ops: slices.Repeat([]proto.Request{&proto.GetData{Path: "/big"}}, 30),
			})
		}},
		{"large requests", func(_ *testing.T, _ *Server, r *rawClient) {
			for range 10 {
				r.mustCall(&proto.SetData{Path: "/big", Data: make([]byte, 1<<20-100), Version: -1})
			}
		}},
		{"a large multi", func(_ *testing.T, _ *Server, r *rawClient) {
			var m proto.Multi
			for i := range 5000 {
				path := fmt.Sprintf("/n%d", i)
				m.Ops = append(m.Ops, rawCreate(path, 0), &proto.Delete{Path: path, Version: -1})
			}
			r.mustCall(&m)
		}},
		{"many watches", func(_ *testing.T, _ *Server, r *rawClient) {
			for batch := range 10 {
				set := &proto.SetWatches{
					Code: proto.OpSetWatches, DataWatches: []string{}, ChildWatches: []string{},
				}
				for i := range 5000 {
					path := fmt.Sprintf("/w%d-%d", batch, i)
					set.ExistWatches = append(set.ExistWatches, path)
				}
				r.mustCall(set)
			}
		}},
		{"many ephemerals", func(_ *testing.T, _ *Server, r *rawClient) {
			for batch := range 4 {
				var m proto.Multi
				for i := range 5000 {
					m.Ops = append(m.Ops, rawCreate(fmt.Sprintf("/big/e%d-%d", batch, i), 1))
				}
				r.mustCall(&m)
			}
			r.mustCall(&proto.Simple{Code: proto.OpCloseSession})
		}},
		{"a bad frame", func(_ *testing.T, _ *Server, r *rawClient) {
			r.send(wire.AppendRequest(nil, 1,
				&proto.SetData{Data: make([]byte, 1<<20-100)})[:1<<19])
		}},
		{"a load", func(t *testing.T, s *Server, _ *rawClient) {
			var nodes []view.NodeSpec
			for i := range 30_000 {
				nodes = append(nodes, view.NodeSpec{Path: fmt.Sprintf("/l/%d", i)})
			}
			mustDo(t, s.Load(nodes))
			s.Reset()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, address := startTCP(t)
			mustDo(t, s.Put("/big", bytes.Repeat([]byte("x"), 1<<20-100)))
			before := heap()
			r := dialTCP(t, address)
			r.handshake(proto.ConnectRequest{TimeoutMs: 40_000})
			test.work(t, s, r)
			mustDo(t, r.Close())
			await(t, "the connection's end", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				next := s.engine.NextDeadline() // in the past while watches are left
				return len(s.links.byID) == 0 && (next.IsZero() || next.After(time.Now()))
			})
			if left := heap() - before; left > 1<<20 {
				t.Errorf("%d KiB are left", left>>10)
			}
		})
	}
}
