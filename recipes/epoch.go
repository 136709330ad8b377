package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// epoch is one session of a connection. The results of reads and creations are valid only during
// their session, and the client replaces an expired session by itself. A decision on a reply begins
// with the epoch, and checks after the reply whether it is still the same.
type epoch struct {
	conn    Conn
	session int64
}

// epoch returns the epoch of now.
func (r *requests) epoch() epoch { return epoch{r.conn, r.conn.SessionID()} }

// check returns errRestart if the session is another one now, or there was none.
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
// one. The server that a client is connected to can lag behind, and the server of a new session can
// be behind the client's earlier reads.
func (r *requests) synced(ctx context.Context, path string) (epoch, error) {
	e := r.epoch()
	if err := r.sync(ctx, path); err != nil {
		return e, err
	}
	if e.session == 0 { // it was the first request of all
		e = r.epoch()
	}
	return e, nil
}

// freshly is fresh for a read with a result.
func freshly[T any](
	ctx context.Context, r *requests, path string, read func() (T, error),
) (value T, err error) {
	err = r.fresh(ctx, path, func() (err error) {
		value, err = read()
		return err
	})
	return value, err
}

// fresh runs read until its result was true at some moment of the call, or read has failed.
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
