package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// GuaranteedDelete deletes the node at path, whatever its version. It is no error if the node is
// gone already.
//
// nil means that the node is gone. While the connection is down the request is repeated. If ctx is
// done before the reply, or the retry policy gives up, the error wraps ErrAmbiguous. The deletion
// then goes on in the background until the server confirms or refuses it, or the Conn is closed.
// Other errors are refusals, such as zk.ErrNotEmpty. A late deletion would hit the next node with
// the same path, so never use the path again; those of CreateProtected's sequential nodes are
// unique.
//
// Source: Curator's "guaranteed" deletion.
func GuaranteedDelete(ctx context.Context, conn Conn, path string, opts ...Option) error {
	l := newTasks(conn, "node", path, opts)
	if ctx.Err() != nil { // the deletion is sent even then
		t := task.Start(
			func(*task.Task[struct{}]) (struct{}, error) {
				return struct{}{}, l.Sender().Remove(path)
			},
		)
		_, known, err := t.Await(ctx)
		return l.Explain("delete", request.AmbiguousIf(!known, err))
	}
	return task.Act(ctx, l, "delete", func(ctx context.Context, r *request.Sender) error {
		err := r.Repeat(ctx, func() error { return r.Conn.Delete(path, -1) })
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return nil
		case err != nil && ctx.Err() != nil:
			return r.Remove(path)
		}
		return request.AmbiguousIf(OutcomeOf(err) == Unknown, err)
	})
}
