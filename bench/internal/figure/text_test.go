package figure

import "testing"

func TestFiguresAreShownWithThreeDigits(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "-"}, {0.01234, "0.012"}, {0.0999, "0.10"}, {1.234, "1.23"}, {9.994, "9.99"},
		{9.999, "10.0"},
		{12.34, "12.3"}, {99.96, "100"}, {1234.5, "1234"},
	} {
		if got := Significant(c.x); got != c.want {
			t.Errorf("%v: %q, expected %q", c.x, got, c.want)
		}
	}
	for _, c := range []struct {
		x    float64
		want string
	}{{0, "0"}, {999.4, "999"}, {1000, "1,000"}, {123456, "123,456"}, {1234567, "1,234,567"}} {
		if got := Thousands(c.x); got != c.want {
			t.Errorf("%v: %q, expected %q", c.x, got, c.want)
		}
	}
}
