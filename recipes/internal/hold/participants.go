package hold

import (
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Participant is a holder or a waiter, as read from its node; see recipes.Member.
type Participant struct {
	Path    string
	Data    []byte
	Session int64
	Token   int64
	Reads   bool
}

// Participants are the holders and the waiters, both oldest first.
type Participants struct{ Holders, Waiters []Participant }

// Participants reads the queue. A node that waits for no other node is a holder.
func (q *Turnstile) Participants(r *request.Sender) (Participants, error) {
	return ReadParticipants(
		r, q.Dir, q.Markers, func(queue []request.Numbered, own int) bool {
			return q.Ahead(queue, own) == ""
		},
	)
}

// ReadParticipants reads the nodes in dir that have one of the markers. Nodes that are deleted
// meanwhile are left out.
func ReadParticipants(
	r *request.Sender, dir string, markers []string,
	holds func(queue []request.Numbered, own int) bool,
) (all Participants, err error) {
	err = r.Fresh(dir, func() error {
		queue, err := listQueue(r, dir, markers)
		if err == nil {
			all, err = membersOf(r, dir, queue, holds)
		}
		return err
	})
	return all, err
}

// membersOf reads the nodes of a queue.
func membersOf(
	r *request.Sender, dir string, queue []request.Numbered,
	holds func(queue []request.Numbered, own int) bool,
) (all Participants, err error) {
	for i, n := range queue {
		m, there, err := ReadParticipant(r, request.Join(dir, n.Name))
		m.Reads = n.Marker == ReadMarker
		switch {
		case err != nil:
			return Participants{}, err
		case !there:
		case holds(queue, i):
			all.Holders = append(all.Holders, m)
		default:
			all.Waiters = append(all.Waiters, m)
		}
	}
	return all, nil
}

// QueueIn lists the queue in dir as it is at some moment of the call. A missing directory is an
// empty queue.
func QueueIn(r *request.Sender, dir string, markers []string) ([]request.Numbered, error) {
	return request.FreshResult(r, dir, func() ([]request.Numbered, error) {
		return listQueue(r, dir, markers)
	})
}

// listQueue is QueueIn without Confirm: the client's server may lag behind. Nodes with a number
// that is not unique are left out: their creators delete them.
func listQueue(r *request.Sender, dir string, markers []string) ([]request.Numbered, error) {
	names, err := r.Children(dir)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	queue := request.SortNumbered(names, markers...)
	return slices.DeleteFunc(queue, func(n request.Numbered) bool {
		return !request.IsUnique(n.Seq)
	}), nil
}

// ReadParticipant reads the node of a participant, unless it is gone. Names are never used twice,
// so a listed node that can be read has existed without a break since it was listed.
func ReadParticipant(r *request.Sender, path string) (m Participant, there bool, err error) {
	data, stat, err := r.Get(path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return m, false, nil
	case err != nil:
		return m, false, err
	}
	return Participant{
		Path: path, Data: data, Session: stat.EphemeralOwner, Token: stat.Czxid,
	}, true, nil
}
