package twophase

import (
	"slices"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

// statement is the meaning of a znode.
type statement struct {
	kind model.TransactionKind
	site string
}

// readLog turns the server's changes below the path into facts about transactions.
func (t *table) readLog() {
	said := map[string]statement{} // by the paths of the znodes
	for i, e := range t.history.Server {
		if !judging.Below(t.claims.Path, e.Path) || judging.IsSessionEvent(e) {
			continue
		}
		name, child, inside := strings.Cut(strings.TrimPrefix(e.Path, t.pathOf("")), "/")
		if !inside {
			t.changed(name, e)
			continue
		}
		before, spoke := said[e.Path]
		delete(said, e.Path)
		kind, site, says := t.claims.Read(child, e.Data)
		now := statement{kind, site}
		if says = says && e.Kind != lin.NodeDeleted; says {
			said[e.Path] = now
		}
		switch {
		case !spoke && says && kind != model.GoAway:
			t.addFact(name, fact{event: e, kind: kind, site: site})
		case spoke && !says && before.kind == model.GoAway && !t.atOnce(i, lin.NodeCreated, e.Path):
			t.addFact(name, fact{event: e, kind: model.GoAway, site: before.site})
		case spoke && before.kind != model.GoAway && (!says || now != before) &&
			!t.atOnce(i, lin.NodeDeleted, t.pathOf(name)):
			t.addFact(name, fact{event: e, kind: before.kind, site: before.site, change: true})
		}
	}
}

// changed adds a change of the transaction's own znode. Other znodes below the path are no
// transactions, unless a call names them.
func (t *table) changed(name string, e lin.ServerEvent) {
	switch {
	case !t.isTransaction(name):
	case e.Kind == lin.NodeCreated:
		t.addFact(name, fact{event: e, kind: model.BeginTransaction})
	case e.Kind == lin.NodeDeleted:
		t.addFact(name, fact{event: e, kind: model.Forget})
	default:
		t.addFact(name, fact{event: e, kind: model.BeginTransaction, change: true})
	}
}

// isTransaction reports whether a call names that transaction.
func (t *table) isTransaction(name string) bool {
	return slices.ContainsFunc(t.history.Ops, func(op lin.Op) bool {
		return aboutTransaction(op) && operand(op, 0) == name
	})
}

func (t *table) addFact(name string, f fact) {
	tx := t.transaction(name)
	tx.facts = append(tx.facts, f)
}

func (t *table) pathOf(name string) string {
	return strings.TrimSuffix(t.claims.Path, "/") + "/" + name
}

// atOnce reports whether a path is created or deleted, after the i-th event, by the same request.
func (t *table) atOnce(i int, kind lin.ServerEventKind, path string) bool {
	for _, e := range t.history.Server[i:] {
		if e.Zxid != t.history.Server[i].Zxid {
			break
		}
		if e.Kind == kind && e.Path == path {
			return true
		}
	}
	return false
}
