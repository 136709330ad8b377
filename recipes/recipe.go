package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// lifecycle is embedded by the recipes with a Close.
type lifecycle struct{ tasks *task.Group }

// newLifecycle begins the life of a recipe. It sends nothing.
func newLifecycle(conn Conn, kind, path string, opts []Option) lifecycle {
	return lifecycle{newTasks(conn, kind, path, opts)}
}

// newTasks makes the tasks of a recipe. kind and path name the recipe in errors.
func newTasks(conn Conn, kind, path string, opts []Option) *task.Group {
	return task.NewGroup(conn, kind, path, request.NewOptions(opts))
}

// Close ends all operations with ErrClosed and waits until nothing is left to clean up or ctx is
// done; in the latter case the clean-up goes on. Later calls return ErrClosed. It leaves the Conn
// open. It returns the first error that kept a node of this recipe from being removed.
func (l *lifecycle) Close(ctx context.Context) error { return l.tasks.Close(ctx) }

// String returns the kind of the recipe and its path, for logs.
func (l *lifecycle) String() string { return l.tasks.String() }
