package fourletter

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mntr answers the word mntr: the metrics.
//
// Source: MonitorCommand, ZooKeeperServer.dumpMonitorValues.
func mntr(s *Server) text {
	r := &report{}
	r.text("version", Version)
	r.text("server_state", s.mode())
	s.reportPeer(r)
	known := s.gauges()
	for _, key := range gauges {
		if value, ok := known[key]; ok {
			r.text(key, value)
		}
	}
	s.reportQuotas(r)
	r.counters(counters, s.counters())
	sums := s.Traffic.summaries()
	for _, key := range basicSummaries {
		r.basic(key, sums[key])
	}
	for _, key := range summaries {
		r.basic(key, sums[key])
		r.percentiles(key)
	}
	r.namespaces("read_per_namespace", s.Traffic.NamespaceReads)
	r.namespaces("write_per_namespace", s.Traffic.NamespaceWrites)
	return r.String
}

// File descriptors of an idle server process: the number open and the limit.
const (
	openFiles = 41
	maxFiles  = 20000
)

// gauges returns the value of every gauge. The literal ones are the same on every
// standalone server without TLS if requests take no time.
func (s *Server) gauges() map[string]string {
	conns, ephemerals := s.connected(), 0
	for _, ses := range s.Engine.StoreOf(s.Number).Sessions() {
		ephemerals += s.Engine.StoreOf(s.Number).EphemeralCount(ses.ID)
	}
	packets, sizes := s.packets(), s.Traffic.Responses
	if sizes == (Sizes{}) {
		sizes = Sizes{Last: -1, Min: -1, Max: -1}
	}
	known := map[string]string{
		"ephemerals_count":            strconv.Itoa(ephemerals),
		"num_alive_connections":       strconv.Itoa(conns),
		"avg_latency":                 "0.0",
		"outstanding_requests":        "0",
		"znode_count":                 strconv.Itoa(s.nodeCount()),
		"global_sessions":             strconv.Itoa(len(s.Engine.StoreOf(s.Number).Sessions())),
		"non_mtls_remote_conn_count":  "0",
		"last_client_response_size":   decimal(sizes.Last),
		"packets_sent":                decimal(packets.Sent),
		"packets_received":            decimal(packets.Received),
		"max_client_response_size":    decimal(sizes.Max),
		"connection_drop_probability": "0.0",
		"watch_count":                 strconv.Itoa(s.Engine.WatchCount(s.Number)),
		"auth_failed_count":           "0",
		"min_latency":                 "0",
		"max_file_descriptor_count":   strconv.Itoa(maxFiles),
		"approximate_data_size":       decimal(s.Engine.StoreOf(s.Number).ApproximateBytes()),
		"open_file_descriptor_count":  strconv.Itoa(openFiles + conns),
		"local_sessions":              "0",
		"uptime":                      decimal(s.Now.Sub(s.Started).Milliseconds()),
		"max_latency":                 "0",
		"outstanding_tls_handshake":   "0",
		"min_client_response_size":    decimal(sizes.Min),
		"non_mtls_local_conn_count":   "0",
	}
	s.addPeerGauges(known)
	return known
}

// reportPeer adds the state of a server of an ensemble.
func (s *Server) reportPeer(r *report) {
	switch s.mode() {
	case "leader":
		r.text("peer_state", "leading - broadcast")
	case "follower":
		r.text("peer_state", "following - broadcast")
	}
}

// addPeerGauges adds the gauges of a server of an ensemble, of which most are the leader's.
func (s *Server) addPeerGauges(known map[string]string) {
	servers := s.Engine.Servers()
	if servers == 1 {
		return
	}
	known["quorum_size"] = strconv.Itoa(servers)
	if s.mode() == "follower" {
		return
	}
	followers := strconv.Itoa(servers - 1)
	known["learners"], known["synced_followers"] = followers, followers
	known["leader_uptime"] = known["uptime"]
	for _, key := range []string{"min", "max", "last"} {
		known[key+"_proposal_size"] = "-1"
	}
	for _, key := range []string{"synced_non_voting_followers", "synced_observers",
		"pending_syncs"} {
		known[key] = "0"
	}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// A report is the text of mntr.
type report struct{ strings.Builder }

func (r *report) text(key, value string) { fmt.Fprintf(r, "zk_%s\t%s\n", key, value) }

func (r *report) number(key string, value int64) { r.text(key, decimal(value)) }

func (r *report) counters(keys []string, values map[string]int64) {
	for _, key := range keys {
		r.number(key, values[key])
	}
}

func (r *report) basic(key string, s Summary) {
	r.text("avg_"+key, average(s))
	r.number("min_"+key, s.Min)
	r.number("max_"+key, s.Max)
	r.number("cnt_"+key, s.Count)
	r.number("sum_"+key, s.Sum)
}

// percentiles writes zeros: every summary with percentiles is of times, which are zero.
func (r *report) percentiles(key string) {
	for _, p := range []string{"p50", "p95", "p99", "p999"} {
		r.number(p+"_"+key, 0)
	}
}

func (r *report) namespaces(key string, sums map[string]*Summary) {
	for _, namespace := range concurrentOrder(slices.Sorted(maps.Keys(sums)), stringHash) {
		r.basic(namespace+"_"+key, *sums[namespace])
	}
}

func (r *report) namespaceCounters(key string, values map[string]int64) {
	for _, namespace := range concurrentOrder(slices.Sorted(maps.Keys(values)), stringHash) {
		r.number(namespace+"_"+key, values[namespace])
	}
}

// average rounds half up to four decimals and writes the number as Java does,
// always with a decimal.
//
// Source: AvgMinMaxCounter.getAvg.
func average(s Summary) string {
	if s.Count == 0 {
		return "0.0"
	}
	rounded := math.Floor(float64(s.Sum)/float64(s.Count)*1e4+0.5) / 1e4
	return javaDouble(rounded)
}

// javaDouble is java.lang.Double.toString for numbers of 0 and more.
func javaDouble(f float64) string {
	if f != 0 && (f < 1e-3 || f >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		sign := strings.TrimPrefix(exponent[:1], "+")
		return mantissa + "E" + sign + strings.TrimLeft(exponent[1:], "0")
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
