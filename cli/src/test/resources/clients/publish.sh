# Makes what the hosts of ClientsGatewayTest serve, a folder for each: a repository of git, and a package `greeting` as
# npm, pip, apt and tldr take it.
set -eu
umask 022
mkdir -p git.example npm.example/greeting/- pip.example/simple/greeting apt.example tldr.sh/assets work
root=$PWD
sum() { sha256sum "$1" | cut -d ' ' -f 1; }

cd "$root/work"
git init -q -b main repository
cd repository
echo 'hello from git' >hello.txt
git add hello.txt
commit() { git -c user.name=a -c user.email=a@b.example commit -q "$@"; }
commit -m first
git clone -q --bare . "$root/git.example/greeting.git"
git checkout -q -b later
echo 'later from git' >hello.txt
commit -a -m second
git push -q "$root/git.example/greeting.git" later

cd "$root/work"
mkdir package
echo '{"name":"greeting","version":"1.0.0"}' >package/package.json
echo "module.exports = 'hello from npm'" >package/index.js
archive=$root/npm.example/greeting/-/greeting-1.0.0.tgz
tar -czf "$archive" package
cat >"$root/npm.example/greeting/index" <<JSON
{"name": "greeting", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "greeting", "version": "1.0.0",
 "dist": {"tarball": "https://npm.example/greeting/-/greeting-1.0.0.tgz",
 "integrity": "sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)"}}}}
JSON

mkdir -p wheel/greeting-1.0.0.dist-info
cd wheel
echo "TEXT = 'hello from pip'" >greeting.py
printf 'Metadata-Version: 2.1\nName: greeting\nVersion: 1.0.0\n' >greeting-1.0.0.dist-info/METADATA
printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >greeting-1.0.0.dist-info/WHEEL
printf '%s,,\n' greeting.py greeting-1.0.0.dist-info/METADATA greeting-1.0.0.dist-info/WHEEL \
    greeting-1.0.0.dist-info/RECORD >greeting-1.0.0.dist-info/RECORD
wheel=greeting-1.0.0-py3-none-any.whl
python3 -m zipfile -c "$root/pip.example/simple/greeting/$wheel" greeting.py greeting-1.0.0.dist-info
echo "<!DOCTYPE html><a href=\"$wheel#sha256=$(sum "$root/pip.example/simple/greeting/$wheel")\">$wheel</a>" \
    >"$root/pip.example/simple/greeting/index"

cd "$root/work"
mkdir -p deb/DEBIAN deb/usr/bin
printf 'Package: greeting\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@b.example>\nDescription: greets\n' \
    >deb/DEBIAN/control
printf '#!/bin/sh\necho hello from apt\n' >deb/usr/bin/greeting
chmod 755 deb/usr/bin/greeting
cd "$root/apt.example"
dpkg-deb --build --root-owner-group "$root/work/deb" greeting.deb >"$root/work/said"
{
    cat "$root/work/deb/DEBIAN/control"
    printf 'Filename: ./greeting.deb\nSize: %s\nSHA256: %s\n' "$(stat -c %s greeting.deb)" "$(sum greeting.deb)"
} >Packages
printf 'Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n %s %s Packages\n' "$(sum Packages)" "$(stat -c %s Packages)" >Release

mkdir -p "$root/work/pages/common"
cd "$root/work"
printf '# greeting\n\n> Greets.\n\n- Greet:\n\n`hello from tldr`\n' >pages/common/greeting.md
python3 -m zipfile -c "$root/tldr.sh/assets/tldr.zip" pages
