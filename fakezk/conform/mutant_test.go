package conform

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// mutants are servers with faults, each with the family that must find it.
var mutants = []struct {
	name, family string
	fault        fault
	want         string // part of the report
}{
	{
		name: "children in another order", family: "order",
		fault: each(ofType(func(list *proto.ChildrenReply) { slices.Reverse(list.Names) })),
	},
	{
		name: "ephemerals in another order", family: "ephemerals",
		fault: each(ofType(func(list *proto.EphemeralsReply) { slices.Reverse(list.Paths) })),
	},
	{
		name: "identities in another order", family: "order",
		fault: each(ofType(func(list *proto.WhoAmIReply) { slices.Reverse(list.IDs) })),
	},
	{
		name: "an event is lost", family: "watches",
		fault: each(ofEvent(proto.EventDataChanged, func(p []byte) [][]byte { return nil })),
	},
	{
		name: "an event comes twice", family: "watches",
		fault: each(ofEvent(proto.EventDeleted, func(p []byte) [][]byte { return [][]byte{p, p} })),
	},
	{
		name: "an event has the zxid of 3.9", family: "watches",
		fault: each(ofEvent(proto.EventCreated, func(p []byte) [][]byte {
			return [][]byte{replaced(p, 4, binary.BigEndian.AppendUint64(nil, 7))}
		})),
	},
	{
		name: "events come after the reply", family: "watches",
		fault: func(c *mutantConn) { c.change = lateEvents() },
	},
	{
		name: "a failed write uses no zxid", family: "zxids",
		fault: each(ofErr(proto.NodeExists, func(h *proto.ReplyHeader) { h.Zxid-- })),
	},
	{
		name: "a failed read has no zxid", family: "zxids",
		fault: each(ofErr(proto.NoNode, func(h *proto.ReplyHeader) { h.Zxid = 0 })),
	},
	{
		name: "the wrong error first", family: "paths",
		fault: each(ofErr(proto.NoChildrenForEphemerals, func(h *proto.ReplyHeader) {
			h.Err = proto.BadArguments
		})),
	},
	{
		name: "an auth has a zxid", family: "auth",
		fault: each(ofOp(proto.OpAuth, func(h *proto.ReplyHeader) { h.Zxid = 1 })),
	},
	{
		name: "an unknown operation has a zxid", family: "framing",
		fault: each(func(op proto.OpCode, p []byte) [][]byte {
			h, _, err := wire.DecodeReplyHeader(p)
			if err == nil && h.Err == proto.Unimplemented && h.Zxid == -1 {
				return [][]byte{replaced(p, 4, make([]byte, 8))}
			}
			return [][]byte{p}
		}),
	},
	{
		name: "cversion counts creates only", family: "stat",
		fault: each(ofStat(func(s *proto.Stat) { s.Cversion = (s.Cversion + s.NumChildren) / 2 })),
	},
	{
		name: "pzxid is mzxid", family: "stat",
		fault: each(ofStat(func(s *proto.Stat) { s.Pzxid = s.Mzxid })),
	},
	{
		name: "no node has an owner", family: "stat",
		fault: each(ofStat(func(s *proto.Stat) { s.EphemeralOwner = 0 })),
	},
	{
		name: "mtime is not the change's", family: "stat",
		fault: each(ofStat(func(s *proto.Stat) { s.Mtime += int64(s.Version) * 1000 })),
	},
	{
		name: "null data is empty", family: "stat",
		fault: each(ofType(func(d *proto.DataReply) { d.Data = append([]byte{}, d.Data...) })),
	},
	{
		name: "a sequence number too many", family: "sequence",
		fault: each(ofType(func(created *proto.PathReply) { created.Path += "1" })),
	},
	{
		name: "a failed multi has other codes", family: "multi",
		fault: each(ofType(func(m *proto.MultiReply) {
			for i := range m.Results {
				if m.Results[i].Err == proto.RuntimeInconsistency {
					m.Results[i].Err = proto.OK
				}
			}
		})),
	},
	{
		name: "a reply has a byte too many", family: "acl",
		fault: each(func(op proto.OpCode, p []byte) [][]byte {
			if op == proto.OpSetACL {
				p = append(p, 0)
			}
			return [][]byte{p}
		}),
	},
	{
		name: "a timeout is rounded", family: "sessions",
		fault: each(func(op proto.OpCode, p []byte) [][]byte {
			if op == opConnect && len(p) >= 8 {
				timeout := binary.BigEndian.Uint32(p[4:]) / 1000 * 1000
				p = replaced(p, 4, binary.BigEndian.AppendUint32(nil, timeout))
			}
			return [][]byte{p}
		}),
	},
	{
		name: "the read-only byte is always there", family: "sessions",
		fault: each(func(op proto.OpCode, p []byte) [][]byte {
			if op == opConnect && len(p) == 36 {
				p = append(p, 0)
			}
			return [][]byte{p}
		}),
	},
	{name: "a session gets another password", family: "sessions", fault: newPasswords()},
	{
		name: "every time is an hour ahead", family: "stat", want: "3600 s too late",
		fault: each(ofStat(func(s *proto.Stat) {
			s.Ctime, s.Mtime = s.Ctime+3_600_000, s.Mtime+3_600_000
		})),
	},
	{
		name: "every time is an hour behind", family: "stat", want: "3600 s too early",
		fault: each(ofStat(func(s *proto.Stat) {
			s.Ctime, s.Mtime = s.Ctime-3_600_000, s.Mtime-3_600_000
		})),
	},
	{
		name: "times are in microseconds", family: "stat", want: "s too late",
		fault: each(ofStat(func(s *proto.Stat) {
			s.Ctime, s.Mtime = s.Ctime*1000, s.Mtime*1000
		})),
	},
	{
		name: "times fall", family: "stat", want: "a time that falls",
		fault: each(ofStat(func(s *proto.Stat) {
			s.Ctime, s.Mtime = s.Ctime-10*(s.Czxid%100), s.Mtime-10*(s.Mzxid%100)
		})),
	},
	{
		name: "a header has an earlier zxid", family: "auth", want: "1 before the script",
		fault: each(ofOp(proto.OpWhoAmI, func(h *proto.ReplyHeader) { h.Zxid -= 2 })),
	},
	{name: "a replay is of everything", family: "setwatches", fault: sincePast},
	{name: "a replay is of nothing", family: "setwatches", fault: sinceFuture},
	{name: "an event hits another session", family: "watches", fault: misdirected()},
	{
		name: "digests are not masked", family: "acl",
		fault: each(ofType(func(list *proto.ACLReply) {
			list.ACL = slices.Clone(list.ACL) // lists may be shared
			for i := range list.ACL {
				list.ACL[i].ID = strings.TrimSuffix(list.ACL[i].ID, ":x")
			}
		})),
	},
	{
		name: "quotas count one node too many", family: "quota",
		fault: each(ofType(func(d *proto.DataReply) {
			d.Data = bytes.Replace(d.Data, []byte("count=2,"), []byte("count=3,"), 1)
		})),
	},
	{
		name: "a connection ends within a length", family: "framing", want: "within a frame",
		fault: func(c *mutantConn) { c.atEnd = []byte{0, 0} },
	},
	{
		name: "a connection ends within a frame", family: "framing", want: "within a frame",
		fault: func(c *mutantConn) { c.atEnd = []byte{0, 0, 0, 3, 1} },
	},
	{
		name: "a connection ends after a length", family: "framing", want: "within a frame",
		fault: func(c *mutantConn) { c.atEnd = []byte{0, 0, 0, 3} },
	},
	{
		name: "a connection ends with garbage", family: "framing",
		want:  "frame length -2",
		fault: func(c *mutantConn) { c.atEnd = []byte{255, 255, 255, 254} },
	},
	{
		name: "a connection ends with a reset", family: "framing", want: "reset",
		fault: func(c *mutantConn) {
			c.end = func() error { return syscall.ECONNRESET }
		},
	},
	{
		name: "something comes after the client's end", family: "sessions", want: "nothing asked",
		fault: func(c *mutantConn) {
			c.afterOurs = wire.AppendReply(nil, proto.ReplyHeader{Xid: 5, Zxid: 5}, nil)
		},
	},
	{
		name: "the ids of sessions lack the server", family: "sessions", want: "of server 0",
		fault: connects(func(p []byte) []byte {
			return replaced(p, 8, []byte{0})
		}),
	},
	{name: "an id is left out", family: "sessions", want: "2 after the last", fault: idsLeftOut()},
}

func TestWrongServersAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				report, err := Compare(t.Context(), fake(t, settings), mutant(t, settings, m.fault),
					Options{Families: []string{m.family}})
				if err != nil || report.Equal() {
					t.Errorf("not found: %v\n%s", err, report.Table())
					return
				}
				text := report.Explain(report.Differences[0])
				t.Log(text)
				check.Contains(t, text, m.want, "the report")
			})
		})
	}
}

// TestAMutantWithoutAChangeIsEqual shows that mutantConn itself makes no difference.
func TestAMutantWithoutAChangeIsEqual(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		same := each(func(_ proto.OpCode, p []byte) [][]byte { return [][]byte{p} })
		wantEqual(t, fake(t, settings), mutant(t, settings, same),
			Options{Fresh: true, Families: []string{"watches", "stat", "framing", "auth"}})
	})
}

// TestRandomFindsAndShrinks finds a lost event with random scripts. The shortest script is
// a watch and a write.
func TestRandomFindsAndShrinks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		lost := each(ofEvent(proto.EventChildrenChanged, func([]byte) [][]byte { return nil }))
		report, err := Compare(t.Context(), fake(t, settings), mutant(t, settings, lost),
			Options{Families: []string{randomFamily}, Ops: 20_000, Seed: 7})
		if err != nil || report.Equal() {
			t.Fatalf("not found: %v\n%s", err, report.Table())
		}
		d := report.Differences[0]
		if len(d.Steps) > 3 {
			t.Errorf("shrunk to %d steps; want a watch and a write\n%s", len(d.Steps),
				report.Explain(d))
		}
		for _, s := range d.Steps {
			if strings.HasPrefix(s, "# ") {
				continue
			}
			if _, err := parseStep(s); err != nil {
				t.Errorf("%s: cannot be parsed: %v", s, err)
			}
		}
	})
}
