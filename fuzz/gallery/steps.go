package gallery

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// Steps that the right recipes of several kinds have in common.

// attempts bounds repetitions. Each attempt costs a fault, or a second or two of an outage. After
// the end of a World all attempts fail.
const attempts = 100

var acl = zk.WorldACL(zk.PermAll)

var (
	// errGone says that the own node is gone, or belongs to a session that has ended.
	errGone = errors.New("the own node is gone")
	// errFailed is the error of a wrong step that meets something unexpected.
	errFailed = errors.New("the recipe does not handle this case")
)

// with returns a recipe in which some steps are replaced.
func with[T any](recipe *T, steps []func(*T)) *T {
	for _, replace := range steps {
		replace(recipe)
	}
	return recipe
}

// repeat calls try until it succeeds or the attempts are used up.
func repeat(try func() error) (err error) {
	for range attempts {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}

// ignore returns nil for the given error, and any other error as it is.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// remove deletes a node until it is known to be gone.
func remove(conn *zk.Conn, path string) error {
	return repeat(func() error { return ignore(conn.Delete(path, -1), zk.ErrNoNode) })
}

// await waits for the event of a watch, or returns the error of ctx.
func await(ctx context.Context, watch <-chan zk.Event) (zk.Event, error) {
	select {
	case event := <-watch:
		return event, nil
	case <-ctx.Done():
		return zk.Event{}, ctx.Err()
	}
}

// after returns a channel as that of a watch, with one event after some time.
func after(d time.Duration) <-chan zk.Event {
	c := make(chan zk.Event, 1)
	time.AfterFunc(d, func() { c <- zk.Event{} })
	return c
}

// nothing replaces a step that is left out.
func nothing() error { return nil }

// last returns the last name that matches, "" without one.
func last(names []string, matches func(name string) bool) (found string) {
	for _, name := range names {
		if matches(name) {
			found = name
		}
	}
	return found
}
