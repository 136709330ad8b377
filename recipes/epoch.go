package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// epoch is one session of a connection. The results of reads and creations are valid only during
// their session, and the client replaces an expired session by itself. Code that decides on a reply
// takes the epoch before the request and checks it after the reply.
type epoch struct {
	conn    Conn
	session int64
}

// epoch returns the present epoch.
func (r *requests) epoch() epoch { return epoch{r.conn, r.conn.SessionID()} }

// check returns errRestart if the connection has another session now, or had none at the beginning.
func (e epoch) check() error {
	if e.session == 0 || e.conn.SessionID() != e.session {
		return errRestart
	}
	return nil
}

// owns reports whether an ephemeral node with this stat belongs to the epoch and the epoch has not
// ended.
func (e epoch) owns(stat *zk.Stat) bool {
	return stat.EphemeralOwner == e.session && e.check() == nil
}

// synced returns an epoch in which every read shows the state at the moment of the call or a later
// one. Without that a read may show an older state: the client's server can lag behind, and the
// server of a new session can be behind the client's earlier reads.
func (r *requests) synced(ctx context.Context, path string) (epoch, error) {
	e := r.epoch()
	if err := r.sync(ctx, path); err != nil {
		return e, err
	}
	if e.session == 0 { // the client had no session before the sync
		e = r.epoch()
	}
	return e, nil
}

// freshResult is fresh for a read with a result.
func freshResult[T any](
	ctx context.Context, r *requests, path string, read func() (T, error),
) (value T, err error) {
	err = r.fresh(ctx, path, func() (err error) {
		value, err = read()
		return err
	})
	return value, err
}

// fresh repeats read until the result is one of a moment of the call, or read fails.
func (r *requests) fresh(ctx context.Context, path string, read func() error) error {
	for {
		e, err := r.synced(ctx, path)
		if err != nil {
			return err
		}
		if err := read(); err != nil || e.check() == nil {
			return err
		}
	}
}
