package main

import (
	"context"
	"io"

	topicctl "github.com/segmentio/topicctl/pkg/zk"
	"github.com/sirupsen/logrus"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// topicctlLock is the lock of segmentio/topicctl, under which it changes the topics of Kafka.
func topicctlLock() scenario.Workload {
	logrus.SetOutput(io.Discard)
	return object.Lock(func(env object.Env) object.Locker {
		client, err := topicctl.NewPooledClient([]string{env.Address}, scenario.SessionTimeout,
			&topicctl.ZKDebugLogger{}, 1, false)
		check(err)
		context.AfterFunc(env.Context, func() { _ = client.Close() })
		return &topicctlLocker{client: client, path: env.Path}
	}, object.LockClaims{About: "pkg/zk of segmentio/topicctl"}).Named("topicctl")
}

type topicctlLocker struct {
	client *topicctl.PooledClient
	path   string
	held   topicctl.Lock
}

func (l *topicctlLocker) Lock(ctx context.Context) error {
	held, err := l.client.AcquireLock(ctx, l.path)
	if err == nil {
		l.held = held
	}
	return err
}

func (l *topicctlLocker) Unlock(context.Context) error { return l.held.Unlock() }
