package gallery

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

// discovering is a workload of one client that waits for the first instance of a service, and of
// others that make the service and an instance each. waits says whether the first client waits
// for the service, by whether it is there.
func discovering(waits func(there bool) bool) scenario.Workload {
	const service = membersDir + "/web"
	look := func(c *zk.Conn) (found bool, change <-chan zk.Event, err error) {
		names, _, change, err := c.ChildrenW(service)
		if errors.Is(err, zk.ErrNoNode) {
			there := false
			if there, _, change, err = c.ExistsW(service); !waits(there) {
				change = after(0)
			}
		}
		return len(names) > 0, change, err
	}
	w := beside(memberOf(), membersDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		if p.Index() > 0 {
			_ = do(p, ops.Join, p.Name(), func(context.Context) error {
				return errors.Join(createUntilExists(p.Conn(), service),
					createUntilExists(p.Conn(), service+"/"+p.Name()))
			})
			return
		}
		_ = do(p, ops.View, "", func(ctx context.Context) error {
			for found := s.Clients == 1; ctx.Err() == nil && !found; {
				now, change, err := look(p.Conn())
				if err != nil {
					change = after(100 * time.Millisecond)
				}
				if found = now; !found {
					awaitOthers(ctx, p.Conn(), change, service, service+"/"+p.Name())
				}
			}
			return ctx.Err()
		})
	}
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// awaitOthers waits for an event. The clients that make the nodes may die before they do: so it
// makes them itself after a minute, and again each minute until all are there.
func awaitOthers(ctx context.Context, conn *zk.Conn, change <-chan zk.Event, nodes ...string) {
	for len(nodes) > 0 {
		select {
		case <-change:
			return
		case <-ctx.Done():
			return
		case <-after(time.Minute):
		}
		for len(nodes) > 0 && createUntilExists(conn, nodes[0]) == nil {
			nodes = nodes[1:]
		}
	}
	await(ctx, change)
}

// gathering is a workload of one client that waits until it has seen all others, which make a node
// each. looks says in which rounds it looks at the list that comes with the watch; it looks at the
// list after the event in all.
func gathering(looks func(round int) bool) scenario.Workload {
	w := beside(memberOf(), membersDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		if p.Index() > 0 {
			_ = do(p, ops.Join, p.Name(), func(context.Context) error {
				return createUntilExists(p.Conn(), membersDir+"/"+p.Owner())
			})
			return
		}
		var others []string
		for _, name := range s.ClientNames()[1:] {
			others = append(others, membersDir+"/"+name)
		}
		_ = do(p, ops.View, "", func(ctx context.Context) error {
			seen := map[string]bool{}
			add := func(names []string) {
				for _, name := range names {
					seen[name] = true
				}
			}
			for round := 0; ctx.Err() == nil && len(seen) < s.Clients-1; {
				names, _, change, err := p.Conn().ChildrenW(membersDir)
				if err != nil {
					await(ctx, after(100*time.Millisecond))
					continue
				}
				if looks(round) {
					add(names)
				}
				if round++; len(seen) < s.Clients-1 {
					awaitOthers(ctx, p.Conn(), change, others...)
					names, _, _ = p.Conn().Children(membersDir) // none, if it fails
					add(names)
				}
			}
			return ctx.Err()
		})
	}
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// createUntilExists makes a node until it is known to be there.
func createUntilExists(conn *zk.Conn, path string) error {
	return repeat(func() error {
		_, err := conn.Create(path, nil, 0, acl)
		return ignore(err, zk.ErrNodeExists)
	})
}
