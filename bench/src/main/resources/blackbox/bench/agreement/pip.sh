# Twelve packages from an index, with their compiled modules.
set -e
pip install --break-system-packages -q --no-cache-dir --index-url @PEER@/simple --trusted-host 10.0.2.2 --target lib package-11
PYTHONPATH=lib python3 -c 'import package_11, package_00; print(package_11.module_0.VALUE, package_00.module_0.VALUE)'
