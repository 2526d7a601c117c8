# Releases are built by hand: reproducible, static, for every platform.
.PHONY: build gpu test dist clean ui model site

# A static binary: everything but measuring on a GPU.
build:
	CGO_ENABLED=0 go build -trimpath -tags nogpu -o shmoo ./cmd/shmoo

# The same with the GPU commands, which load NVIDIA's driver when they run. On Linux this binary needs a libc.
gpu:
	CGO_ENABLED=0 go build -trimpath -o shmoo ./cmd/shmoo

test:
	go test ./...

VERSION ?= $(shell git describe --tags --always --dirty)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

dist: model
	@mkdir -p dist
	@for p in $(PLATFORMS); do \
		os=$${p%/*} arch=$${p#*/} ext=; [ $$os = windows ] && ext=.exe; \
		echo $$p; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -tags nogpu,webmodel -ldflags='-s -w' \
			-o dist/shmoo-$(VERSION)-$$os-$$arch$$ext ./cmd/shmoo || exit 1; \
	done
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -tags webmodel -ldflags='-s -w' \
		-o dist/shmoo-$(VERSION)-linux-amd64-gpu ./cmd/shmoo
	cd dist && sha256sum shmoo-* > SHA256SUMS

# The page: bundled from web/ui into web/dist, which is committed. "make ui" needs no Node; types are checked by
# "npx -p typescript tsc -p web/ui".
ui:
	go run -C tools ./uibuild

# The model as WebAssembly, for pages without a server. Small matters more than fast here: no inlining, no variants of the
# allocator and the collector for speed. zopfli packs 4% tighter than gzip where it is installed. Build with
# -tags webmodel to let "shmoo serve" export pages that compute by themselves.
model:
	@mkdir -p web/model
	GOEXPERIMENT=nogreenteagc,nosizespecializedmalloc GOOS=js GOARCH=wasm \
		go build -trimpath -gcflags=all=-l -ldflags='-s -w' -o web/model/model.wasm ./web/wasm
	if command -v zopfli >/dev/null; then zopfli --i5 web/model/model.wasm; else gzip -9nkf web/model/model.wasm; fi
	rm web/model/model.wasm
	cp "$$(go env GOROOT)/lib/wasm/wasm_exec.js" web/model/

# The editor as a folder that any web server can serve.
site: model
	go run -C tools ./uibuild -site ../dist/site -model ../web/model

clean:
	rm -rf dist web/model
