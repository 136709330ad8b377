package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	"github.com/dapr/components-contrib/state/zookeeper"
	"github.com/dapr/kit/logger"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// daprValue is one key of Dapr's state store. Its Close closes nothing.
func daprValue() scenario.Workload {
	w := object.Value(func(env object.Env) object.Valuer {
		store := zookeeper.NewZookeeperStateStore(logger.NewLogger("wild"))
		check(store.Init(env.Context, state.Metadata{Base: metadata.Base{
			Properties: map[string]string{"servers": env.Address,
				"sessionTimeout": scenario.SessionTimeout.String()},
		}}))
		return daprKey{store, env.Path}
	}, object.ValueClaims{About: "a key of Dapr's state store"}).Named("dapr")
	w.Keeps = scenario.Keeps{Goroutines: true, Sessions: true}
	return w
}

type daprKey struct {
	store state.Store
	key   string
}

func (k daprKey) Get(ctx context.Context) (object.ValueState, error) {
	r, err := k.store.Get(ctx, &state.GetRequest{Key: k.key})
	if err != nil || r.ETag == nil {
		return object.ValueState{}, err
	}
	version, err := strconv.Atoi(*r.ETag)
	return object.ValueState{Data: r.Data, Exists: true, Version: int32(version)}, err
}

func (k daprKey) Set(ctx context.Context, data []byte) (object.ValueState, error) {
	if err := k.store.Set(ctx, &state.SetRequest{Key: k.key, Value: data}); err != nil {
		return object.ValueState{}, err
	}
	return k.Get(ctx)
}

// CompareAndSet writes with an ETag and first-write-wins. A key that does not exist has no ETag.
func (k daprKey) CompareAndSet(
	ctx context.Context, seen object.ValueState, data []byte,
) (object.ValueState, bool, error) {
	r := &state.SetRequest{Key: k.key, Value: data,
		Options: state.SetStateOption{Concurrency: state.FirstWrite}}
	if seen.Exists {
		etag := strconv.Itoa(int(seen.Version))
		r.ETag = &etag
	}
	err := k.store.Set(ctx, r)
	if e := (*state.ETagError)(nil); errors.As(err, &e) {
		now, err := k.Get(ctx)
		return now, false, err
	}
	if err != nil {
		return object.ValueState{}, false, err
	}
	now, err := k.Get(ctx)
	return now, true, err
}
