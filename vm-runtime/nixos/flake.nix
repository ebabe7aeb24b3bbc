{
  description = "Blackbox guests on NixOS: the module, and a guest image of the same three files as the Debian one";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.05";

  outputs = { self, nixpkgs }:
    let
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      guest = nixpkgs.lib.nixosSystem {
        inherit system;
        modules = [ self.nixosModules.default ./guest.nix ];
      };
    in
    {
      nixosModules.default = import ./module.nix;
      nixosConfigurations.guest = guest;
      packages.${system}.image = import ./image.nix { inherit pkgs; config = guest.config; };
    };
}
