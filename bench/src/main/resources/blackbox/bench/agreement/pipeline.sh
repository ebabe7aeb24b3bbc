# 10,000 files through pipes, four greps side by side, an archive.
set -e
mkdir tree
i=0
while [ $i -lt 100 ]; do
    mkdir "tree/d$i"
    i=$((i + 1))
done
seq 10000 | awk '{ file = "tree/d" ($1 % 100) "/f" $1 ".txt"; print "line " $1 * 7 > file; close(file) }'
find tree -type f | sort | xargs -n 500 sha256sum | awk '{ print $1 }' | sort | uniq -c | awk '{ sum += $1 } END { print sum }'
find tree -type f -print0 | xargs -0 -P 4 -n 250 grep -l 'line 7' | sort | wc -l
tar cf - tree | gzip -1 > tree.tar.gz
find tree -name 'f1*.txt' | sort | head -5
rm -r tree tree.tar.gz
