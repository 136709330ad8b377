package recipes

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// SharedValue is a small piece of data that any number of clients read, write and wait for. Methods
// may be called from several goroutines. For a copy that is read without a request use a NodeCache
// of the same path.
//
// It guarantees:
//
//   - If Set returns no error, it has written exactly once. If CompareAndSet returns no error, it
//     has written exactly once, or it returns false and has written nothing. After an error that
//     wraps ErrAmbiguous they have written once or not at all, after any other error not at all.
//   - Set, CompareAndSet and Get are linearizable: each takes effect at one moment of its call. Get
//     sends a write that changes nothing before it reads; see SyncOnly. CompareAndSet does so
//     before it returns false.
//   - Next returns a state that differs from the given one, as it was at some moment of the call.
//     It may skip states in between.
//
// When the connection is lost, calls wait for it. When the session ends, they go on in the new one,
// as all nodes are persistent. A done context ends a call. A write that was sent and not answered
// is settled in the background (see the package comment).
//
// CompareAndSet cannot distinguish two values with the same version. Do not delete the node while
// clients use it: its versions begin anew, so CompareAndSet may mistake a new value for the one
// that its caller has seen. A process that dies in the middle of a write can leave its record;
// records older than the longest outage can be deleted. A watch can stay on the node if the client
// missed its event because the connection was lost twice in a row. The next Next uses it again.
//
// A write is one multi, and Get begins with one. So a fault that is to strike a write names the op
// multi, and not setData.
//
// Layout, all persistent:
//
//	<path>                 data = the value, as it is
//	<path>/write-<guid>    a write under way
//	<path>/turn-<zxid>     the version has passed -1 here, once in 2^32 writes; to stay
//
// Sources: Curator's SharedValue, whose trySetValue reports a failure if its own write was applied
// and the reply was lost.
type SharedValue struct {
	lifecycle
	change request.NodeWatch // of a node that exists
	birth  request.NodeWatch // of a missing node
}

// ValueState is a shared value at one moment. The zero ValueState stands for a value that was never
// written.
type ValueState struct {
	Data    []byte
	Exists  bool
	Version int32 // of the znode, from 0; each write adds 1
}

// same reports whether two states are equal.
func (v ValueState) same(w ValueState) bool {
	return v.Exists == w.Exists && v.Version == w.Version && bytes.Equal(v.Data, w.Data)
}

// NewSharedValue makes a handle for the value at path, which the first write creates. It sends
// nothing. The options that matter are ACL, RecheckEvery, Retry and Containers.
func NewSharedValue(conn Conn, path string, opts ...Option) *SharedValue {
	return &SharedValue{
		lifecycle: newLifecycle(
			conn, "shared value", path, opts,
		), change: request.NodeWatch{Path: path}, birth: request.NodeWatch{Path: path},
	}
}

// Get returns the value, as it is at some moment of the call.
func (v *SharedValue) Get(ctx context.Context) (ValueState, error) {
	return task.Ask(ctx, v.tasks, "get", func(r *request.Sender) (ValueState, error) {
		state, _, err := v.latest(r)
		return state, err
	})
}

// Set writes data, whatever the value is, and returns the new state.
func (v *SharedValue) Set(ctx context.Context, data []byte) (ValueState, error) {
	w, err := v.write(ctx, data, func(ValueState) bool { return true })
	return w.state, err
}

// CompareAndSet writes data if the value still has the version of seen, or is still missing if
// seen.Exists is false. Then it returns the new state and true. Otherwise it returns the state that
// it has found, and false. seen comes from Get, Set, Next or an earlier CompareAndSet. Its data
// does not matter.
func (v *SharedValue) CompareAndSet(
	ctx context.Context, seen ValueState, data []byte,
) (ValueState, bool, error) {
	w, err := v.write(ctx, data, func(now ValueState) bool {
		return now.Exists == seen.Exists && now.Version == seen.Version
	})
	return w.state, w.done, err
}

// Next waits until the value differs from seen, and returns it.
func (v *SharedValue) Next(ctx context.Context, seen ValueState) (ValueState, error) {
	return task.Ask(ctx, v.tasks, "wait for", func(r *request.Sender) (ValueState, error) {
		var next ValueState
		err := v.change.Until(r, request.Epoch{}, func() (w *request.Watch, done bool, err error) {
			next, w, err = v.look(r)
			return w, !next.same(seen), err
		})
		return next, err
	})
}

// look reads the value. The next change of the value fires the returned watch.
func (v *SharedValue) look(r *request.Sender) (ValueState, *request.Watch, error) {
	for {
		data, stat, w, err := v.change.Data(r)
		if !errors.Is(err, zk.ErrNoNode) {
			return stateOf(data, stat), w, err
		}
		if stat, w, err = v.birth.Existence(r); err != nil || stat == nil {
			return ValueState{}, w, err
		}
	}
}

// valueWrite is the result of a write.
type valueWrite struct {
	state ValueState
	done  bool
}

// write writes data if the value may be replaced.
func (v *SharedValue) write(
	ctx context.Context, data []byte, may func(ValueState) bool,
) (valueWrite, error) {
	data = bytes.Clone(data)
	return task.Call(ctx, v.tasks, "set", func(
		r *request.Sender, t *task.Task[valueWrite],
	) (valueWrite, error) {
		w, err := request.NewOnceOnlyChange(v.tasks.Path, "write-")
		if err != nil {
			return valueWrite{}, err
		}
		result, err := v.replace(r, w, data, may)
		if err == nil && !result.done {
			return result, nil
		}
		return task.EndChange(v.tasks, r, t, w, result, err)
	})
}

// replace tries until no rival was faster or the value may not be replaced. With an error, it
// returns the result to report if the write turns out to be applied.
func (v *SharedValue) replace(
	r *request.Sender, w *request.OnceOnlyChange, data []byte,
	may func(ValueState) bool,
) (valueWrite, error) {
	var next valueWrite
	for {
		now, stat, err := v.read(r)
		if err == nil && !may(now) {
			now, stat, err = v.latest(r)
		}
		if err != nil {
			return next, err
		}
		if !may(now) {
			return valueWrite{state: now}, nil
		}
		next = valueWrite{state: ValueState{Data: data, Exists: true}, done: true}
		if now.Exists {
			next.state.Version = now.Version + 1
		}
		if err := w.Replace(r, v.tasks.Path, data, stat); !request.IsConflict(err) {
			return next, err
		}
	}
}

// read reads the value and the stat of its node. The stat is nil if the node is missing.
func (v *SharedValue) read(r *request.Sender) (ValueState, *zk.Stat, error) {
	data, stat, err := r.Get(v.tasks.Path)
	if errors.Is(err, zk.ErrNoNode) {
		return ValueState{}, nil, nil
	}
	return stateOf(data, stat), stat, err
}

// latest is read after a write that changes nothing: it returns the state at some moment of the
// call.
func (v *SharedValue) latest(r *request.Sender) (state ValueState, stat *zk.Stat, err error) {
	err = r.Fresh(v.tasks.Path, func() (err error) {
		state, stat, err = v.read(r)
		return err
	})
	return state, stat, err
}

func stateOf(data []byte, stat *zk.Stat) ValueState {
	if stat == nil {
		return ValueState{}
	}
	return ValueState{Data: data, Exists: true, Version: stat.Version}
}
