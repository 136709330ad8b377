package gallery

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var publishedConfig = []Exhibit{
	{
		Slug: "create-and-update-swapped", Alias: "S4-1",
		Title:  "create sets, and update creates",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "The bodies of the two are in each other's place. What is not there cannot be " +
			"created, as it is not there, and what is there cannot be updated, as it is.",
		Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.create = func(ctx context.Context, key string, value []byte) error {
				// wrong: this is the other one
				return c.ConfigCenter.Update(ctx, key, value, recipes.AnyVersion)
			}
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Create(ctx, key, value)
			}
		}),
	},
	{
		Slug: "fixed-version-four", Alias: "S4-2",
		Title:  "version 4, whatever it is",
		Source: Code, Link: "https://github.com/lizhiyuIsMe/SpringBootAndShiro/blob/ff5bd235ec1979076889e544de6065b77b284b57/src/main/java/study/zookeeper/TestCurator.java",
		Bug: "The sample updates a setting if its version is 4, and so does the code that was made " +
			"of it. Each update is refused but one, and that one whatever its caller has seen.",
		Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Update(ctx, key, value, 4) // wrong: the version that was seen
			}
		}),
	},
	{
		Slug: "checks-then-overwrites", Alias: "S4-3",
		Title:  "checked, and then written over",
		Source: Text, Link: "https://curator.apache.org/docs/recipes-path-cache",
		Bug: "An update asks whether the setting is as its caller has seen it, and then writes " +
			"whatever there is by then. What another has written between the two is lost.",
		Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.update = func(_ context.Context, key string, value []byte, version int32) error {
				path := centerDir + "/keys/" + key
				_, stat, err := c.conn.Get(path)
				if err == nil && stat.Version != version {
					err = zk.ErrBadVersion
				}
				if err != nil {
					return err
				}
				if _, err = c.conn.Set(path, value, -1); err != nil { // wrong: the check is one of before
					err = errors.Join(recipes.ErrAmbiguous, err)
				}
				return err
			}
		}),
		Script: scenario.Script{Clients: 2, Rounds: 2},
	},
}

// center is the configuration centre of package recipes, without events, of whose
// writes some are done otherwise.
type center struct {
	*recipes.ConfigCenter
	conn  *zk.Conn
	start sync.Once

	create func(ctx context.Context, key string, value []byte) error
	update func(ctx context.Context, key string, value []byte, version int32) error
	fetch  func(ctx context.Context, key string) (recipes.ConfigEntry, bool, error)
	stale  func() bool
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
		made.fetch, made.stale = made.ConfigCenter.Fetch, made.ConfigCenter.Stale
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

func (c *center) Fetch(ctx context.Context, key string) (recipes.ConfigEntry, bool, error) {
	return c.fetch(ctx, key)
}

func (c *center) Stale() bool { return c.stale() }

var plantedConfigs = []Exhibit{
	{
		Title: "ignores the version", Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Update(ctx, key, value, recipes.AnyVersion)
			}
		}),
	},
	{
		Title: "fetches from its copy", Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.fetch = func(_ context.Context, key string) (recipes.ConfigEntry, bool, error) {
				entry, ok := c.Get(key)
				return entry, ok, nil
			}
		}),
	},
	{
		Title: "never calls itself stale", Property: linearizability.Belief,
		Wrong: centerOf(func(c *center) { c.stale = func() bool { return false } }),
	},
	{
		Title: "takes its own echo for a rival", Property: linearizability.Delivery,
		Wrong: centerOf(func(c *center) {
			c.update = func(_ context.Context, key string, value []byte, version int32) (err error) {
				for range attempts {
					_, err = c.conn.Set(centerDir+"/keys/"+key, value, version)
					if err == nil || errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
						return err
					}
				}
				return errors.Join(recipes.ErrAmbiguous, err)
			}
		}),
	},
}
