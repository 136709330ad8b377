package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// TestACrashLeavesTheSession, and nothing else of the process is ever seen again.
func TestACrashLeavesTheSession(t *testing.T) {
	marks.Expect(t, "dial of a dead process")
	p := perform(t, "crash client=a op=create path=/x request=1",
		func(s *stage) {
			s.create("/e", zk.FlagEphemeral)
			s.create("/x", 0)
			s.writeLine("alive")
			s.Note("alive")
		},
		func(s *stage) { s.Conn(); _ = s.Sleep(s.ctx, 30*time.Second) })
	check.Equal(t, p.changes(trace.NodeCreated, "/x"), 0,
		"applications of the dead process's request")
	died := p.notice(t, "a", trace.Died, 1)
	between(t, "the end of the session", p.change(t, trace.NodeDeleted, "/e"), died+9*time.Second,
		died+15*time.Second)
	if n := p.notices("a"); n[len(n)-1] != trace.Died {
		t.Errorf("a was told %v", n)
	}
	if text := p.Trace.String(); strings.Contains(text, "alive") {
		t.Error("the dead process goes on")
	}
}

// TestNoSessionOfADeadProcessIsThereAtRest, though the server has been down and has restarted its
// timer.
func TestNoSessionOfADeadProcessIsThereAtRest(t *testing.T) {
	marks.Expect(t, "session of a dead process")
	p := performIn(t, World{SessionTimeout: 4 * time.Second}, `
		restart 30s at=100ms
		crash client=a at=200ms`, func(s *stage) {
		s.create("/e", zk.FlagEphemeral)
		_ = s.Sleep(s.ctx, time.Second)
	})
	p.notice(t, "a", trace.Died, 1)
	if len(p.Sessions)+len(p.Nodes) != 1 { // the node is /
		t.Errorf("at rest: sessions %v, nodes %v", p.Sessions, p.Nodes)
	}
}

// TestANewProcessHasItsOwnSession and no memory of the dead one.
func TestANewProcessHasItsOwnSession(t *testing.T) {
	p := perform(t, "respawn 2s client=a op=create path=/x request=1", func(s *stage) {
		s.create("/e", zk.FlagEphemeral)
		s.create("/x", zk.FlagEphemeral)
	})
	died := p.notice(t, "a", trace.Died, 1)
	between(t, "the new process", p.change(t, trace.NodeCreated, "/x"), died+2*time.Second,
		died+3*time.Second)
	p.wantLines(t, "a'", already[:len("create /")]+"e"+already[len("create /x"):], created)
	names := []string{}
	for _, session := range p.SessionClient {
		names = append(names, session)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"a", "a'"}) {
		t.Errorf("sessions of %v", names)
	}
}

// TestACrashAtATimeMeansAllClients without a selector, and a process that has ended its script dies
// for good.
func TestACrashAtATimeMeansAllClients(t *testing.T) {
	late := func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, 5*time.Second)
		s.create("/"+s.Name(), 0)
	}
	p := perform(t, "respawn 1s at=2s", func(s *stage) { s.create("/soon", 0) }, late)
	for _, client := range []string{"a", "b"} {
		p.notice(t, client, trace.Died, 1)
	}
	if strings.Contains(p.Trace.String(), "a'") || p.changes(trace.NodeCreated, "/b'") != 1 ||
		p.changes(trace.NodeCreated, "/b") != 0 {
		t.Errorf("changes: %+v", p.Changes)
	}
}
