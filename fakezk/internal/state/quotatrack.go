package state

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A quotaTrack is the data of a quota's limits or stats:
// "count=4,bytes=5=;byteHardLimit=10;countHardLimit=10". A missing value means -1.
//
// Source: StatsTrack.java.
type quotaTrack map[string]int64

// The keys that the server reads. Other keys are kept.
const (
	trackCount     = "count"
	trackBytes     = "bytes"
	trackCountHard = "countHardLimit"
	trackBytesHard = "byteHardLimit"
)

func (q quotaTrack) get(key string) int64 {
	if value, ok := q[key]; ok {
		return value
	}
	return -1
}

// data returns the text of a track: count and bytes first, then an extra '=', at which
// servers that do not know the other keys stop, then those in the order of their names.
func (q quotaTrack) data() []byte {
	data := append([]byte(nil), trackCount+"="...)
	data = strconv.AppendInt(data, q.get(trackCount), 10)
	data = append(data, ","+trackBytes+"="...)
	data = strconv.AppendInt(data, q.get(trackBytes), 10)
	separator := "=;"
	for _, key := range slices.Sorted(maps.Keys(q)) {
		if key == trackCount || key == trackBytes {
			continue
		}
		data = append(data, separator+key+"="...)
		data = strconv.AppendInt(data, q[key], 10)
		separator = ";"
	}
	return data
}

// parseTrack parses the text of a track. Null data, a leading separator, a key without a value and
// a value that is not a number are errors; empty data is a track without values.
func parseTrack(data []byte) (quotaTrack, bool) {
	track := quotaTrack{}
	text := strings.TrimRight(string(data), ",;")
	if text == "" {
		return track, data != nil
	}
	if isTrackSeparator(rune(text[0])) {
		return nil, false
	}
	for _, pair := range strings.FieldsFunc(text, isTrackSeparator) {
		parts := strings.Split(strings.TrimRight(pair, "="), "=")
		if len(parts) < 2 {
			return nil, false
		}
		value, err := javaInt(cmp.Or(parts[1], "-1"), 64)
		if err != nil {
			return nil, false
		}
		track[parts[0]] = value
	}
	return track, true
}

func isTrackSeparator(r rune) bool { return r == ',' || r == ';' }
