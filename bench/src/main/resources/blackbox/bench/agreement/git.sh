# Commits, branches, a merge, and packing.
set -e
git init -q repository
cd repository
git config user.email agent@localhost
git config user.name Agent
for i in 1 2 3 4 5 6 7 8; do
    echo "line $i" >> "file$((i % 3)).txt"
    git add .
    git commit -q -m "change $i"
done
main=$(git symbolic-ref --short HEAD)
git checkout -q -b side
for i in 1 2; do
    echo "side $i" > "side$i.txt"
    git add .
    git commit -q -m "side $i"
done
git checkout -q "$main"
for i in 1 2; do
    echo "main $i" >> main.txt
    git add .
    git commit -q -m "main $i"
done
git merge -q --no-edit side
git gc -q
git fsck
git log --oneline | wc -l
