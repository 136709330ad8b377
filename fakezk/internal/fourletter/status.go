package fourletter

import (
	"fmt"
	"strings"
)

// srvr answers the word srvr: the status.
//
// Source: StatCommand, ServerStats.toString.
func srvr(s Server) string { return versionLine() + status(s) }

// stat answers the word stat: the status and the connections.
//
// Source: StatCommand.
func stat(s Server) string {
	var b strings.Builder
	b.WriteString(versionLine())
	b.WriteString("Clients:\n")
	for _, l := range s.lines() {
		b.WriteString(l.brief() + ")\n")
	}
	b.WriteString("\n")
	b.WriteString(status(s))
	return b.String()
}

func versionLine() string { return "Zookeeper version: " + Version + "\n" }

func status(s Server) string {
	packets, proposals := s.packets(), ""
	if s.mode() == "leader" {
		proposals = "Proposal sizes last/min/max: -1/-1/-1\n" // unlike a real one's, never counted
	}
	return fmt.Sprintf(`Latency min/avg/max: 0/0.0/0
Received: %d
Sent: %d
Connections: %d
Outstanding: 0
Zxid: 0x%x
Mode: %s
Node count: %d
`, packets.Received, packets.Sent, len(s.lines()), s.Engine.StoreOf(s.Number).LastZxid(), s.mode(),
		s.nodeCount()) + proposals
}
