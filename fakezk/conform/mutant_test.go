package conform

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// mutants are wrong servers, each with the family that has to find it.
var mutants = []struct {
	name, family string
	begin        func() mutation
}{
	{"children in another order", "order", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if list, ok := r.(proto.ChildrenReply); ok && len(list.Names) > 1 {
			slices.Reverse(list.Names)
		}
		return r
	}))},
	{"ephemerals in another order", "ephemerals", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if list, ok := r.(proto.EphemeralsReply); ok && len(list.Paths) > 1 {
			slices.Reverse(list.Paths)
		}
		return r
	}))},
	{"identities in another order", "order", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if list, ok := r.(proto.WhoAmIReply); ok {
			slices.Reverse(list.IDs)
		}
		return r
	}))},
	{"an event is lost", "watches", each(ofEvent(proto.EventDataChanged, func(p []byte) [][]byte { return nil }))},
	{"an event comes twice", "watches", each(ofEvent(proto.EventDeleted, func(p []byte) [][]byte { return [][]byte{p, p} }))},
	{"an event has the zxid of 3.9", "watches", each(ofEvent(proto.EventCreated, func(p []byte) [][]byte {
		return [][]byte{replaced(p, 4, binary.BigEndian.AppendUint64(nil, 7))}
	}))},
	{"events come after the reply", "watches", lateEvents},
	{"a failed write uses no zxid", "zxids", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if h.Err == proto.NodeExists {
			h.Zxid--
		}
		return r
	}))},
	{"a failed read has no zxid", "zxids", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if h.Err == proto.NoNode {
			h.Zxid = 0
		}
		return r
	}))},
	{"the wrong error first", "paths", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if h.Err == proto.NoChildrenForEphemerals {
			h.Err = proto.BadArguments
		}
		return r
	}))},
	{"an auth has a zxid", "auth", each(ofOp(proto.OpAuth, func(h *proto.ReplyHeader) { h.Zxid = 1 }))},
	{"an unknown operation has a zxid", "framing", each(func(op proto.OpCode, p []byte) [][]byte {
		if h, _, err := wire.DecodeReplyHeader(p); err == nil && h.Err == proto.Unimplemented && h.Zxid == -1 {
			return [][]byte{replaced(p, 4, make([]byte, 8))}
		}
		return [][]byte{p}
	})},
	{"cversion counts creates only", "stat", each(ofStat(func(s *proto.Stat) { s.Cversion = (s.Cversion + s.NumChildren) / 2 }))},
	{"pzxid is mzxid", "stat", each(ofStat(func(s *proto.Stat) { s.Pzxid = s.Mzxid }))},
	{"nobody owns", "stat", each(ofStat(func(s *proto.Stat) { s.EphemeralOwner = 0 }))},
	{"mtime is not the change's", "stat", each(ofStat(func(s *proto.Stat) { s.Mtime += int64(s.Version) * 1000 }))},
	{"null data is empty", "stat", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if d, ok := r.(proto.DataReply); ok && d.Data == nil {
			d.Data = []byte{}
			return d
		}
		return r
	}))},
	{"a sequence number too many", "sequence", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if created, ok := r.(proto.PathReply); ok {
			created.Path += "1"
			return created
		}
		return r
	}))},
	{"a failed multi has other codes", "multi", each(ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if m, ok := r.(proto.MultiReply); ok {
			for i := range m.Results {
				if m.Results[i].Err == proto.RuntimeInconsistency {
					m.Results[i].Err = proto.OK
				}
			}
		}
		return r
	}))},
	{"a reply has a byte too many", "acl", each(func(op proto.OpCode, p []byte) [][]byte {
		if op == proto.OpSetACL {
			p = append(p, 0)
		}
		return [][]byte{p}
	})},
	{"a timeout is rounded", "sessions", each(func(op proto.OpCode, p []byte) [][]byte {
		if op == opConnect && len(p) >= 8 {
			timeout := binary.BigEndian.Uint32(p[4:]) / 1000 * 1000
			p = replaced(p, 4, binary.BigEndian.AppendUint32(nil, timeout))
		}
		return [][]byte{p}
	})},
	{"the read-only byte is always there", "sessions", each(func(op proto.OpCode, p []byte) [][]byte {
		if op == opConnect && len(p) == 36 {
			p = append(p, 0)
		}
		return [][]byte{p}
	})},
	{"a session gets another password", "sessions", newPasswords()},
}

func TestWrongServersAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			report, err := Compare(t.Context(), fake(t, settings), mutant(t, m.begin), Options{Fresh: true, Families: []string{m.family}})
			if err != nil || report.Equal() {
				t.Errorf("not found: %v\n%s", err, report.Table())
				return
			}
			t.Log(report.Explain(report.Differences[0]))
		})
	}
}

// TestUnchangedServerIsNotFound shows that it is the mutation that is found, and
// not the way in which it is made.
func TestUnchangedServerIsNotFound(t *testing.T) {
	t.Parallel()
	same := each(func(_ proto.OpCode, p []byte) [][]byte { return [][]byte{p} })
	wantEqual(t, fake(t, settings), mutant(t, same), Options{Fresh: true, Families: []string{"watches", "stat", "framing", "auth"}})
}

// TestRandomFindsAndShrinks lets random scripts find a lost event, which takes a
// watch and a write.
func TestRandomFindsAndShrinks(t *testing.T) {
	t.Parallel()
	lost := each(ofEvent(proto.EventChildrenChanged, func([]byte) [][]byte { return nil }))
	report, err := Compare(t.Context(), fake(t, settings), mutant(t, lost),
		Options{Families: []string{randomFamily}, Ops: 20_000, Seed: 7})
	if err != nil || report.Equal() {
		t.Fatalf("not found: %v\n%s", err, report.Table())
	}
	d := report.Differences[0]
	if len(d.Steps) > 3 {
		t.Errorf("shrunk to %d steps; want a watch and a write\n%s", len(d.Steps), report.Explain(d))
	}
	for _, s := range d.Steps {
		if _, err := parseStep(s); err != nil {
			t.Errorf("%s: cannot be played again: %v", s, err)
		}
	}
}

// each gives every connection the same mutation, which keeps no state.
func each(m mutation) func() mutation { return func() mutation { return m } }

// ofReply changes replies that can be decoded, their header and body.
func ofReply(change func(h *proto.ReplyHeader, r proto.Reply) proto.Reply) mutation {
	return func(op proto.OpCode, p []byte) [][]byte {
		h, body, err := wire.DecodeReplyHeader(p)
		if err != nil || op == opEvent || op == opConnect {
			return [][]byte{p}
		}
		if h.Err != proto.OK || len(body) == 0 {
			change(&h, nil)
			return [][]byte{append(wire.AppendReply(nil, h, nil)[4:], body...)}
		}
		reply, err := wire.DecodeReply(op, body)
		if err != nil {
			return [][]byte{p}
		}
		reply = change(&h, reply)
		return [][]byte{wire.AppendReply(nil, h, reply)[4:]}
	}
}

// ofOp changes the headers of the replies to one operation.
func ofOp(op proto.OpCode, change func(h *proto.ReplyHeader)) mutation {
	inner := ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		change(h)
		return r
	})
	return func(got proto.OpCode, p []byte) [][]byte {
		if got != op {
			return [][]byte{p}
		}
		return inner(got, p)
	}
}

// ofEvent changes the events of one type.
func ofEvent(kind proto.EventType, change func(p []byte) [][]byte) mutation {
	return func(op proto.OpCode, p []byte) [][]byte {
		if op == opEvent && proto.EventType(binary.BigEndian.Uint32(p[16:])) == kind {
			return change(p)
		}
		return [][]byte{p}
	}
}

// ofStat changes the stats that exists and getData show.
func ofStat(change func(*proto.Stat)) mutation {
	return ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		switch r := r.(type) {
		case proto.StatReply:
			change(&r.Stat)
			return r
		case proto.DataReply:
			change(&r.Stat)
			return r
		}
		return r
	})
}

// lateEvents keeps events until the next reply.
func lateEvents() mutation {
	var kept [][]byte
	return func(op proto.OpCode, p []byte) [][]byte {
		if op == opEvent {
			kept = append(kept, p)
			return nil
		}
		frames := append([][]byte{p}, kept...)
		kept = nil
		return frames
	}
}

// newPasswords gives each connection another password.
func newPasswords() func() mutation {
	number := byte(0)
	return func() mutation {
		number++
		mine := number
		return func(op proto.OpCode, p []byte) [][]byte {
			if op == opConnect && len(p) >= 36 {
				p = replaced(p, 20, bytes.Repeat([]byte{mine}, 16))
			}
			return [][]byte{p}
		}
	}
}

// replaced is p with other bytes at an offset.
func replaced(p []byte, at int, with []byte) []byte {
	p = bytes.Clone(p)
	copy(p[at:], with)
	return p
}
