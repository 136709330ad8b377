package fakezk

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// peer is where a connection comes from.
type peer struct {
	ip   string // as the server shows it, in ACLs for example
	port int    // 0 for a connection in memory

	client string // the name given to DialerAs, else ""
}

// memory is the peer of every connection made in memory.
var memory = peer{ip: "127.0.0.1"}

func (p peer) inMemory() bool { return p.port == 0 }

// peerOf is the peer at the far end of a connection.
func peerOf(conn net.Conn) peer {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil { // not TCP: a Unix socket, or a pipe
		return memory
	}
	return peer{ip: javaAddress(at.Addr()), port: int(at.Port())}
}

// javaAddress prints an address as InetAddress.getHostAddress does: an IPv6 address is never
// shortened.
func javaAddress(a netip.Addr) string {
	a = a.Unmap()
	if a.Is4() {
		return a.String()
	}
	b := a.As16()
	groups := make([]string, 0, 8)
	for i := 0; i < len(b); i += 2 {
		groups = append(groups, strconv.FormatUint(uint64(b[i])<<8|uint64(b[i+1]), 16))
	}
	text := strings.Join(groups, ":")
	if a.Zone() != "" {
		text += "%" + a.Zone()
	}
	return text
}
