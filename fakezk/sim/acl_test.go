package sim

import "github.com/go-zookeeper/zk"

// worldACL is the list by which everybody may do everything.
var worldACL = zk.WorldACL(zk.PermAll)
