package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// The parts of the names of a double barrier's nodes.
const (
	memberMarker = "member-"
	readyPrefix  = "ready-"
)

// enter makes the member's node and waits until it is in a group. It removes the node again if the
// caller has left meanwhile.
func (b *DoubleBarrier) enter(ctx context.Context, r *requests, t *task[struct{}]) error {
	b.mu.Lock()
	before := b.cleaning
	b.cleaning = t.done
	b.mu.Unlock()
	if before != nil {
		<-before // one member must not be counted twice
	}
	own, err := newProtected(b.path, memberMarker)
	if err != nil {
		return err
	}
	own.unordered = true
	err = own.create(ctx, r, nil)
	if err == nil && own.vanished {
		err = ErrMemberLost
	}
	if err == nil {
		var m *member
		m, err = b.await(ctx, r, own)
		if err == nil && b.keep(t, m) {
			return nil
		}
	}
	switch {
	case err == nil:
		err = b.cause(ctx)
	case errors.Is(err, errRestart):
		err = ErrMemberLost
	}
	counted := own.doubtful || own.path != ""
	if !errors.Is(err, ErrConnClosed) {
		err = firstOf(err, b.withdraw(r, own.remove))
	}
	return ambiguousIf(counted, err)
}

// await waits until the own node is in a group.
func (b *DoubleBarrier) await(
	ctx context.Context, r *requests, own *protected,
) (m *member, err error) {
	place := nodeWatch{path: own.path}
	err = place.until(ctx, r, own.epoch, func() (*watch, bool, error) {
		for {
			data, stat, w, err := place.data(ctx, r)
			switch {
			case errors.Is(err, zk.ErrNoNode):
				return nil, false, errRestart
			case err != nil:
				return nil, false, err
			case !own.epoch.owns(stat):
				return nil, false, errRestart
			case len(data) > 0:
				m, err = b.admitted(ctx, r, own, string(data))
				return w, true, err
			}
			inside, err := b.formGroups(ctx, r, own.name())
			if err != nil || !inside {
				return w, false, err
			}
			// Look again at once: the client may miss the event of its own change.
		}
	})
	return m, err
}

// formGroups forms groups of the oldest waiting members, one transaction for each group. It ends
// when own is in a group or when too few members wait. Each member calls formGroups after its node
// was created, so the youngest member of a group has seen all the others. formGroups reports
// whether own is in a group that it has formed.
func (b *DoubleBarrier) formGroups(
	ctx context.Context, r *requests, own string,
) (inside bool, err error) {
	for {
		waiting, err := b.waiting(ctx, r)
		if err != nil || len(waiting) < b.size {
			return false, err
		}
		group := waiting[:b.size]
		guid, err := newGUID()
		if err != nil {
			return false, err
		}
		formed, err := b.makeGroup(ctx, r, readyPrefix+guid, group)
		if err != nil || formed && slices.Contains(group, own) {
			return err == nil, err
		}
		if err := r.sync(ctx, b.path); err != nil { // before the next look
			return false, err
		}
	}
}

// makeGroup makes a group, unless a member has gone or is in another group: the node of a member
// has version 0 until the member is in a group.
func (b *DoubleBarrier) makeGroup(
	ctx context.Context, r *requests, ready string, group []string,
) (formed bool, err error) {
	ops := []interface{}{
		&zk.CreateRequest{
			Path: join(b.path, ready), Data: []byte(strings.Join(group, "\n")), Acl: b.opts.acl,
		},
	}
	for _, name := range group {
		ops = append(ops, &zk.SetDataRequest{
			Path: join(b.path, name), Data: []byte(ready), Version: 0,
		})
	}
	_, err = r.multiUntil(ctx, ops...)
	switch {
	case err == nil, errors.Is(err, zk.ErrNodeExists): // an earlier request was applied
		return true, nil
	case isConflict(err):
		return false, nil
	}
	return false, err
}

// waiting lists the members that are in no group, oldest first. A group's node is removed after the
// nodes of its members, so the groups name all members that are inside.
func (b *DoubleBarrier) waiting(ctx context.Context, r *requests) ([]string, error) {
	names, err := r.children(ctx, b.path)
	if err != nil {
		return nil, restartIfMissing(err)
	}
	var inside, waiting []string
	for _, ready := range readyNodes(names) {
		group, err := b.groupOf(ctx, r, ready)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
		inside = append(inside, group...)
	}
	for _, name := range SortBySequence(names, memberMarker) {
		if !slices.Contains(inside, name) {
			waiting = append(waiting, name)
		}
	}
	return waiting, nil
}

// restartIfMissing turns zk.ErrNoNode into errRestart: if the directory is missing, so is the own
// node.
func restartIfMissing(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return errRestart
	}
	return err
}

// readyNodes returns the names of the groups' nodes, sorted.
func readyNodes(names []string) []string {
	nodes := slices.DeleteFunc(
		slices.Clone(names), func(name string) bool {
			return !strings.HasPrefix(name, readyPrefix)
		},
	)
	slices.Sort(nodes)
	return nodes
}

// groupOf reads the names of a group's members.
func (b *DoubleBarrier) groupOf(ctx context.Context, r *requests, ready string) ([]string, error) {
	data, _, err := r.get(ctx, join(b.path, ready))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(data), "\n"), nil
}

// admitted returns the own membership after the node was found in a group.
func (b *DoubleBarrier) admitted(
	ctx context.Context, r *requests, own *protected, ready string,
) (*member, error) {
	group, err := b.groupOf(ctx, r, ready)
	if err != nil {
		return nil, restartIfMissing(err) // the group's node is removed after its members
	}
	held, err := confirm(ctx, r, own.path, own.remove)
	if err != nil {
		return nil, err
	}
	return &member{hold: held, group: group}, nil
}

// leave removes the own node, waits until the other members have removed theirs, and removes the
// nodes of this group and of all groups without live members.
func (b *DoubleBarrier) leave(
	ctx context.Context, r *requests, t *task[struct{}], m *member,
) error {
	err := r.tidy(m.release)
	for _, name := range m.group {
		if err != nil {
			break
		}
		err = b.awaitGone(ctx, r, epoch{r.conn, m.session}, name)
	}
	if err == nil && t.settle(struct{}{}) {
		b.note(r.tidy(b.removeEmptyGroups))
		return nil
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, ErrConnClosed) {
		return err
	}
	return firstOf(err, r.tidy(b.removeEmptyGroups))
}

// awaitGone waits until a node is gone that existed in the session of since. Its name is never used
// again.
func (b *DoubleBarrier) awaitGone(
	ctx context.Context, r *requests, since epoch, name string,
) error {
	other := nodeWatch{path: join(b.path, name)}
	return other.until(ctx, r, since, func() (*watch, bool, error) {
		_, _, w, err := other.data(ctx, r)
		if errors.Is(err, zk.ErrNoNode) {
			return nil, true, nil
		}
		return w, false, err
	})
}

// withdraw removes a member's node, and the nodes of groups without members.
func (b *DoubleBarrier) withdraw(r *requests, remove func(r *requests) error) error {
	if err := r.tidy(remove); err != nil {
		return err
	}
	return r.tidy(b.removeEmptyGroups)
}

// removeEmptyGroups removes the nodes of groups without members.
func (b *DoubleBarrier) removeEmptyGroups(r *requests) error {
	ctx := context.Background()
	if err := r.sync(ctx, b.path); err != nil {
		return err
	}
	names, err := r.children(ctx, b.path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, ready := range readyNodes(names) {
		group, err := b.groupOf(ctx, r, ready)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue
		case err != nil:
			return err
		case slices.ContainsFunc(group, func(name string) bool {
			return slices.Contains(names, name)
		}):
			continue
		}
		if err := r.remove(join(b.path, ready)); err != nil {
			return err
		}
	}
	return nil
}
