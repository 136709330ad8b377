package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func checksThenActs() Exhibit {
	return Exhibit{
		ID: "S4-3", Title: "checked, and then written over",
		Report: curatorCaches,
		Bug: "An update asks whether the setting is as its caller has seen it, and then writes whatever there is by then. What " +
			"another has written between the two is lost.",
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
		Right:  centerOf(nil),
		Script: scenario.Script{Clients: 2, Rounds: 2},
	}
}
