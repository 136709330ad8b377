package lock

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judgeBelief looks for too many believed holds at once, outside of zombie windows, and for
// wrong or missing signals of loss.
func judgeBelief(t table) lin.Verdict {
	certain := crowd{kind: t.kind, until: (*hold).believedUntil}
	for _, h := range t.holds {
		if others := certain.with(h); others != nil {
			return t.kind.tooManyBelieve(others, h)
		}
	}
	if t.claims.Signals {
		if v, bad := badSignal(t); bad {
			return v
		}
	}
	windows := zombieWindows(t)
	for _, w := range windows {
		if t.claims.Lease && w.Duration > 0 {
			return judging.Violated(lin.Belief, []int64{w.From, w.To},
				"%s believed until step %d, %v longer than it held the %s, which ended at step %d%s: "+
					"a lease ends before the session does",
				w.Client, w.To, w.Duration, t.kind.noun, w.From, withSession(t, w))
		}
	}
	perhaps := crowd{kind: t.kind, until: (*hold).believedAtMostUntil}
	for _, h := range t.holds {
		if others := perhaps.with(h); others != nil {
			return t.kind.perhapsTooMany(lin.Belief, others, h)
		}
	}
	if zombies := len(windows); zombies > 0 {
		return judging.Fine(lin.Belief, "beliefs overlap at most inside %s", judging.Count(zombies, "zombie window"))
	}
	return judging.Fine(lin.Belief, "no two beliefs overlap")
}

// withSession says that a hold ended with its session.
func withSession(t table, w lin.ZombieWindow) string {
	if end, _ := t.log.SessionEnd(w.Session); end > w.From {
		return ""
	}
	return fmt.Sprintf(" when the server ended %s", judging.Session(w.Session))
}

// zombieWindows measures from the server's end of each hold to the end of the client's belief in
// it.
func zombieWindows(t table) []lin.ZombieWindow {
	var list []lin.ZombieWindow
	for _, h := range t.holds {
		if h.ending != takenAway || h.whyNotOwner != "" || h.node == nil && h.owner.Session == 0 {
			continue // it did not end so, or it is not known when
		}
		from, fromTime := h.serverEnd, h.serverEndTime
		if from < h.lock.Return {
			from, fromTime = h.lock.Return, h.lock.ReturnTime
		}
		if from >= h.beliefEnd {
			continue
		}
		w := lin.ZombieWindow{
			Client: h.lock.Client, Session: h.owner.Session, From: from,
			To: min(h.beliefEnd, t.history.End), Duration: max(0, h.beliefEndTime-fromTime),
		}
		if h.node != nil {
			w.Path = h.node.Path
		}
		list = append(list, w)
	}
	return list
}
