// Package digestmd5 is the server's side of the SASL mechanism DIGEST-MD5 (RFC 2831), as Java's
// DigestMD5Server has it with default settings: authentication without a security layer (qop
// "auth"), and no subsequent authentication.
//
//	x := digestmd5.NewExchange(realm, "zookeeper/"+realm, nonce)
//	challenge, _, err := x.Answer(nil, users)      // step 1: realm, nonce
//	rspauth, user, err := x.Answer(token, users)   // step 2: the proof of the password
//
// MD5 protects nothing today. Servers for tests speak it because old clients do.
package digestmd5
