#!/usr/bin/env bash
# In CI: the browser, fonts and type checker that the tests of the page need. The first argument is the virtual environment.
set -euo pipefail
venv=$1
packages=(chromium fonts-wqy-zenhei fonts-ipafont-gothic fonts-noto-color-emoji)
command -v npm >/dev/null || packages+=(npm)
missing=()
for package in "${packages[@]}"; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  export DEBIAN_FRONTEND=noninteractive
  apt=(apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update # a fresh machine has no lists
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
fi
if [ ! -x "$venv/node/node_modules/.bin/tsc" ]; then
  npm install --silent --no-audit --no-fund --no-save --prefix "$venv/node" typescript@7.0.2
fi
