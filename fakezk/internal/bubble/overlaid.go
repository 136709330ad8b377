//go:build zksim_overlay

package bubble

import _ "unsafe" // for go:linkname

// These are added to Go's runtime by the overlay.

//go:linkname begin runtime.zksimBegin
func begin(seed uint64)

//go:linkname end runtime.zksimEnd
func end()
