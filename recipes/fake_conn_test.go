package recipes

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// request runs one request under the rules. Each takes a millisecond, except
// on a closed connection.
func (c *fakeConn) request(op, path string, apply func() error) error {
	c.s.mu.Lock()
	cut := c.cuts > 0
	c.cuts = max(c.cuts-1, 0)
	closed, gate := c.closed || cut, c.gate
	c.calls = append(c.calls, op+" "+path)
	c.s.mu.Unlock()
	if closed {
		return zk.ErrConnectionClosed
	}
	if gate != nil {
		<-gate
	}
	time.Sleep(time.Millisecond)
	r := c.ruleFor(op)
	if r.before != nil {
		r.before()
	}
	err := r.err
	if !r.lose {
		err = c.apply(apply)
	}
	if r.after != nil {
		r.after()
	}
	if r.err != nil {
		return r.err
	}
	return err
}

func (c *fakeConn) apply(apply func() error) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.closed {
		return zk.ErrConnectionClosed
	}
	c.s.zxid++
	return apply()
}

func (c *fakeConn) ruleFor(op string) rule {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for i, r := range c.rules {
		if r.op != op {
			continue
		}
		if r.nth--; r.nth == 0 {
			c.rules = slices.Delete(c.rules, i, i+1)
			return *r
		}
	}
	return rule{}
}

func (c *fakeConn) Create(path string, data []byte, flags int32, _ []zk.ACL) (made string, err error) {
	err = c.request("create", path, func() (err error) {
		made, err = c.s.create(c.session, path, data, flags)
		return err
	})
	if err != nil {
		made = ""
	}
	return made, err
}

func (c *fakeConn) CreateContainer(path string, data []byte, flags int32, acl []zk.ACL) (made string, err error) {
	err = c.request("createContainer", path, func() (err error) {
		made, err = c.s.create(c.session, path, data, flags)
		return err
	})
	return made, err
}

func (c *fakeConn) Set(path string, data []byte, version int32) (stat *zk.Stat, err error) {
	err = c.request("set", path, func() (err error) {
		stat, err = c.s.set(path, data, version)
		return err
	})
	return stat, err
}

func (c *fakeConn) Exists(path string) (bool, *zk.Stat, error) {
	return c.exists("exists", path, nil)
}

func (c *fakeConn) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	ch := make(chan zk.Event, 1)
	found, stat, err := c.exists("existsW", path, ch)
	return found, stat, ch, err
}

func (c *fakeConn) exists(op, path string, ch chan zk.Event) (found bool, stat *zk.Stat, err error) {
	err = c.request(op, path, func() error {
		n, ok := c.sees()[path]
		found, stat = ok, &n.stat
		if ok {
			c.watch("data "+path, ch)
		} else {
			c.watch("exist "+path, ch)
		}
		return nil
	})
	return found, stat, err
}

func (c *fakeConn) Delete(path string, version int32) error {
	return c.request("delete", path, func() error { return c.s.delete(path, version) })
}

func (c *fakeConn) Get(path string) ([]byte, *zk.Stat, error) {
	return c.read("get", path, nil)
}

func (c *fakeConn) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	ch := make(chan zk.Event, 1)
	data, stat, err := c.read("getW", path, ch)
	return data, stat, ch, err
}

func (c *fakeConn) read(op, path string, ch chan zk.Event) (data []byte, stat *zk.Stat, err error) {
	err = c.request(op, path, func() error {
		n, ok := c.sees()[path]
		if !ok {
			return zk.ErrNoNode
		}
		if slices.Contains(c.forbidden, path) {
			return zk.ErrNoAuth
		}
		data, stat = n.data, &n.stat
		c.watch("data "+path, ch)
		return nil
	})
	return data, stat, err
}

// sees is the tree as the connection's server has it.
func (c *fakeConn) sees() map[string]fakeNode {
	if c.behind != nil {
		return c.behind
	}
	return c.s.nodes
}

func (c *fakeConn) watch(key string, ch chan zk.Event) {
	if ch != nil {
		c.watches[key] = append(c.watches[key], ch)
	}
}

func (c *fakeConn) Children(path string) ([]string, *zk.Stat, error) {
	return c.list("children", path, nil)
}

func (c *fakeConn) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	ch := make(chan zk.Event, 1)
	names, stat, err := c.list("childrenW", path, ch)
	return names, stat, ch, err
}

func (c *fakeConn) list(op, path string, ch chan zk.Event) (names []string, stat *zk.Stat, err error) {
	err = c.request(op, path, func() error {
		n, ok := c.sees()[path]
		if !ok {
			return zk.ErrNoNode
		}
		if slices.Contains(c.forbidden, path) {
			return zk.ErrNoAuth
		}
		names, stat = childrenIn(c.sees(), path), &n.stat
		c.watch("child "+path, ch)
		return nil
	})
	return names, stat, err
}

func (c *fakeConn) Sync(path string) (string, error) {
	return path, c.request("sync", path, func() error {
		c.behind = nil
		return nil
	})
}

func (c *fakeConn) Multi(ops ...interface{}) (results []zk.MultiResponse, err error) {
	err = c.request("multi", "", func() error {
		before := maps.Clone(c.s.nodes)
		results = make([]zk.MultiResponse, len(ops))
		for i, op := range ops {
			if results[i].String, results[i].Error = c.op(op); results[i].Error != nil {
				c.s.nodes = before
				for j := i + 1; j < len(ops); j++ {
					results[j].Error = fmt.Errorf("unknown error: -2")
				}
				return results[i].Error
			}
		}
		return nil
	})
	if err != nil && OutcomeOf(err) == Unknown {
		results = nil
	}
	return results, err
}

// op applies one operation of a transaction. Watches fire even if it is rolled
// back later, which the recipes must survive.
func (c *fakeConn) op(op interface{}) (made string, err error) {
	switch op := op.(type) {
	case *zk.CreateRequest:
		return c.s.create(c.session, op.Path, op.Data, op.Flags)
	case *zk.DeleteRequest:
		return "", c.s.delete(op.Path, op.Version)
	case *zk.SetDataRequest:
		_, err := c.s.set(op.Path, op.Data, op.Version)
		return "", err
	case *zk.CheckVersionRequest:
		return "", c.s.check(op.Path, op.Version)
	}
	return "", zk.ErrAPIError
}

func (c *fakeConn) SessionID() int64 {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.session
}

func (c *fakeConn) State() zk.State {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.cuts > 0 && len(c.seen) > 0 {
		state := c.seen[0]
		c.seen = append(c.seen[1:], state)
		return state
	}
	if c.closed || c.gate != nil {
		return zk.StateDisconnected
	}
	return zk.StateHasSession
}
