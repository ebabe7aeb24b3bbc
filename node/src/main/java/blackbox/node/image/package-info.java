/// The guest images of a data folder, with this build's tracer in them: built, looked up, proved, and prepared for the
/// first recording.
///
/// How an image is made is `vm.image`'s; what belongs in it is the recorder's. This package puts the two together, and
/// names the hypervisor that makes the snapshot.
@NullMarked
package blackbox.node.image;

import org.jspecify.annotations.NullMarked;
