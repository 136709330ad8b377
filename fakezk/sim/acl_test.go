package sim

import "github.com/go-zookeeper/zk"

// worldACL is the list that permits everything to all clients.
var worldACL = zk.WorldACL(zk.PermAll)
