package serve

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// An access says who may ask the control endpoint. It is for this machine: it refuses requests that
// a browser makes for another site, and those with a Host other than localhost or a loopback
// address.
type access struct {
	anywhere bool   // any Host is accepted
	token    string // that requests must bear, "" for none
	sites    http.CrossOriginProtection
}

// admit refuses requests of other sites and those without the token. The page needs no token: it
// has no data, and a browser sends no token when it opens the page.
func (a *access) admit(w http.ResponseWriter, r *http.Request) error {
	if !a.anywhere && !isThisMachine(r.Host) {
		return failure(http.StatusForbidden, "host %q: expected localhost or an address "+
			"such as 127.0.0.1, or a server with --control-anywhere", r.Host)
	}
	if err := a.sites.Check(asChange(r)); err != nil && !opensPage(r) {
		return failure(http.StatusForbidden, "%v", err)
	}
	if a.token != "" && r.URL.Path != pagePath && !hasToken(r, a.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return failure(http.StatusUnauthorized,
			"expected the header Authorization: Bearer and the token of --control-token")
	}
	return nil
}

// asChange is the same request as one that changes something: package http lets those of other
// sites pass that only read.
func asChange(r *http.Request) *http.Request {
	change := r.WithContext(r.Context())
	change.Method = http.MethodPost
	return change
}

// opensPage reports whether a browser opens the page as a whole tab. A link of any site may lead to
// it; a frame of another site could make its visitor press the buttons.
func opensPage(r *http.Request) bool {
	return r.URL.Path == pagePath && isGet(r.Method) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// hasToken reports whether a request has the token.
func hasToken(r *http.Request, token string) bool {
	kind, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(kind, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// isThisMachine reports whether a Host header is localhost or a loopback address. If a site makes
// its name resolve to this machine, the requests of its pages have that name as Host.
func isThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
