#!/bin/sh
# Prints the path of a Chromium for the browser tests; installs one where none is found. All else goes to stderr.
set -eu

cd "$(dirname "$0")/.."

find_browser() {
    for candidate in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if [ -n "$candidate" ] && path=$(command -v "$candidate") && "$path" --version >/dev/null 2>&1; then
            echo "$path"
            return 0
        fi
    done
    path=$(.venv/bin/python -c "$playwright_path" 2>/dev/null || true)
    if [ -n "$path" ] && [ -x "$path" ]; then
        echo "$path"
        return 0
    fi
    return 1
}

playwright_path='
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
'

find_browser && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Chromium with apt-get" >&2
    if apt-get update >&2 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium >&2; then
        find_browser && exit 0
    fi
    echo "apt-get did not bring a Chromium that starts; trying Playwright's own" >&2
fi

.venv/bin/python -m playwright install chromium >&2 || true
find_browser && exit 0
echo "No Chromium. Install one and name it: CHROMIUM=/path/to/chromium make test" >&2
exit 1
