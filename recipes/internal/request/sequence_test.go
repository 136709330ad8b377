package request

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestParseNumbered(t *testing.T) {
	for name, want := range map[string]int32{
		"_c_0123-lock-0000000007":    7,
		"lock-2147483647":            1<<31 - 1,
		"_c_0123-lock--2147483648":   -1 << 31,
		"_c_0123-lock--000000005":    -5, // %010d counts the sign
		"0123abcd__lock__0000000001": 1,
	} {
		if n, ok := parseNumbered(name, "lock-", "__lock__"); !ok || n.Seq != want {
			t.Errorf("parse %q: %v %v, want %d", name, n.Seq, ok, want)
		}
	}
	for _, name := range []string{
		"", "x", "_c_", "lock-", "lock-1", "lock-+123456789", "lock-99999999999", "0000000001",
	} {
		if n, ok := parseNumbered(name, "lock-", "__lock__"); ok {
			t.Errorf("parse %q: %v, want foreign", name, n)
		}
	}
}

func TestSortAcrossWrap(t *testing.T) {
	in := []string{
		"x-item--2147483647", "x-item-2147483646", "x-item--2147483648", "x-item-2147483647",
	}
	want := []string{in[1], in[3], in[2], in[0]}
	var got []string
	for _, n := range SortNumbered(in, "-item-") {
		got = append(got, n.Name)
	}
	check.List(t, got, want, "sorted")
}

func TestLastNumber(t *testing.T) {
	for seq, unique := range map[int32]bool{
		0: true, 1: true, -1: true, math.MaxInt32 - 1: true, math.MaxInt32: false,
		math.MinInt32: false, math.MinInt32 + 1<<16 - 1: false, math.MinInt32 + 1<<16: true,
	} {
		if err := LastNumber("/d", seq); (err == nil) != unique ||
			err != nil && !errors.Is(err, ErrNumbersUsedUp) {
			t.Errorf("%d: %v", seq, err)
		}
	}
}

func TestExportedSequences(t *testing.T) {
	names := []string{"b-0000000002", "foreign", "a--2147483648", "a-2147483647"}
	if got, want := SortBySequence(names[1:], "-"),
		[]string{"a-2147483647"}; !slices.Equal(got, want) {
		t.Errorf("a marker that is a hyphen: %v",
			got) // it eats the sign, hence the markers of the recipes
	}
	if n, ok := Sequence("/x/a-lock--2147483648", "lock-"); !ok || n != -1<<31 {
		t.Errorf("Sequence: %d %v", n, ok)
	}
	if Join("/", "a") != "/a" || Parent("/a/b") != "/a" || Parent("/") != "/" ||
		BaseName("/a/b") != "b" {
		t.Error("paths")
	}
}
