# Everything that people and CI do here. Each target prepares what it needs; `make help` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup build demo test deb fuzz bench locks format clean

# The JVM that runs Maven also compiles. The warnings silenced here come from Maven's own libraries. C1 alone
# compiles the project in a quarter less processor time (docs/decisions/0165).
MVN = . scripts/jdk25.sh && MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow -XX:TieredStopAtLevel=1 $$maven_gc $$MAVEN_OPTS" mvn -B -ntp

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

setup: ## install the Debian packages that are missing
	@scripts/setup

build: setup ## build everything ./blackbox needs
	@scripts/build
	@echo 'built; try: ./blackbox --help'

demo: ## record a scripted agent in a VM, show what it touched, verify and replay the run
	@scripts/demo

test: build ## run every test, and check the format
	@rm -rf */target/surefire-reports
	@$(MVN) -T 2 -Dmaven.test.failure.ignore=true package
	@. scripts/jdk25.sh && "$$JAVA_HOME/bin/java" scripts/TestReports.java .ci/skips-allowed */
	@$(MVN) -q -T 2 spotless:check

deb: build ## build target/deb/blackbox_*.deb, with all that it needs, to install on other machines
	@scripts/deb

fuzz: build ## look for inputs that break a parser (TARGET="dns pcap": only these; TIME=60: seconds for each; CORPUS=DIR)
	@. scripts/jdk25.sh && "$$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "fuzz/target/test-classes:fuzz/target/classes:$$(cat fuzz/target/class-path)" blackbox.fuzz.Fuzz $(or $(TIME),60) $(or $(CORPUS),target/fuzz) $(TARGET)

bench: build ## run the benchmarks (ONLY="seal verify": only these; SCALE=smallest: just try them; TIME=10: seconds of each flood; FLOODS=names,files: only these; WORK=git,npm RECORDINGS=4 REPLAYS=25: of replay-agreement-*; MINUTES=30: of the run of seek) and write bench/results.json
	@. scripts/jdk25.sh && "$$JAVA_HOME/bin/java" -XX:+UseSerialGC $(if $(SCALE),-Dblackbox.bench.scale=$(SCALE)) $(if $(TIME),-Dblackbox.bench.seconds=$(TIME)) $(if $(FLOODS),-Dblackbox.bench.floods=$(FLOODS)) $(if $(WORK),-Dblackbox.bench.workloads=$(WORK)) $(if $(MINUTES),-Dblackbox.bench.minutes=$(MINUTES)) $(if $(RECORDINGS),-Dblackbox.bench.recordings=$(RECORDINGS)) $(if $(REPLAYS),-Dblackbox.bench.replays=$(REPLAYS)) -cp bench/target/classes:cli/target/blackbox-cli-0.1.0.jar blackbox.bench.Bench $(ONLY)

locks: build ## renew the package locks of the image and of QEMU from today's archive, and test both
	./blackbox image locks --write .

format: ## format the Java sources
	@$(MVN) -q spotless:apply

clean: ## remove what was built; recordings are kept
	@$(MVN) -q clean
