package fourletter

import (
	"fmt"
	"strings"
)

// srvr answers the word srvr: the status.
//
// Source: StatCommand, ServerStats.toString.
func srvr(s *Server) string { return versionLine() + status(s, s.connected()) }

// stat answers the word stat: the status and the connections.
//
// Source: StatCommand.
func stat(s *Server) text {
	lines := s.lines()
	status := status(s, len(lines))
	return func() string {
		var b strings.Builder
		b.WriteString(versionLine())
		b.WriteString("Clients:\n")
		for _, l := range lines {
			b.WriteString(l.brief() + ")\n")
		}
		b.WriteString("\n")
		b.WriteString(status)
		return b.String()
	}
}

func versionLine() string { return "Zookeeper version: " + Version + "\n" }

// status is what follows the connections, of which there are some.
func status(s *Server, connected int) string {
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
`, packets.Received, packets.Sent, connected, s.Engine.StoreOf(s.Number).LastZxid(), s.mode(),
		s.nodeCount()) + proposals
}
