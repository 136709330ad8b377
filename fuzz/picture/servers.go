package picture

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
)

// servers is the number of servers with a lane: of those of which states are known, else 1.
func (r reader) servers() int {
	most := 1
	for _, s := range r.Result.Servers {
		most = max(most, s.Server)
	}
	return most
}

// numberOf is the number of the server of a message, 0 if there is only one.
func (r reader) numberOf(m trace.Message) int {
	if r.servers() == 1 {
		return 0
	}
	return m.Server
}

// struck is the number of the server on which a fault acts, if the states of the servers show what
// it does there; else 0.
func (r reader) struck(s trace.Strike) int {
	if r.servers() == 1 || !s.Fault.Kind.NeedsEnsemble() && s.Fault.Server == 0 {
		return 0
	}
	if s.Fault.Server != 0 {
		return s.Fault.Server
	}
	for _, p := range r.Result.Requests {
		if p.Client == s.Client && p.Step >= s.Step-1 {
			return p.Server
		}
	}
	return 1
}

// states are the states of each server, one after the other.
func (r reader) states() []state {
	list := []state{}
	at := map[int]int{} // the last state of each server, as an index plus 1
	for _, s := range r.Result.Servers {
		if before := at[s.Server]; before > 0 {
			list[before-1].To = s.Step
		}
		list = append(list, state{
			Server: s.Server, From: s.Step, To: r.end, Zxid: zxidText(s.Zxid),
			Leads: s.Leads && !s.Down, Trouble: troubleOf(s),
		})
		at[s.Server] = len(list)
	}
	return list
}

// zxidText is a transaction as its epoch and its number in it, too, which can be read.
func zxidText(zxid int64) string {
	if epoch := zxid >> 32; epoch > 0 {
		return fmt.Sprintf("%d (%d of epoch %d)", zxid, zxid&(1<<32-1), epoch)
	}
	return fmt.Sprint(zxid)
}

// troubleOf is what is wrong with a server, in words.
func troubleOf(s trace.ServerState) string {
	var parts []string
	for _, p := range []struct {
		is   bool
		text string
	}{
		{s.Down, "is down, or has no leader"},
		{s.Paused, "stands still"},
		{s.CutOff, "does not reach the others"},
		{s.Lags, "lags"},
		{s.Believes, "leads no more, and does not know it"},
	} {
		if p.is {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, ", ")
}
