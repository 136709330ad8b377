// Package saved has scenarios as files. A [File] is a scenario as YAML, with the expected outcome.
// [Load] and [Parse] read it, [File.Save] writes it, and [File.Check] plays it and compares.
//
// Files with an expected property are tests: a violation that was found stays found, or stays
// mended.
package saved
