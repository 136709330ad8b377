package conform

import (
	"context"
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// abilities are the features that a script may need: the text for a report if a server
// lacks one, and the test for it.
var abilities = map[string]struct {
	lacking string
	has     func(c *cleaner, ctx context.Context) (bool, error)
}{
	"fresh": {"not fresh servers", (*cleaner).isFresh},
	"reaping": {
		"no search for containers within 3 s (-Dznode.container.checkIntervalMs=500)",
		(*cleaner).deletesContainers,
	},
	"quota": {
		"hard limits are not enforced (-Dzookeeper.enforceQuota=true)",
		(*cleaner).enforcesQuota,
	},
}

// lacks returns the text for the first ability that one of the servers lacks, or "". It
// tests each ability once.
func (p *pair) lacks(ctx context.Context, needs []string) (string, error) {
	for _, need := range needs {
		able, known := p.able[need]
		if !known {
			var err error
			if able, err = p.probe(ctx, need); err != nil {
				return "", err
			}
			p.able[need] = able
		}
		if !able {
			return abilities[need].lacking, nil
		}
	}
	return "", nil
}

// probe reports whether both servers have an ability.
func (p *pair) probe(ctx context.Context, need string) (bool, error) {
	ability, ok := abilities[need]
	if !ok {
		return false, fmt.Errorf("there is no ability %q", need)
	}
	has, err := both(p, func(i int) (bool, error) {
		c := p.cleaners[i]
		if err := c.makeFreshRoot(ctx); err != nil {
			return false, err
		}
		return ability.has(c, ctx)
	})
	return has[0] && has[1], err
}

func (c *cleaner) isFresh(context.Context) (bool, error) { return c.fresh, nil }

// deletesContainers reports whether the server soon deletes an emptied container.
func (c *cleaner) deletesContainers(ctx context.Context) (bool, error) {
	const container = Root + "/container"
	for _, req := range []proto.Request{
		worldNode(proto.OpCreateContainer, container, ""),
		worldNode(proto.OpCreate, container+"/child", ""),
		&proto.Delete{Path: container + "/child", Version: -1},
	} {
		if _, err := c.call(ctx, req); err != nil {
			return false, err
		}
	}
	seen, err := c.call(ctx, &proto.Exists{Path: container, Watch: true})
	if err != nil || seen.code == proto.NoNode {
		return seen.code == proto.NoNode, err
	}
	const patience = 3 * time.Second
	switch _, status := c.link.nextWithin(ctx, patience); status {
	case arrived: // the only watch there is
		return true, nil
	case canceled:
		return false, context.Cause(ctx)
	}
	return false, nil
}

// enforcesQuota reports whether a hard limit of one node refuses a second.
func (c *cleaner) enforcesQuota(ctx context.Context) (bool, error) {
	const quota = "/zookeeper/quota" + Root
	for _, req := range []proto.Request{
		worldNode(proto.OpCreate, quota, ""),
		worldNode(proto.OpCreate, quota+"/zookeeper_limits",
			"count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1"),
		worldNode(proto.OpCreate, quota+"/zookeeper_stats", "count=0,bytes=0"),
	} {
		if a, err := c.call(ctx, req); err != nil || a.code != proto.OK {
			return false, err
		}
	}
	a, err := c.call(ctx, worldNode(proto.OpCreate, Root+"/child", ""))
	return a.code == proto.QuotaExceeded, err
}

func worldNode(code proto.OpCode, path, data string) *proto.Create {
	return &proto.Create{
		Code: code, Path: path, Data: []byte(data),
		ACL: []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}},
	}
}
