package museum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// readWriteOf is a workload of a naked read-write lock with some steps replaced: in
// each round a client reads or writes, as the dice fall.
func readWriteOf(replace func(*naked)) scenario.Workload {
	w := openLock(nil)
	w.Name = "rwlock"
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			mode := []string{ops.ReadMode, ops.WriteMode}[p.Choose(scenario.At("mode", round), 2)]
			l := newReadWrite(p.Conn(), mode)
			if replace != nil {
				replace(l)
			}
			playRound(p, l, mode, round)
		}
	}
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		return linearizability.Judge(e.History, e.Rest, linearizability.RWLock{Path: lockDir, AllowedAtRest: []string{lockDir}}), nil
	}
	return w
}

// newReadWrite is a naked read-write lock in one mode.
func newReadWrite(conn *zk.Conn, mode string) *naked {
	l := newNaked(conn, lockDir)
	l.naming = func() string { return fmt.Sprintf("%s-%s", mode, l.guid()) }
	l.ahead = l.conflicting
	return l
}

// conflicting is the nearest node before the own one that excludes it: a writer's, or
// any if the own one is a writer's.
func (l *naked) conflicting(queue []string) (string, error) {
	own := slices.Index(queue, l.own)
	if own < 0 {
		return "", errGone
	}
	for _, name := range slices.Backward(queue[:own]) {
		if strings.HasPrefix(name, "write-") || strings.HasPrefix(l.own, "write-") {
			return name, nil
		}
	}
	return "", l.confirm()
}
