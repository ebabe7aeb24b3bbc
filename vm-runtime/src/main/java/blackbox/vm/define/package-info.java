/// Definitions of images that are based on another one: read from a user's file, or shipped, as those of
/// agents are.
///
/// What such a definition adds (npm packages, files, environment) is put into the archive here; `vm.image`
/// builds from the archive alone. Executes nothing that is added.
@NullMarked
package blackbox.vm.define;

import org.jspecify.annotations.NullMarked;
