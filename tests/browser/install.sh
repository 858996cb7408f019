#!/usr/bin/env bash
# Chromium and its driver are on this machine afterwards, or one sentence says what to do.
set -euo pipefail
found() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }
found && exit 0
if command -v apt-get >/dev/null; then
    as_root=""
    [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
    $as_root apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends chromium chromium-driver fonts-dejavu-core >/dev/null 2>&1 || true
fi
found && exit 0
echo "make test-browser needs Chromium and its driver: install Debian's packages chromium and chromium-driver, or put 'chromium' and 'chromedriver' on the PATH" >&2
exit 1
