package realworld

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestAGuestKeepsTheNamesOfItsClients: what follows the node of the run is what the client has
// written. A sequential node below "/q/" has no name but its number.
func TestAGuestKeepsTheNamesOfItsClients(t *testing.T) {
	t.Parallel()
	r := &run{root: "/zksim-x"}
	for path, want := range map[string]string{
		"/":    "/zksim-x/tree",
		"/q":   "/zksim-x/tree/q",
		"/q/":  "/zksim-x/tree/q/",
		"":     "",
		"q":    "q",
		"/q/r": "/zksim-x/tree/q/r",
	} {
		check.Equal(t, r.inside(path), want, "%q", path)
		check.Equal(t, r.outside(want), path, "%q", want)
	}

	create := &proto.Create{Code: proto.OpCreate, Path: "/q/", Flags: zk.FlagSequence}
	frame := wire.AppendRequest(nil, 1, create)[4:]
	q := &request{Request: engine.Request{Body: create}}
	q.Header = proto.RequestHeader{Xid: 1, Op: proto.OpCreate}
	sent, err := wire.DecodeRequest(proto.OpCreate, r.packetOf(q, frame)[4+8:])
	check.OK(t, err)
	check.Equal(t, proto.PathOf(sent), "/zksim-x/tree/q/", "path of a sequential node")
}
