/// Builds the deterministic guest image and keeps it: definition → lock → archived packages → kernel, initrd and root.
///
/// The same lock gives the same bytes, in any folder and years later: the only inputs are archived packages,
/// the definition, our guest files and the versions of two tools. Every build is the offline build; only
/// fetching needs a network. Never starts a virtual machine.
@NullMarked
package blackbox.vm.image;

import org.jspecify.annotations.NullMarked;
