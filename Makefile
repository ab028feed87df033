# Two commands for newcomers: `make demo` shows the whole thing at work,
# `make test` proves it. Both install what they need (Debian 12), build and
# run. `make help` lists the rest.

PRESET ?= dev
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)

.PHONY: help setup build demo test test-asan test-tsan fuzz fuzz-bundle gpu-bundle test-gpu bench docs format install clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the packages that building and testing need
	@scripts/setup.sh

build: setup ## build everything (PRESET=dev|release|asan)
	@mkdir -p build
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET) >build/$(PRESET).configure.log || \
	  { cat build/$(PRESET).configure.log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS)

demo: build ## a checkpoint goes in, tokens come out
	@scripts/demo.sh $(BUILD)

test: build ## all tests; the last line says how many passed
	@python3 scripts/run-tests.py $(BUILD)

test-asan: ## all tests under address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory test PRESET=asan

test-tsan: setup ## unit tests of the runtime under the thread sanitizer
	@mkdir -p build && cmake --preset tsan >build/tsan.configure.log
	@cmake --build build/tsan -j $(JOBS) --target mmx-runtime-tests
	@build/tsan/bin/mmx-runtime-tests --gtest_filter=-Package.Survives*:Safetensors*.Survives*

FUZZ_SECONDS ?= 60
fuzz: setup ## every parser against inputs that fuzzing finds (FUZZ_SECONDS=60 each)
	@mkdir -p build && cmake --preset fuzz >build/fuzz.configure.log
	@cmake --build build/fuzz -j $(JOBS) --target fuzz-all
	@scripts/run-fuzz.py build/fuzz $(FUZZ_SECONDS)

fuzz-bundle: setup ## build/fuzz-bundle: fuzz targets for a machine with many cores
	@scripts/fuzz-bundle.sh build/fuzz-bundle

gpu-bundle: build ## build/gpu-bundle: all that tests on a GPU need
	@scripts/gpu-bundle.sh $(BUILD) build/gpu-bundle

test-gpu: ## run that bundle here; needs a GPU, but no LLVM
	@test -x build/gpu-bundle/run-gpu-tests.sh || \
	  { echo "build/gpu-bundle is missing: run make gpu-bundle, or copy it here"; exit 1; }
	@build/gpu-bundle/run-gpu-tests.sh

bench: ## speed on this machine, checked before it is timed
	@$(MAKE) --no-print-directory build PRESET=release
	@python3 bench/cpu.py --build build/release
	@python3 bench/tokenizer.py --build build/release

docs: build ## reference pages from TableGen, into build/dev/docs
	@cmake --build $(BUILD) --target docs

format: ## format all C++ sources
	@git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

install: ## build for release and install (DESTDIR, PREFIX)
	@$(MAKE) --no-print-directory build PRESET=release
	@cmake --install build/release $(if $(PREFIX),--prefix $(PREFIX))

clean: ## remove what was built
	rm -rf build
