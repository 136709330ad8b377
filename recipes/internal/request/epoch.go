package request

import (
	"github.com/go-zookeeper/zk"
)

// Epoch is one session of a connection. The results of reads and creations are valid only during
// their session, and the client replaces an expired session by itself. Code that decides on a reply
// takes the epoch before the request and checks it after the reply.
type Epoch struct {
	Conn    Conn
	Session int64
}

// Epoch returns the present epoch.
func (r *Sender) Epoch() Epoch { return Epoch{r.Conn, r.Conn.SessionID()} }

// Check returns ErrRestart if the connection has another session now, or had none at the beginning.
func (e Epoch) Check() error {
	if e.Session == 0 || e.Conn.SessionID() != e.Session {
		return ErrRestart
	}
	return nil
}

// Owns reports whether an ephemeral node with this stat belongs to the epoch and the epoch has not
// ended.
func (e Epoch) Owns(stat *zk.Stat) bool {
	return stat.EphemeralOwner == e.Session && e.Check() == nil
}

// Confirmed returns an epoch in which every read shows the state at the moment of the call or a
// later one; see Confirm. Without that a read may show an older state: the client's server can lag
// behind, and the server of a new session can be behind the client's earlier reads.
func (r *Sender) Confirmed(path string) (Epoch, error) { return r.epochAfter(r.Confirm, path) }

// Synced is Confirmed with a sync, for views that may be out of date: a leader that was deposed and
// does not know may answer.
func (r *Sender) Synced(path string) (Epoch, error) { return r.epochAfter(r.Sync, path) }

func (r *Sender) epochAfter(request func(path string) error, path string) (Epoch, error) {
	e := r.Epoch()
	if err := request(path); err != nil {
		return e, err
	}
	if e.Session == 0 { // the client had no session before the request
		e = r.Epoch()
	}
	return e, nil
}

// FreshResult is Fresh for a read with a result.
func FreshResult[T any](r *Sender, path string, read func() (T, error)) (value T, err error) {
	err = r.Fresh(path, func() (err error) {
		value, err = read()
		return err
	})
	return value, err
}

// Fresh repeats read until the result is one of a moment of the call, or read fails.
func (r *Sender) Fresh(path string, read func() error) error {
	for {
		e, err := r.Confirmed(path)
		if err != nil {
			return err
		}
		if err := read(); err != nil || e.Check() == nil {
			return err
		}
	}
}
