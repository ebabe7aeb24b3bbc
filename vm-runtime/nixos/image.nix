# The guest as the three files that Blackbox boots: vmlinuz, initrd.img, root.erofs. Every time is 1, every id fixed, so
# the same closure gives the same bytes.
{ pkgs, config }:

let
  toplevel = config.system.build.toplevel;
  closure = pkgs.closureInfo { rootPaths = [ toplevel ]; };
in
pkgs.runCommand "blackbox-guest-image" { nativeBuildInputs = [ pkgs.erofs-utils ]; } ''
  mkdir -p $out root/store
  xargs -a ${closure}/store-paths cp -a --reflink=auto -t root/store
  mkfs.erofs -x-1 -T1 -U 00000000-0000-4000-8000-000000000001 --all-root $out/root.erofs root
  cp ${config.system.build.kernel}/${config.system.boot.loader.kernelFile} $out/vmlinuz
  cp ${config.system.build.initialRamdisk}/${config.system.boot.loader.initrdFile} $out/initrd.img
  echo "init=${toplevel}/init ${toString config.boot.kernelParams}" > $out/arguments
''
