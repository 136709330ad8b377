package museum

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// center is the configuration centre of package recipes, without events, of whose
// writes some are done otherwise.
type center struct {
	*recipes.ConfigCenter
	conn  *zk.Conn
	start sync.Once

	create func(ctx context.Context, key string, value []byte) error
	update func(ctx context.Context, key string, value []byte, version int32) error
}

const centerDir = "/config"

// centerRecheck is how often it looks again: the client can lose a change.
const centerRecheck = 15 * time.Second

// centerOf is a workload of a configuration centre with some steps replaced, nil for none.
func centerOf(replace func(*center)) scenario.Workload {
	claims := object.ConfigClaims{Silent: true, Records: centerDir + "/writes", Recheck: centerRecheck}
	return object.Config(func(env object.Env) object.Configurer {
		made := &center{ConfigCenter: recipes.NewConfigCenter(env.Conn, centerDir, recipes.RecheckEvery(centerRecheck)), conn: env.Conn}
		made.create, made.update = made.ConfigCenter.Create, made.ConfigCenter.Update
		if replace != nil {
			replace(made)
		}
		return made
	}, claims).Named("")
}

// Ready starts it the first time.
func (c *center) Ready(ctx context.Context) (err error) {
	c.start.Do(func() { err = c.Start() })
	return errors.Join(err, c.ConfigCenter.Ready(ctx))
}

func (c *center) Create(ctx context.Context, key string, value []byte) error {
	return c.create(ctx, key, value)
}

func (c *center) Update(ctx context.Context, key string, value []byte, version int32) error {
	return c.update(ctx, key, value, version)
}
