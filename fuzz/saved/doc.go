// Package saved has scenarios as files. A [File] is a scenario as YAML, with the expected outcome.
// [Load] and [Parse] read it, [File.Save] writes it, and [File.Check] plays it and compares.
//
// A file with an expected outcome is a test: Check lists the differences from it.
package saved
