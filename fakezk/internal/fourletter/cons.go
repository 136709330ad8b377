package fourletter

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// A line is one connection in cons, stat and dump.
type line struct {
	engine.ConnView
	addr  string // as Java writes it
	asker bool   // the connection on which the word came
}

// lines returns the open connections, the asking one last.
func (s *Server) lines() []line {
	var lines []line
	for _, c := range s.conns() {
		addr := c.IP
		if s.Addr != nil {
			addr = s.Addr(c.ID)
		}
		if addr != s.Asker {
			lines = append(lines, line{ConnView: c, addr: javaAddr(addr)})
		}
		s.step(1)
	}
	asking := engine.ConnView{Received: 1, Opened: s.Now, Timeout: sessionless}
	return append(lines, line{ConnView: asking, addr: javaAddr(s.Asker), asker: true})
}

// connected is the number of lines.
func (s *Server) connected() int { return len(s.lines()) }

// cons answers the word cons: a detailed line for each connection.
//
// Source: ConsCommand, ServerCnxn.dumpConnectionInfo.
func cons(s *Server) text {
	lines := s.lines()
	return func() string {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l.brief() + l.detail() + ")\n")
		}
		b.WriteString("\n")
		return b.String()
	}
}

// brief returns the part of a line that stat shows. The number in brackets is 1 if the
// server waits to read, 0 for the asking connection.
func (l *line) brief() string {
	interest := 1
	if l.asker {
		interest = 0
	}
	return fmt.Sprintf(" %s[%d](queued=%d,recved=%d,sent=%d",
		l.addr, interest, l.Queued, l.Received, l.Sent)
}

// detail returns the rest of a line of cons, which only a connection with a session has. lresp is
// Unix time; on the real server it is the time of a clock with an arbitrary start.
func (l *line) detail() string {
	if l.Session == 0 {
		return ""
	}
	cxid := ""
	if l.LastCxid >= 0 {
		cxid = fmt.Sprintf(",lcxid=0x%x", l.LastCxid)
	}
	responded := int64(0)
	if !l.LastResponse.IsZero() {
		responded = l.LastResponse.UnixMilli()
	}
	return fmt.Sprintf(",sid=0x%x,lop=%s,est=%d,to=%d%s,lzxid=0x%x,lresp=%d",
		uint64(l.Session), l.LastOp, l.Opened.UnixMilli(), l.Timeout.Milliseconds(), cxid,
		uint64(l.LastZxid), responded) + ",llat=0,minlat=0,avglat=0,maxlat=0"
}

// sessionless is the timeout of a connection without a handshake, and the unit to which
// the times of expiry of all connections are rounded up.
//
// Source: NIOServerCnxnFactory, zookeeper.nio.sessionlessCnxnTimeout.
const sessionless = 10 * time.Second

// javaAddr formats an address as Java does: after a slash, before which Java writes the
// host name if it has looked it up, and IPv6 without "::".
//
// Source: java.net.InetSocketAddress.toString.
func javaAddr(addr string) string {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || a.Addr().Unmap().Is4() {
		return "/" + addr
	}
	b := a.Addr().As16()
	groups := make([]string, 8)
	for i := range groups {
		groups[i] = fmt.Sprintf("%x", int(b[2*i])<<8|int(b[2*i+1]))
	}
	return fmt.Sprintf("/[%s]:%d", strings.Join(groups, ":"), a.Port())
}
