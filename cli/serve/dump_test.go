package serve

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/internal/check"
)

// TestDumpSaysWhyThereIsNoSession: the port is wrong, or nothing runs there.
func TestDumpSaysWhyThereIsNoSession(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	address := l.Addr().String()
	check.OK(t, l.Close())
	synctest.Test(t, func(t *testing.T) {
		c := DumpCommand{Servers: address, Path: "/", Format: "yaml"}
		err := c.Run(command.NewEnv(t.Context(), "zksim", strings.NewReader(""), io.Discard, io.Discard))
		check.Contains(t, fmt.Sprint(err), "dump "+address+": no session within 10s: dial tcp "+address)
	})
}
