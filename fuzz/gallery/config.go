package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var publishedConfig = []Exhibit{
	{Slug: "create-and-update-swapped", Alias: "S4-1", Title: "create sets, and update creates",
		Source: Ours, Remark: unreadArticle,
		Bug: "The bodies of the two are in each other's place. A missing setting cannot be " +
			"created, as it is not there, and an existing one cannot be updated, as it is.",
		Property: linearizable, Wrong: configOf(func(c *config) {
			// wrong: each does the work of the other one
			c.create = func(ctx context.Context, key string, value []byte) error {
				return c.ConfigCenter.Update(ctx, key, value, recipes.AnyVersion)
			}
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Create(ctx, key, value)
			}
		})},
	{Slug: "fixed-version-four", Alias: "S4-2", Title: "version 4, always",
		Source: Code, Link: "https://github.com/lizhiyuIsMe/SpringBootAndShiro/blob/ff5bd235ec1979076889e544de6065b77b284b57/src/main/java/study/zookeeper/TestCurator.java",
		Bug: "The sample updates a setting if its version is 4, and so does the code that was " +
			"made of it. Each update is refused but one, and that one succeeds with any state " +
			"that its caller has seen.",
		Property: linearizable, Wrong: configOf(func(c *config) {
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Update(ctx, key, value, 4) // wrong: the version that was seen
			}
		})},
	{Slug: "checks-then-overwrites", Alias: "S4-3", Title: "checked, and then written over",
		Source: Text, Link: "https://curator.apache.org/docs/recipes-path-cache",
		Bug: "An update asks whether the setting is as its caller has seen it, and then " +
			"overwrites the present one. A write of another client between the two is lost.",
		Property: linearizable, Wrong: configOf(func(c *config) {
			c.update = func(_ context.Context, key string, value []byte, version int32) error {
				_, stat, err := c.conn.Get(keyPath(key))
				if err == nil && stat.Version != version {
					err = zk.ErrBadVersion
				}
				if err != nil {
					return err
				}
				if _, err = c.conn.Set(keyPath(key), value, -1); err != nil { // wrong: any version
					err = errors.Join(recipes.ErrAmbiguous, err)
				}
				return err
			}
		}), Script: scenario.Script{Clients: 2, Rounds: 2}},
}

// config is the configuration centre of package recipes, without events. A wrong one replaces some
// of its functions.
type config struct {
	*builtin.ConfigCenter
	conn *zk.Conn

	create func(ctx context.Context, key string, value []byte) error
	update func(ctx context.Context, key string, value []byte, version int32) error
	fetch  func(ctx context.Context, key string) (object.ValueState, error)
	stale  func() bool
}

const configDir = "/config"

func keyPath(key string) string { return configDir + "/keys/" + key }

// configOf is a workload of a configuration centre with some functions replaced.
func configOf(steps ...func(*config)) scenario.Workload {
	return openConfig(func(c *config) object.Configurer { return with(c, steps) })
}

// openConfig is a workload of a configuration centre. open makes it of the right one.
func openConfig(open func(*config) object.Configurer) scenario.Workload {
	return object.Config(func(env object.Env) object.Configurer {
		center := builtin.NewConfigCenter(env)
		c := &config{ConfigCenter: center, conn: env.Conn}
		c.create, c.update, c.fetch, c.stale = center.Create, center.Update, center.Fetch,
			center.Stale
		return open(c)
	}, object.ConfigClaims{Silent: true, Records: configDir + "/writes", Recheck: builtin.Recheck})
}

func (c *config) Create(ctx context.Context, key string, value []byte) error {
	return c.create(ctx, key, value)
}

func (c *config) Update(ctx context.Context, key string, value []byte, version int32) error {
	return c.update(ctx, key, value, version)
}

func (c *config) Fetch(ctx context.Context, key string) (object.ValueState, error) {
	return c.fetch(ctx, key)
}

func (c *config) Stale() bool { return c.stale() }

var plantedConfigs = []Exhibit{
	planted("ignores the version", linearizable, configOf(ignoresVersion)),
	planted("fetches from its copy", linearizable, configOf(func(c *config) {
		c.fetch = func(_ context.Context, key string) (object.ValueState, error) {
			return c.Get(key), nil
		}
	})),
	planted("never calls itself stale", belief, configOf(func(c *config) {
		c.stale = func() bool { return false }
	})),
	planted("takes its own echo for a rival", delivery, configOf(func(c *config) {
		c.update = func(_ context.Context, key string, value []byte, version int32) (err error) {
			for range attempts {
				_, err = c.conn.Set(keyPath(key), value, version)
				if err == nil || errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
					return err
				}
			}
			return errors.Join(recipes.ErrAmbiguous, err)
		}
	})),
}

// ignoresVersion updates a setting in any state.
func ignoresVersion(c *config) {
	c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
		return c.ConfigCenter.Update(ctx, key, value, recipes.AnyVersion)
	}
}
