package fuzz_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// badConfig is the configuration centre of package recipes, without events and
// with one defect for each flag.
type badConfig struct {
	*recipes.ConfigCenter
	conn  *zk.Conn
	bad   configDefects
	start sync.Once
}

type configDefects struct {
	swapped    bool // create updates, and update creates
	versionFor bool // update expects version 4, whatever it is told
	lastWins   bool // update ignores the version
	fetchLocal bool // fetch asks its copy
	neverStale bool // believes itself up to date
	deafUpdate bool // takes the echo of a repeated update for a rival's
}

func (c *badConfig) Ready(ctx context.Context) (err error) {
	c.start.Do(func() { err = c.Start() })
	return errors.Join(err, c.ConfigCenter.Ready(ctx))
}

func (c *badConfig) Stale() bool { return !c.bad.neverStale && c.ConfigCenter.Stale() }

func (c *badConfig) Create(ctx context.Context, key string, value []byte) error {
	if c.bad.swapped {
		return c.ConfigCenter.Update(ctx, key, value, recipes.AnyVersion)
	}
	return c.ConfigCenter.Create(ctx, key, value)
}

func (c *badConfig) Update(ctx context.Context, key string, value []byte, version int32) error {
	switch {
	case c.bad.swapped:
		return c.ConfigCenter.Create(ctx, key, value)
	case c.bad.versionFor:
		version = 4
	case c.bad.lastWins:
		version = recipes.AnyVersion
	case c.bad.deafUpdate:
		return c.repeatUpdate(key, value, version)
	}
	return c.ConfigCenter.Update(ctx, key, value, version)
}

func (c *badConfig) repeatUpdate(key string, value []byte, version int32) (err error) {
	for range attempts {
		_, err = c.conn.Set("/config/keys/"+key, value, version)
		if err == nil || errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	return errors.Join(recipes.ErrAmbiguous, err)
}

func (c *badConfig) Fetch(ctx context.Context, key string) (recipes.ConfigEntry, bool, error) {
	if c.bad.fetchLocal {
		entry, ok := c.Get(key)
		return entry, ok, nil
	}
	return c.ConfigCenter.Fetch(ctx, key)
}

func mutantConfig(bad configDefects) scenario.Workload {
	return object.Config(func(env object.Env) object.Configurer {
		return &badConfig{ConfigCenter: recipes.NewConfigCenter(env.Conn, "/config"), conn: env.Conn, bad: bad}
	}, object.ConfigClaims{Silent: true, Records: "/config/writes"}).Named("mutant")
}

func TestMutantConfigsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      configDefects
		property string
	}{
		{"creates by update and updates by create", configDefects{swapped: true}, linearizability.Linearizability},
		{"always expects version 4", configDefects{versionFor: true}, linearizability.Linearizability},
		{"ignores the version", configDefects{lastWins: true}, linearizability.Linearizability},
		{"fetches from its copy", configDefects{fetchLocal: true}, linearizability.Linearizability},
		{"never calls itself stale", configDefects{neverStale: true}, linearizability.Belief},
		{"takes its own echo for a rival", configDefects{deafUpdate: true}, linearizability.Delivery},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantConfig(m.bad), m.property) })
	}
}

// TestSilentConfigWithoutDefectHolds is the control.
func TestSilentConfigWithoutDefectHolds(t *testing.T) {
	holdsUndisturbed(t, mutantConfig(configDefects{}), 30)
}
