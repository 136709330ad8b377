package fourletter

import (
	"strconv"
	"strings"
)

// quotaGauges are the metrics of quotas, in the order of mntr.
//
// Source: QuotaMetricsUtils.
var quotaGauges = []struct {
	key  string
	node string // the node with the number in its data
	// number returns the number. A hard limit hides the soft one.
	number func(map[string]int64) int64
}{
	{
		"quota_bytes_limit_per_namespace", limitsNode,
		func(q map[string]int64) int64 { return limit(q, "byteHardLimit", "bytes") },
	},
	{
		"quota_count_usage_per_namespace", statsNode,
		func(q map[string]int64) int64 { return valueOr(q, "count", -1) },
	},
	{
		"quota_count_limit_per_namespace", limitsNode,
		func(q map[string]int64) int64 { return limit(q, "countHardLimit", "count") },
	},
	{
		"quota_bytes_usage_per_namespace", statsNode,
		func(q map[string]int64) int64 { return valueOr(q, "bytes", -1) },
	},
}

const (
	quotaRoot  = "/zookeeper/quota"
	limitsNode = "/zookeeper_limits"
	statsNode  = "/zookeeper_stats"
)

func limit(q map[string]int64, hard, soft string) int64 {
	if n := valueOr(q, hard, -1); n > -1 {
		return n
	}
	return valueOr(q, soft, -1)
}

func valueOr(q map[string]int64, key string, otherwise int64) int64 {
	if n, ok := q[key]; ok {
		return n
	}
	return otherwise
}

// reportQuotas writes the limits and the usage of each namespace with quotas. The
// namespace of a path is its first element.
func (s *Server) reportQuotas(r *report) {
	sums := make([]map[string]int64, len(quotaGauges))
	for i := range sums {
		sums[i] = map[string]int64{}
	}
	for path, n := range s.Engine.StoreOf(s.Number).Below(quotaRoot) {
		s.step(1)
		rest, ok := strings.CutPrefix(path, quotaRoot+"/")
		if !ok || n.Stat.NumChildren > 0 || n.Data == nil {
			continue
		}
		namespace, _, _ := strings.Cut(rest, "/")
		for i, gauge := range quotaGauges {
			if strings.HasSuffix(path, gauge.node) {
				sums[i][namespace] += gauge.number(parseQuota(string(n.Data)))
			}
		}
	}
	for i, gauge := range quotaGauges {
		r.namespaceCounters(gauge.key, sums[i])
	}
}

// parseQuota parses "count=4,bytes=5=;byteHardLimit=10". Values that are not numbers are left out.
//
// Source: StatsTrack.
func parseQuota(text string) map[string]int64 {
	q := map[string]int64{}
	separator := func(r rune) bool { return r == ',' || r == ';' }
	for _, pair := range strings.FieldsFunc(text, separator) {
		key, value, _ := strings.Cut(pair, "=")
		value, _, _ = strings.Cut(value, "=")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			q[key] = n
		}
	}
	return q
}
