package fourletter

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// A line is one connection as cons, stat and dump show it.
type line struct {
	engine.ConnView
	addr  string // as Java writes it
	asker bool
}

// lines are the open connections, the asking one last.
func (s *Server) lines() []line {
	var lines []line
	for _, c := range s.Engine.Conns() {
		addr := c.IP
		if s.Addr != nil {
			addr = s.Addr(c.ID)
		}
		if addr != s.Asker {
			lines = append(lines, line{ConnView: c, addr: javaAddr(addr)})
		}
	}
	asking := engine.ConnView{Received: 1, Opened: s.Now, Timeout: sessionless}
	return append(lines, line{ConnView: asking, addr: javaAddr(s.Asker), asker: true})
}

// cons.
//
// Source: ConsCommand, ServerCnxn.dumpConnectionInfo.
func cons(s Server) string {
	var b strings.Builder
	for _, l := range s.lines() {
		b.WriteString(l.brief() + l.detail() + ")\n")
	}
	b.WriteString("\n")
	return b.String()
}

// brief is all that stat shows. The number in brackets says what the server
// waits for: 1 to read, nothing of the connection whose word it answers.
func (l *line) brief() string {
	interest := 1
	if l.asker {
		interest = 0
	}
	return fmt.Sprintf(" %s[%d](queued=%d,recved=%d,sent=%d", l.addr, interest, l.Queued, l.Received, l.Sent)
}

// detail is what cons shows of a connection that has a session. The real
// server's lresp is of a clock that starts anywhere; here it is Unix time, on
// which the engine's session ids are based as well.
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
	return fmt.Sprintf(",sid=0x%x,lop=%s,est=%d,to=%d%s,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0",
		uint64(l.Session), l.LastOp, l.Opened.UnixMilli(), l.Timeout.Milliseconds(), cxid, uint64(l.LastZxid), responded)
}

// sessionless is the timeout of a connection that has not shaken hands, and the
// unit in which all connections' times of expiry are rounded up.
//
// Source: NIOServerCnxnFactory, zookeeper.nio.sessionlessCnxnTimeout.
const sessionless = 10 * time.Second

// javaAddr writes an address as Java does: the name of the host, which is not
// looked up, before a slash, and IPv6 without "::".
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
