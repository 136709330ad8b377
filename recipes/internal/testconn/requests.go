package testconn

import "github.com/go-zookeeper/zk"

// Create calls Create of the client.
func (c *Conn) Create(
	path string, data []byte, flags int32, acl []zk.ACL,
) (made string, err error) {
	path = c.s.real(path)
	err = c.request("create", path, func() (err error) {
		made, err = c.Conn.Create(path, data, flags, acl)
		return err
	})
	return c.s.shown(made), err
}

// CreateContainer calls CreateContainer of the client.
func (c *Conn) CreateContainer(
	path string, data []byte, flags int32, acl []zk.ACL,
) (made string, err error) {
	err = c.request("createContainer", path, func() (err error) {
		made, err = c.Conn.CreateContainer(path, data, flags, acl)
		return err
	})
	return made, err
}

// Delete calls Delete of the client.
func (c *Conn) Delete(path string, version int32) error {
	version = c.s.realVersion(path, version)
	path = c.s.real(path)
	return c.request("delete", path, func() error { return c.Conn.Delete(path, version) })
}

// Set calls Set of the client.
func (c *Conn) Set(path string, data []byte, version int32) (stat *zk.Stat, err error) {
	real := c.s.real(path)
	err = c.request("set", real, func() (err error) {
		stat, err = c.Conn.Set(real, data, c.s.realVersion(path, version))
		return err
	})
	return c.s.shownStat(path, stat), err
}

// Exists calls Exists of the client.
func (c *Conn) Exists(path string) (found bool, stat *zk.Stat, err error) {
	real := c.s.real(path)
	err = c.request("exists", real, func() (err error) {
		if found, stat, err = c.Conn.Exists(real); err == nil {
			found, stat = c.lag.stat(path, found, stat)
		}
		return err
	})
	return found, c.s.shownStat(path, stat), err
}

// ExistsW calls ExistsW of the client.
func (c *Conn) ExistsW(path string) (found bool, stat *zk.Stat, events <-chan zk.Event, err error) {
	real := c.s.real(path)
	err = c.request("existsW", real, func() (err error) {
		if found, stat, events, err = c.Conn.ExistsW(real); err == nil {
			found, stat = c.lag.stat(path, found, stat)
		}
		return err
	})
	return found, c.s.shownStat(path, stat), c.heard(events), err
}

// Get calls Get of the client.
func (c *Conn) Get(path string) (data []byte, stat *zk.Stat, err error) {
	real := c.s.real(path)
	err = c.request("get", real, func() (err error) {
		data, stat, err = c.Conn.Get(real)
		data, stat, err = c.lag.data(path, data, stat, err)
		return err
	})
	return data, c.s.shownStat(path, stat), err
}

// GetW calls GetW of the client.
func (c *Conn) GetW(path string) (data []byte, stat *zk.Stat, events <-chan zk.Event, err error) {
	real := c.s.real(path)
	err = c.request("getW", real, func() (err error) {
		data, stat, events, err = c.Conn.GetW(real)
		data, stat, err = c.lag.data(path, data, stat, err)
		return err
	})
	return data, c.s.shownStat(path, stat), c.heard(events), err
}

// Children calls Children of the client.
func (c *Conn) Children(path string) (names []string, stat *zk.Stat, err error) {
	err = c.request("children", path, func() (err error) {
		names, stat, err = c.Conn.Children(path)
		names, stat, err = c.lag.children(path, names, stat, err)
		return err
	})
	return c.s.shownAll(names), c.s.shownStat(path, stat), err
}

// ChildrenW calls ChildrenW of the client.
func (c *Conn) ChildrenW(
	path string,
) (names []string, stat *zk.Stat, events <-chan zk.Event, err error) {
	err = c.request("childrenW", path, func() (err error) {
		names, stat, events, err = c.Conn.ChildrenW(path)
		names, stat, err = c.lag.children(path, names, stat, err)
		return err
	})
	return c.s.shownAll(names), c.s.shownStat(path, stat), c.heard(events), err
}

// Sync calls Sync of the client. The answer ends the lag of the server.
func (c *Conn) Sync(path string) (string, error) {
	return path, c.request("sync", path, func() error {
		_, err := c.Conn.Sync(path)
		if err == nil {
			c.lag.catchUp()
		}
		return err
	})
}

// multiName is the name of a transaction for rules: "confirm" if it only checks a node, else
// "multi".
func multiName(ops []any) string {
	if len(ops) == 1 {
		if _, checks := ops[0].(*zk.CheckVersionRequest); checks {
			return "confirm"
		}
	}
	return "multi"
}

// Multi calls Multi of the client. The answer ends the lag of the server.
func (c *Conn) Multi(ops ...any) (answers []zk.MultiResponse, err error) {
	real := make([]any, len(ops))
	for i, op := range ops {
		real[i] = c.s.realOp(op)
	}
	err = c.request(multiName(ops), "", func() (err error) {
		answers, err = c.Conn.Multi(real...)
		if len(answers) > 0 {
			c.lag.catchUp()
		}
		return err
	})
	for i := range answers {
		answers[i].String = c.s.shown(answers[i].String)
	}
	return answers, err
}
