# Releases are built by hand: reproducible, static, for every platform.
.PHONY: test dist clean

test:
	go test ./...

VERSION ?= $(shell git describe --tags --always --dirty)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

dist:
	@mkdir -p dist
	@for p in $(PLATFORMS); do \
		os=$${p%/*} arch=$${p#*/} ext=; [ $$os = windows ] && ext=.exe; \
		echo $$p; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -ldflags='-s -w' \
			-o dist/shmoo-$(VERSION)-$$os-$$arch$$ext ./cmd/shmoo || exit 1; \
	done
	cd dist && sha256sum shmoo-* > SHA256SUMS

clean:
	rm -rf dist
