package wire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text decodes a string as Java does: each malformed sequence becomes one U+FFFD. In
// Go a malformed sequence is one byte. In Java it may be longer: a truncated character
// is one sequence, and so are the three bytes of half a surrogate pair.
//
// Source: String.decodeUTF8_UTF16 of JDK 17.
func Text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var text strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = malformedLength(b)
		}
		text.WriteRune(r)
		b = b[n:]
	}
	return text.String()
}

// malformedLength returns the length of the malformed sequence at the start of b, as
// Java counts it.
func malformedLength(b []byte) int {
	switch first := b[0]; {
	case first>>4 == 0xe:
		if len(b) == 1 || !continues(b[1]) || first == 0xe0 && b[1] < 0xa0 {
			return 1
		}
		if len(b) > 2 && continues(b[2]) {
			return 3 // half a surrogate pair
		}
		return 2
	case first>>3 == 0x1e && first <= 0xf4:
		if len(b) == 1 || !continues(b[1]) ||
			first == 0xf0 && b[1] < 0x90 || first == 0xf4 && b[1] >= 0x90 {
			return 1
		}
		if len(b) == 2 || !continues(b[2]) {
			return 2
		}
		return 3
	}
	return 1
}

func continues(b byte) bool { return b&0xc0 == 0x80 }

// appendText appends a string as the Java server writes it: a character beyond the
// basic multilingual plane becomes the two halves of a surrogate pair, three bytes
// each, which is not UTF-8.
//
// Source: BinaryOutputArchive.stringToByteBuffer.
func appendText(dst []byte, s string) []byte {
	if !strings.ContainsFunc(s, isBeyondBasicPlane) {
		return appendString(dst, s)
	}
	dst, start := beginFrame(dst) // a string has a length before it, as a frame has
	for _, r := range s {
		if isBeyondBasicPlane(r) {
			dst = appendSurrogates(dst, r)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return endFrame(dst, start)
}

func isBeyondBasicPlane(r rune) bool { return r > 0xffff }

func appendSurrogates(dst []byte, r rune) []byte {
	high, low := utf16.EncodeRune(r)
	for _, half := range []rune{high, low} {
		dst = append(dst, 0xe0|byte(half>>12), 0x80|byte(half>>6)&0x3f, 0x80|byte(half)&0x3f)
	}
	return dst
}

// joinSurrogates undoes appendText. It returns valid UTF-8 unchanged.
func joinSurrogates(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	var joined []byte
	for len(b) > 0 {
		if r := utf16.DecodeRune(surrogate(b), surrogate(b[min(3, len(b)):])); r != utf8.RuneError {
			joined, b = utf8.AppendRune(joined, r), b[6:]
			continue
		}
		joined, b = append(joined, b[0]), b[1:]
	}
	return joined
}

// surrogate returns the half of a surrogate pair at the start of b, or 0.
func surrogate(b []byte) rune {
	if len(b) < 3 || b[0] != 0xed || b[1] < 0xa0 || !continues(b[1]) || !continues(b[2]) {
		return 0
	}
	return rune(b[0]&0xf)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
}
