package cli

import _ "embed"

//go:embed openapi.yaml
var openAPI []byte

//go:embed control_ui.html
var controlUI []byte

func getOpenAPI(*controlRequest) (any, error) {
	return rawReply{"application/yaml", openAPI}, nil
}

func getUI(*controlRequest) (any, error) {
	return rawReply{"text/html; charset=utf-8", controlUI}, nil
}
