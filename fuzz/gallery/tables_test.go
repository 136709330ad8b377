package gallery_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/gallery"
)

// published are the ids of the bugs that the gallery knows of.
const published = `
B1 B2 B3 B4 B5 B6 B7 B9 B12 B13 B14 B15 B16 B17 B19 B20 B21 B22 B23 B25 B26 B27 B28 B29 B31 B33
B34 B36 B37 B38 B39 B40 B41 B42 B43 B44 B46 B48 B50 B51 B52 B53 B55 B57 B58 B61 B63 B64 B65 B66
B67 B68 B71 B72 B73 B74 B74b B75 B76 B78 B79 B81 B82 B83 B84 B85 B86 B87
G1 G2 G3 G4 G5 G6 G7 G8 G9 G10 G11 G12 G13 G14 G15
S0-1 S0-2 S0-3 S0-4 S0-5 S0-6 S0-7 S0-8 S0-9 S0-10 S0-11 S0-12 S0-13 S0-14 S0-15 S0-16 S0-17 S0-18
S0-19 S0-20 S0-21 S0-22
S1-1 S1-2 S1-3 S1-4 S1-5 S1-6 S1-7 S1-8 S1-9 S1-10 S1-11 S1-12
S2-1 S2-2 S2-3 S2-4 S2-5 S2-6
S3-1 S3-2 S3-3 S3-4 S3-5 S3-6 S3-7
S4-1 S4-2 S4-3 S4-4 S4-5 S4-6 S4-7 S4-8 S4-9 S4-10 S4-11 S4-12 S4-13 S4-14 S4-15 S4-16 S4-17 S4-18
S4-19 S4-20 S4-21 S4-22 S4-23 S4-24 S4-25 S4-26 S4-27 S4-28 S4-29 S4-30 S4-31 S4-32 S4-33 S4-34
S4-35 S4-36 S4-37 S4-38 S4-39 S4-40 S4-41 S4-42 S4-43`

// anID is how an id looks in a text, among names of other trackers.
var anID = regexp.MustCompile(`\b(?:[BG][0-9]+b?|S[0-9]-[0-9]+)\b`)

// TestEveryBugIsSomewhere: each that is known is exhibited, seen beside an exhibit of the
// same cause, or absent, and only one of these; and there are no others.
func TestEveryBugIsSomewhere(t *testing.T) {
	places := map[string][]string{}
	for _, e := range gallery.Exhibits() {
		if e.Alias != "" {
			places[e.Alias] = append(places[e.Alias], "is exhibited")
		}
		for _, id := range anID.FindAllString(strings.Join(e.See, " "), -1) {
			places[id] = append(places[id], "is seen at "+e.Alias)
		}
	}
	for _, m := range gallery.Absent() {
		places[m.ID] = append(places[m.ID], "is absent")
	}
	for _, id := range strings.Fields(published) {
		if n := len(places[id]); n != 1 {
			t.Errorf("%s %q; want one place", id, places[id])
		}
		delete(places, id)
	}
	if len(places) > 0 {
		t.Errorf("of no table: %q", slices.Sorted(maps.Keys(places)))
	}
}
