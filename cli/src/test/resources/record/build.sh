#!/bin/sh
# A small build as agents do them. $1 is the port of a service on the host's loopback.
set -eu
export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b

git init -q -b main origin
cp Makefile words.txt origin/
git -C origin add .
git -C origin commit -q -m 'a start'

git clone -q origin build
cd build
sed -i 's/hello/howdy/' words.txt
make -s
git commit -q -a -m 'an edit'
curl -sS --fail --data-binary @out/sorted.txt -o answer.txt "http://10.0.2.2:$1/publish"
mkdir -p old
mv out/upper.txt old/upper.txt
rm out/numbered.txt
ln -s old/upper.txt link.txt
