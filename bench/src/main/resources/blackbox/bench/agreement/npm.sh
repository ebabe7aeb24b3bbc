# As many packages as package-lock.json has, with npm's own log and cache.
npm ci --registry @PEER@ --cache /workspace/cache --no-audit --no-fund
code=$?
node -e 'console.log(require("package-59").value, require("package-00").value)'
exit $code
