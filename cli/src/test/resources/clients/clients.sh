# Runs every client of the folder CLIENTS, one after the other, each in a folder and with a home of its own. What it said is
# left in RESULTS as NAME.out, its exit code as NAME.code; beside them, whom Java trusts.
# usage: clients.sh CLIENTS RESULTS
mkdir "$2"
for client in "$1"/*.sh; do
    name=$(basename "$client" .sh)
    mkdir "/tmp/$name"
    cd "/tmp/$name" || exit 1
    HOME=/tmp/$name sh -eu "$client" >"$2/$name.out" 2>&1
    echo $? >"$2/$name.code"
done
cp /etc/ssl/certs/java/cacerts "$2/cacerts"
