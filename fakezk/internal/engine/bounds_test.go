package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestAMultiReadIsBounded asks for 2.5 GB with one small request.
func TestAMultiReadIsBounded(t *testing.T) {
	marks.Expect(t, "multiRead too large")
	marks.Expect(t, "buffer too large to keep")
	b := newBench(t, nil)
	id := b.connect(10 * time.Second)
	b.must(id, create("/a", 0), &proto.SetData{
		Path: "/a", Data: make([]byte, 1<<20), Version: -1,
	})
	reads := func(n int) *proto.MultiRead {
		req := &proto.MultiRead{}
		for range n {
			req.Ops = append(req.Ops, &proto.GetData{Path: "/a"})
		}
		return req
	}
	if r := b.ask(id, reads(64)); r.TooLarge || len(r.Reply.(proto.MultiReply).Results) != 64 {
		t.Errorf("64 MiB are refused")
	}
	if b.must(id, &proto.Exists{Path: "/a"}); cap(b.e.conns.buf) > keptBuffer {
		t.Errorf("the engine keeps a buffer of %d bytes", cap(b.e.conns.buf))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := b.ask(id, reads(2500))
	runtime.ReadMemStats(&after)
	if !r.TooLarge || !r.Silent {
		t.Errorf("got a reply: %+v", r.Header)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 10<<20 {
		t.Errorf("the refusal took %d bytes", n)
	}
	b.wantOutputs("1:closed@0")
}

// TestAListIsBounded asks for a list of more than 64 MiB, alone and in a multiRead.
func TestAListIsBounded(t *testing.T) {
	marks.Expect(t, "list too large")
	marks.Expect(t, "multiRead of a list too large")
	b := newBench(t, nil)
	id := b.connect(10 * time.Second)
	long := strings.Repeat("x", 1<<20)
	for i := range 63 {
		b.must(id, create(fmt.Sprintf("/%d%s", i, long), proto.FlagEphemeral))
	}
	list := &proto.GetChildren{Code: proto.OpGetChildren, Path: "/"}
	b.must(id, list, &proto.GetEphemerals{})
	b.must(id, create("/64"+long, proto.FlagEphemeral))
	for _, req := range []proto.Request{
		list, &proto.GetChildren{Code: proto.OpGetChildren2, Path: "/"}, &proto.GetEphemerals{},
		&proto.MultiRead{Ops: []proto.Request{list}},
	} {
		other := b.connect(10 * time.Second)
		if req.Op() == proto.OpGetEphemerals {
			other = id
		}
		if r := b.ask(other, req); !r.TooLarge || !r.Silent {
			t.Errorf("%s: got a reply: %+v", req.Op(), r.Header)
		}
	}
}

func TestIdentitiesAreBounded(t *testing.T) {
	b := newBench(t, nil)
	id := b.connect(10 * time.Second)
	for i := range 16 {
		b.must(id, &proto.Auth{Scheme: "digest", Data: large(i)})
	}
	check.Equal(t, b.ask(id, &proto.Auth{Scheme: "digest", Data: large(16)}).Err, proto.AuthFailed)
	b.wantOutputs("1:closed@0")
}

// large returns the nth user name of one MiB.
func large(n int) []byte {
	name := make([]byte, 1<<20)
	name[0] = byte('a' + n)
	return name
}
