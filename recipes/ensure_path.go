package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// EnsurePath creates the node at path and its parents, without data, where they are missing. It
// leaves existing nodes as they are. Many clients may call it at the same time.
//
// nil means that every level existed at some moment of the call; container nodes can be gone again.
// While the connection is down it repeats requests, and a new session makes no difference. After an
// error some of the levels may exist, which does no harm. If ctx is done, a request under way can
// still be applied. The options that matter are ACL, Containers and Retry.
func EnsurePath(ctx context.Context, conn Conn, path string, opts ...Option) error {
	l := newTasks(conn, "path", path, opts)
	return task.Act(ctx, l, "ensure", func(ctx context.Context, r *request.Sender) error {
		var missing request.Backoff
		for {
			err := r.Ensure(ctx, path)
			if !errors.Is(err, zk.ErrNoNode) {
				return request.Ambiguous(err)
			}
			if err := missing.Wait(ctx, nil, err); err != nil {
				return err // another client keeps deleting the levels
			}
		}
	})
}
