package sim

import (
	"slices"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// TestStatesOfServers: the result tells what faults do to each server, who leads, and what each
// has applied. At the end all have applied the same.
func TestStatesOfServers(t *testing.T) {
	p := performIn(t, World{Seed: 1, Servers: 3}, `
		lag 2s server=2 at=1s
		pause-server 3s server=3 at=4s
		isolate 12s server=1 at=10s
		restart 2s server=2 at=30s`, func(s *stage) {
		for range 40 {
			_, _ = s.Conn().Create("/x", nil, 0, worldACL)
			_ = s.Conn().Delete("/x", -1)
			_ = s.Sleep(s.ctx, second)
		}
	})
	has := func(what string, is func(trace.ServerState) bool) {
		t.Helper()
		if !slices.ContainsFunc(p.Servers, is) {
			t.Errorf("no state tells that %s: %+v", what, p.Servers)
		}
	}
	has("server 1 leads", func(s trace.ServerState) bool { return s.Server == 1 && s.Leads })
	has("server 2 lags", func(s trace.ServerState) bool { return s.Server == 2 && s.Lags })
	has("server 3 stands still", func(s trace.ServerState) bool { return s.Server == 3 && s.Paused })
	has("server 1 is cut off", func(s trace.ServerState) bool { return s.Server == 1 && s.CutOff })
	has("server 1 believes to lead", func(s trace.ServerState) bool {
		return s.Server == 1 && s.Believes && !s.Leads
	})
	has("server 2 is down", func(s trace.ServerState) bool { return s.Server == 2 && s.Down })
	last, step := map[int]trace.ServerState{}, int64(0)
	for _, s := range p.Servers {
		if s.Step < step || s.Zxid < last[s.Server].Zxid {
			t.Errorf("%+v is behind %+v of step %d", s, last[s.Server], step)
		}
		step, last[s.Server] = s.Step, s
	}
	check.Equal(t, len(last), 3, "servers")
	for _, s := range last {
		check.Equal(t, s.Zxid, last[1].Zxid, "last transaction of a server")
	}
	one := mustRun(t, World{Seed: 1, Clients: lockers(2, 1)})
	check.Equal(t, len(one.Servers), 0, "states of the only server")
}

// TestMessagesNameTheirServer, and a lost one, too.
func TestMessagesNameTheirServer(t *testing.T) {
	r := mustRun(t, World{Seed: 2, Servers: 3, Clients: lockers(4, 2),
		Plan: []fault.Fault{{Kind: fault.Cut, Client: "a", Request: 2}}})
	at := map[int]int{} // server of the request at a line
	for _, p := range r.Requests {
		at[int(p.Step)] = p.Server
	}
	servers := map[int]bool{}
	for _, m := range r.Messages() {
		servers[m.Server] = true
		if want := at[int(m.Step)]; m.Up && want != 0 && m.Server != want {
			t.Errorf("%+v goes to server %d", m, want)
		}
	}
	if len(servers) < 2 || servers[0] {
		t.Errorf("messages of the servers %v", servers)
	}
}

// TestDataOfLines: the trace has the data of writes, even of those in vain, and of reads, beside
// its lines.
func TestDataOfLines(t *testing.T) {
	p := perform(t, "", func(s *stage) {
		for range 2 {
			_, _ = s.Conn().Create("/x", []byte("one"), 0, worldACL)
		}
		_, _ = s.Conn().Set("/y", []byte("two"), -1)
		_, _, _ = s.Conn().Get("/x")
	})
	var got []string
	for _, r := range p.Requests {
		sent, read := p.Trace.ZnodeData(r.Step)
		got = append(got, string(sent)+"|"+string(read))
	}
	check.List(t, got, []string{"one|", "one|", "two|", "|one"}, "data of the requests")
	sent, read := p.Trace.ZnodeData(int64(p.Trace.Len()) + 1)
	check.Equal(t, len(sent)+len(read), 0, "bytes of data behind the end")
}
