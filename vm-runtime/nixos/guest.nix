# A small NixOS guest for Blackbox's own host side.
{ lib, pkgs, ... }:

{
  services.blackbox = {
    enable = true;
    startedBy = "host";
  };

  networking.hostName = "blackbox";
  networking.useDHCP = false;
  networking.interfaces.eth0.ipv4.addresses = [ { address = "10.0.2.15"; prefixLength = 24; } ];
  networking.defaultGateway = "10.0.2.2";
  networking.nameservers = [ "10.0.2.3" ];
  networking.usePredictableInterfaceNames = false;

  # vda is the read-only store, vdb the state disk, empty at first: everything outside the store is made at boot.
  boot.loader.grub.enable = false;
  boot.initrd.availableKernelModules = [ "virtio_pci" "virtio_blk" "virtio_net" "virtio_console" "erofs" "ext4" ];
  fileSystems."/" = { device = "/dev/vdb"; fsType = "ext4"; };
  fileSystems."/nix" = { device = "/dev/vda"; fsType = "erofs"; options = [ "ro" ]; neededForBoot = true; };

  environment.systemPackages = with pkgs; [ bash coreutils curl git gnumake python3 strace ];
  documentation.enable = false;
  system.stateVersion = lib.trivial.release;
}
