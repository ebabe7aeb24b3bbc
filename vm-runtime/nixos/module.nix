# A guest that records itself, as a NixOS module: for stereOS and other NixOS guests.
#
# The contract is that of ../guest: the tracer is attached and has seen its own canary before anything that is ordered
# after blackbox-guest.service starts; events leave through the virtio port blackbox.events as they are.
{ config, lib, pkgs, ... }:

let
  cfg = config.services.blackbox;
  python = pkgs.python3.withPackages (packages: [ packages.bcc ]);
  guestFiles = pkgs.runCommand "blackbox-guest" { } ''
    mkdir -p $out/init $out/tracer
    cp ${cfg.guest}/*.py $out/init/
    cp ${cfg.tracer}/*.py ${cfg.tracer}/*.c $out/tracer/
  '';
in
{
  options.services.blackbox = {
    enable = lib.mkEnableOption "the Blackbox tracer, started before any agent";

    guest = lib.mkOption {
      type = lib.types.path;
      default = ../guest;
      description = "Folder with init.py and what it imports.";
    };

    tracer = lib.mkOption {
      type = lib.types.path;
      default = ../../recorder/tracer;
      description = "Folder with tracer.py and the BPF program.";
    };

    startedBy = lib.mkOption {
      type = lib.types.enum [ "host" "boot" ];
      default = "boot";
      description = ''
        Who starts the agents. "boot": units of this machine, such as stereOS's agentd, once the tracer is ready.
        "host": Blackbox on the host, over the port blackbox.control; only then can the machine be snapshotted between
        `ready` and the agent's first instruction.
      '';
    };

    before = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ "agentd.service" "stereosd.service" ];
      description = "Units that must not start before the tracer is ready, and do not start when it fails.";
    };

    startTimeoutSec = lib.mkOption {
      type = lib.types.ints.positive;
      default = 300;
      description = "Compiling the BPF program takes 10 s with hardware virtualisation and over a minute emulated.";
    };
  };

  config = lib.mkIf cfg.enable {
    # BTF is on in NixOS's kernels; the compiler behind bcc also wants the kernel's headers where it looks for them.
    boot.kernelParams = [ "preempt=voluntary" ];
    boot.kernelModules = [ "virtio_console" "virtio_rng" ];
    system.extraDependencies = [ config.boot.kernelPackages.kernel.dev ];

    systemd.services.blackbox-guest = {
      description = "Blackbox: records what agents do on this machine";
      wantedBy = [ "multi-user.target" ];
      before = cfg.before;
      requiredBy = cfg.before;
      after = [ "systemd-modules-load.service" "systemd-udev-settle.service" ];
      unitConfig.DefaultDependencies = true;
      path = [ pkgs.coreutils pkgs.gnutar ];
      environment = {
        BLACKBOX_STARTED_BY = cfg.startedBy;
        # Where bridge.py finds bcc's small library.
        LD_LIBRARY_PATH = "${pkgs.bcc}/lib";
        BCC_KERNEL_SOURCE = "${config.boot.kernelPackages.kernel.dev}/lib/modules/${config.boot.kernelPackages.kernel.modDirVersion}/build";
      };
      serviceConfig = {
        Type = "notify";
        NotifyAccess = "main";
        ExecStart = "${python}/bin/python3 -I -u ${guestFiles}/init/init.py";
        # Started once: a tracer that ends has a gap after it, and the host must see that, not a fresh start.
        Restart = "no";
        TimeoutStartSec = cfg.startTimeoutSec;
        OOMScoreAdjust = -1000;
        KillMode = "process";
        LimitMEMLOCK = "infinity";
      };
    };

    users.users.agent = lib.mkIf (cfg.startedBy == "host") {
      isNormalUser = true;
      uid = 1000;
    };
  };
}
