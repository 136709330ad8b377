package gallery

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
)

var plantedMembership = []Exhibit{
	{Title: "comes back after it has left", Property: presence, Wrong: memberOf(func(m *member) {
		m.leave = m.remove
	})},
	{Title: "does not leave", Property: presence, Wrong: memberOf(func(m *member) { m.leave = nothing })},
	{Title: "looks only once", Property: answers, Wrong: memberOf(func(m *member) {
		var seen []string
		m.view = func(context.Context) (_ []string, err error) {
			if seen == nil {
				seen, err = m.list()
			}
			return slices.Clone(seen), err
		}
	})},
	{Title: "deletes all others", Property: safety, Wrong: memberOf(func(m *member) {
		m.view = func(context.Context) ([]string, error) {
			names, err := m.list()
			for _, name := range names {
				if name != m.name {
					err = errors.Join(err, ignore(m.conn.Delete(membersDir+"/"+name, -1), zk.ErrNoNode))
				}
			}
			return names, err
		}
	})},
	{Title: "never answers", Property: liveness, Wrong: memberOf(func(m *member) {
		m.view = func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})},
}
