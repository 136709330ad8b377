package object

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/cache"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

// Configurer is a configuration centre under test: a cache of its settings, and writes that go to
// the server. Errors of writes that wrap zk.ErrNodeExists, zk.ErrNoNode or zk.ErrBadVersion, or
// those of a fork with the same words, say that the setting has another version. Other errors that
// are not ambiguous (see [ErrAmbiguous]) promise that nothing was written.
type Configurer interface {
	Cacher
	// Get returns a setting in the cache, and Fetch the one at the server.
	Get(key string) ValueState
	Fetch(ctx context.Context, key string) (ValueState, error)
	Create(ctx context.Context, key string, value []byte) error
	Update(ctx context.Context, key string, value []byte, version int32) error
	// Delete removes a setting of any version, for version -1.
	Delete(ctx context.Context, key string, version int32) error
}

// ConfigClaims are the promises of a configuration centre.
type ConfigClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of the settings; "" means /config/keys. Each setting is a znode with
	// the value as its data.
	Path string
	// Records is a directory that is empty at rest; "" means that there is none.
	Records    string
	StaleReads bool // of Fetch; see Claims in the package comment
	// Silent says that the configuration centre has no events.
	Silent bool
	// Recheck means the same as in CacheClaims.
	Recheck time.Duration
}

// Config makes a workload of a configuration centre. Each client calls open once, one in three
// late, when others have written; one in three closes it half-way and opens another. Twice a round
// it creates, updates, deletes or fetches one of two settings, now and then with a short context,
// and looks several times into its copy. At the end it waits until all faults are over and looks
// once more.
func Config(open func(Env) Configurer, given ...ConfigClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/config/keys")
	return scenario.Workload{
		Name:  "config",
		Main:  []string{ops.CAS, ops.Remove, ops.Read},
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			c := &configPlayer{
				cachePlayer: &cachePlayer{client: p}, doubtfulKeys: map[string]bool{},
			}
			c.open = func(p *scenario.Player) Cacher {
				c.config = opener(open, claims.Path)(p)
				return c.config
			}
			if p.Choose("late", 3) == 0 {
				p.Pause(time.Duration(p.Choose("late by", 500)) * time.Millisecond)
			}
			c.begin()
			for turn := range p.Rounds(2 * s.Rounds) {
				c.reopen(turn == s.Rounds)
				p.Rest(turn)
				c.write(turn)
				c.look(turn)
			}
			c.insist(2 * s.Rounds)
			c.settle()
			c.close()
		},
		Length: func(scenario.Script) time.Duration { return 3 * cacheRest },
		Judge:  claims.judge,
		Properties: append(claims.copies(scenario.Evidence{}).Properties(),
			value.Claims{}.Properties()...),
	}
}

// judge judges the copies, and each setting as a shared value.
func (c ConfigClaims) judge(e scenario.Evidence) (linearizability.Report, error) {
	e.History = withNames(e.History)
	r := linearizability.Judge(e.History, e.Rest, c.copies(e))
	for _, key := range configKeys {
		one := linearizability.Judge(ofKey(e.History, key), nil,
			value.Claims{Path: c.Path + "/" + key, StaleReads: c.StaleReads})
		for _, v := range one.Verdicts {
			v.Summary = key + ": " + v.Summary
			r.Worsen(v)
		}
	}
	if e.Rest != nil && c.Records != "" {
		for _, n := range e.Rest.Nodes {
			if strings.HasPrefix(n.Path, c.Records+"/") && !n.OfDead {
				r.Worsen(linearizability.Verdict{
					Property: linearizability.Orphans, Status: linearizability.Violated,
					Summary: "left at rest: " + n.Path,
				})
			}
		}
	}
	return r, nil
}

// copies are the claims of the copies.
func (c ConfigClaims) copies(e scenario.Evidence) cache.Claims {
	return cache.Claims{
		Path: c.Path, Levels: 1, Rootless: true, Events: !c.Silent,
		Patience: maxStaleness(e.Plan, c.Recheck),
	}
}

// ofKey returns the history of one setting. The inputs of its operations begin with the key.
func ofKey(h linearizability.History, key string) linearizability.History {
	var ops []linearizability.Op
	for _, op := range h.Ops {
		if input, ok := strings.CutPrefix(op.Input, key+"="); ok {
			op.Input = input
			ops = append(ops, op)
		}
	}
	h.Ops = ops
	return h
}

// configKeys are the keys of all runs. A run has two of them: x and xx in one run of three, x and y
// in the others.
var configKeys = []string{"x", "y", "xx"}

func (p *configPlayer) key(turn int) string {
	key := configKeys[p.client.Choose(scenario.At("key", turn), 2)]
	if key == "y" && p.client.OfRun("prefixes", 3) == 0 {
		return "xx"
	}
	return key
}

type configPlayer struct {
	*cachePlayer
	config Configurer
	last   string // the key of the last turn
	// doubtfulKeys are the keys with a removal that may still take effect. The judge could not tell
	// it from a second removal.
	doubtfulKeys map[string]bool
}

// write changes or fetches one setting. The judge finds out whether a failed write took effect.
func (p *configPlayer) write(turn int) {
	key := p.key(turn)
	p.last = key
	value := newPayload(p.client, turn)
	setting := p.config.Get(key)
	if p.client.Choose(scenario.At("fetch", turn), 5) == 0 {
		_ = p.fetch(key)
		return
	}
	ctx, cancel := p.client.Hasty(p.client.Context(), 0, scenario.At("write", turn), 4,
		time.Millisecond, 20*time.Millisecond)
	defer cancel()
	if setting.Exists && p.client.Choose(scenario.At("delete", turn), 3) == 0 &&
		!p.doubtfulKeys[key] {
		_ = p.remove(ctx, key)
		return
	}
	_ = p.put(ctx, key, value, setting)
}

// put creates or updates a setting.
func (p *configPlayer) put(ctx context.Context, key, value string, old ValueState) error {
	if !old.Exists {
		return p.swap(key, value, -1, func() error {
			return p.config.Create(ctx, key, payloadOf(value))
		})
	}
	return p.swap(key, value, old.Version, func() error {
		return p.config.Update(ctx, key, payloadOf(value), old.Version)
	})
}

// insist repeats the kinds of calls whose last one has failed. A removal in doubt is not repeated.
func (p *configPlayer) insist(first int) {
	key := p.last
	p.client.Insist(ops.Read, first, func(int) error { return p.fetch(key) })
	first = p.client.Insist(ops.CAS, first, func(turn int) error {
		return p.put(p.client.Context(), key, newPayload(p.client, turn), p.config.Get(key))
	})
	p.client.Insist(ops.Remove, first, func(int) error {
		if p.doubtfulKeys[key] {
			return nil
		}
		return p.remove(p.client.Context(), key)
	})
}

// swap writes a setting that has the version or, for -1, does not exist.
func (p *configPlayer) swap(key, data string, version int32, write func() error) error {
	c := p.client.Begin(ops.CAS, key+"="+value.Versioned(data, version))
	return p.end(c, write(), value.Versioned(data, version+1))
}

func (p *configPlayer) remove(ctx context.Context, key string) error {
	c := p.client.Begin(ops.Remove, key+"=")
	err := p.config.Delete(ctx, key, -1)
	p.doubtfulKeys[key] = isAmbiguous(err)
	return p.end(c, err, "")
}

// end records the result of a write. It returns nil if the write was rightly refused.
func (p *configPlayer) end(c scenario.Call, err error, output string) error {
	switch {
	case err == nil:
		c.OK(linearizability.Result{Output: output})
	case isAmbiguous(err):
		c.Unknown(linearizability.Result{}, err)
	case says(err, zk.ErrNodeExists, zk.ErrNoNode, zk.ErrBadVersion):
		c.OK(linearizability.Result{Output: ops.Refused})
		return nil
	default:
		c.Failed(err)
	}
	if err != nil {
		p.client.Pause(retryPause)
	}
	return err
}

func (p *configPlayer) fetch(key string) error {
	c := p.client.Begin(ops.Read, key+"=")
	setting, err := p.config.Fetch(p.client.Context(), key)
	if err != nil {
		c.Failed(err) // a failed read changes nothing
		p.client.Pause(retryPause)
		return err
	}
	c.OK(stateResult(setting))
	return nil
}
