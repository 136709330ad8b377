package conform

import "encoding/binary"

// passwordOf returns the password of a session: the first 16 bytes of java.util.Random,
// seeded with the id and a constant, as in ZooKeeperServer.generatePasswd. It is written
// again here, as the engine's is among the code that is compared.
func passwordOf(id int64) []byte {
	const secret = 0xB3415C00
	const multiplier, increment, mask = 0x5DEECE66D, 0xB, 1<<48 - 1
	state := uint64(id^secret^multiplier) & mask
	var password []byte
	for range 4 {
		state = (state*multiplier + increment) & mask
		password = binary.LittleEndian.AppendUint32(password, uint32(state>>16))
	}
	return password
}
