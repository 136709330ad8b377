module github.com/zksim/zksim/wild/dcos

go 1.26.8

require (
	github.com/dcos/dcos-go v0.0.0-20190205125227-3b86d9c7fac3
	github.com/zksim/zksim v0.0.0
)

require (
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/petermattis/goid v0.0.0-20260820044319-269ab09b5261 // indirect
	github.com/pkg/errors v0.0.0-20171216070316-e881fd58d78e // indirect
	github.com/samuel/go-zookeeper v0.0.0-20171117190445-471cd4e61d7a // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
)

replace github.com/zksim/zksim => ../../
