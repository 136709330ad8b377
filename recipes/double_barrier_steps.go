package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// The parts of the names of a double barrier's nodes.
const (
	memberMarker = "member-"
	readyPrefix  = "ready-"
)

// enter makes the member's node and waits until it is in a group. It removes the node again if the
// caller has left meanwhile.
func (b *DoubleBarrier) enter(r *request.Sender, t *task.Task[struct{}]) error {
	b.mu.Lock()
	before := b.cleaning
	b.cleaning = t.Done
	b.mu.Unlock()
	if before != nil {
		<-before // one member must not be counted twice
	}
	own, err := request.NewProtected(b.tasks.Path, memberMarker)
	if err != nil {
		return err
	}
	own.Unordered = true
	err = own.Create(r, nil)
	if err == nil && own.Vanished {
		err = ErrMemberLost
	}
	if err == nil {
		var m *member
		m, err = b.await(r, own)
		if err == nil && task.Keep(b.tasks, &b.mu, t, struct{}{}, func() {
			b.member = m
			m.WatchOver(b.tasks)
		}) {
			return nil
		}
	}
	switch {
	case err == nil:
		err = b.tasks.Cause(r.Ctx)
	case errors.Is(err, request.ErrRestart):
		err = ErrMemberLost
	}
	counted := own.Doubtful || own.Path != ""
	if !errors.Is(err, ErrConnClosed) {
		err = request.FirstOf(err, b.withdraw(r, own.Remove))
	}
	return request.AmbiguousIf(counted, err)
}

// await waits until the own node is in a group.
func (b *DoubleBarrier) await(r *request.Sender, own *request.Protected) (m *member, err error) {
	place := request.NodeWatch{Path: own.Path}
	err = place.Until(r, own.Epoch, func() (*request.Watch, bool, error) {
		for {
			data, stat, w, err := place.Data(r)
			switch {
			case errors.Is(err, zk.ErrNoNode):
				return nil, false, request.ErrRestart
			case err != nil:
				return nil, false, err
			case !own.Epoch.Owns(stat):
				return nil, false, request.ErrRestart
			case len(data) > 0:
				m, err = b.admitted(r, own, string(data))
				return w, true, err
			}
			inside, err := b.formGroups(r, own.Name())
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
func (b *DoubleBarrier) formGroups(r *request.Sender, own string) (inside bool, err error) {
	for {
		waiting, err := b.waiting(r)
		if err != nil || len(waiting) < b.size {
			return false, err
		}
		group := waiting[:b.size]
		guid, err := request.NewGUID()
		if err != nil {
			return false, err
		}
		formed, err := b.makeGroup(r, readyPrefix+guid, group)
		if err != nil || formed && slices.Contains(group, own) {
			return err == nil, err
		}
		// The next look follows a write of this session, which may have been refused: it shows all
		// that was decided before.
	}
}

// makeGroup makes a group, unless a member has gone or is in another group: the node of a member
// has version 0 until the member is in a group.
func (b *DoubleBarrier) makeGroup(
	r *request.Sender, ready string, group []string,
) (formed bool, err error) {
	ops := []interface{}{
		&zk.CreateRequest{
			Path: request.Join(b.tasks.Path, ready), Data: []byte(strings.Join(group, "\n")),
			Acl: b.tasks.Opts.ACL,
		},
	}
	for _, name := range group {
		ops = append(ops, &zk.SetDataRequest{
			Path: request.Join(b.tasks.Path, name), Data: []byte(ready), Version: 0,
		})
	}
	_, err = r.RepeatMulti(ops...)
	switch {
	case err == nil, errors.Is(err, zk.ErrNodeExists): // an earlier request was applied
		return true, nil
	case request.IsConflict(err):
		return false, nil
	}
	return false, err
}

// waiting lists the members that are in no group, oldest first. A group's node is removed after the
// nodes of its members, so the groups name all members that are inside.
func (b *DoubleBarrier) waiting(r *request.Sender) ([]string, error) {
	names, err := r.Children(b.tasks.Path)
	if err != nil {
		return nil, request.RestartIfMissing(err)
	}
	var inside, waiting []string
	for _, ready := range readyNodes(names) {
		group, err := b.groupOf(r, ready)
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
func (b *DoubleBarrier) groupOf(r *request.Sender, ready string) ([]string, error) {
	data, _, err := r.Get(request.Join(b.tasks.Path, ready))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(data), "\n"), nil
}

// admitted returns the own membership after the node was found in a group.
func (b *DoubleBarrier) admitted(
	r *request.Sender, own *request.Protected, ready string,
) (*member, error) {
	group, err := b.groupOf(r, ready)
	if err != nil {
		return nil, request.RestartIfMissing(err) // the group's node is removed after its members
	}
	held, err := hold.Confirm(r, own.Path, own.Remove)
	if err != nil {
		return nil, err
	}
	return &member{Hold: held, group: group}, nil
}

// leave removes the own node, waits until the other members have removed theirs, and removes the
// nodes of this group and of all groups without live members.
func (b *DoubleBarrier) leave(r *request.Sender, t *task.Task[struct{}], m *member) error {
	err := r.Tidy(m.Release)
	for _, name := range m.group {
		if err != nil {
			break
		}
		err = b.awaitGone(r, request.Epoch{Conn: r.Conn, Session: m.Session}, name)
	}
	if err == nil && t.Settle(struct{}{}) {
		b.tasks.Note(r.Tidy(b.removeEmptyGroups))
		return nil
	}
	if err == nil {
		err = context.Cause(r.Ctx)
	}
	if errors.Is(err, ErrConnClosed) {
		return err
	}
	return request.FirstOf(err, r.Tidy(b.removeEmptyGroups))
}

// awaitGone waits until a node is gone that existed in the session of since. Its name is never used
// again.
func (b *DoubleBarrier) awaitGone(r *request.Sender, since request.Epoch, name string) error {
	other := request.NodeWatch{Path: request.Join(b.tasks.Path, name)}
	return other.Until(r, since, func() (*request.Watch, bool, error) {
		_, _, w, err := other.Data(r)
		if errors.Is(err, zk.ErrNoNode) {
			return nil, true, nil
		}
		return w, false, err
	})
}

// withdraw removes a member's node, and the nodes of groups without members.
func (b *DoubleBarrier) withdraw(r *request.Sender, remove func(r *request.Sender) error) error {
	if err := r.Tidy(remove); err != nil {
		return err
	}
	return r.Tidy(b.removeEmptyGroups)
}

// removeEmptyGroups removes the nodes of groups without members.
func (b *DoubleBarrier) removeEmptyGroups(r *request.Sender) error {
	r = r.Unbounded()
	if err := r.Confirm(b.tasks.Path); err != nil {
		return err
	}
	names, err := r.Children(b.tasks.Path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, ready := range readyNodes(names) {
		group, err := b.groupOf(r, ready)
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
		if err := r.Remove(request.Join(b.tasks.Path, ready)); err != nil {
			return err
		}
	}
	return nil
}
