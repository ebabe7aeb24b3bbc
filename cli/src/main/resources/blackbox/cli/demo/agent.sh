#!/bin/bash
# The demo's agent: takes a repository, changes it, builds it, installs it, and reports to a service.
set -eu
service=$1

say() { echo "agent: $*"; }

say "clone the repository"
git -c init.defaultBranch=main init -q upstream
cp Makefile greet.py upstream/
git -C upstream add .
git -C upstream -c user.name=agent -c user.email=agent@example.invalid commit -q -m "greet"
git clone -q upstream project
cd project

say "edit"
sed -i 's/Hello/Hello from inside the VM/' greet.py
mv greet.py greeting.py
echo "a note to throw away" >scratch.txt
rm scratch.txt

say "build and install"
make -s MODULE=greeting.py all install PREFIX="$PWD/../prefix"

say "look around where there is nothing to find"
cat /etc/shadow 2>/dev/null || say "no, /etc/shadow is not for me"

say "report"
curl -sS --max-time 60 --data-binary @build/report.txt "$service/report"
say "done"
