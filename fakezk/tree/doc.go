// Package tree reads and writes trees of znodes as files, in YAML or JSON: what a test begins with,
// or the dump of a server.
//
// A tree file is a mapping from paths to nodes. A node is its data as text, null for null data, or
// a mapping:
//
//	zxid: 42                            # the server continues after it
//	/app: hello
//	/app/nothing: ~
//	/app/locks:
//	  data: text                        # or base64: AAEC; null data without both
//	  acl:                              # scheme:id:perms; world:anyone:cdrwa if absent
//	    - world:anyone:r
//	    - digest:user:hash:cdrwa        # perms c, d, r, w, a, or a number
//	  kind: container                   # or ttl, or persistent, the default
//	  ttl: 1m30s                        # for kind ttl only
//	  next: 12                          # number of the next sequential child
//
// A dump has a zxid. It may be left out, but clients that live through a restart need it, as they
// refuse a server that went back. Text in YAML that looks like a number or like true or false needs
// quotes. A byte order mark at the beginning is skipped. Missing parents are made, with null data.
//
// The reader is strict. Unknown keys, values of a wrong kind, paths given twice, a file longer than
// [MaxBytes] and the YAML that a tree does not need (anchors, tags, further documents) are errors.
// An error names the file, the line and the column, and what was expected:
//
//	dump.yaml:12:7: /app/port: found a number; expected text in quotes
//
// A test loads a file like this:
//
//	t, err := tree.ReadFile("testdata/app.yaml")
//	if err == nil {
//		err = t.Load(server)
//	}
//
// The name may also be that of the data directory of a real ZooKeeper server, or of a copy of it:
// the dataDir of its zoo.cfg, with the files of its dataLogDir if that is another one. The tree is
// that of the latest snapshot and of all writes after it, without the nodes of sessions. A damaged
// file is an error that names it, and so is a gap between the writes; ReadFile can leave files out
// by name. What a server was writing when the copy was made is left out. If the latest snapshot
// cannot be read, an older one takes its place, with all writes after that.
//
// JSON that zk-shell has written by cp or mirror to json://FILE/PATH is a tree file, too, whose
// paths begin with PATH.
//
// [Of] and [WriteFile] are the way back. Ephemeral nodes belong to sessions, so a tree does not
// have them.
package tree
