/// The guest images of a data folder, with this build's tracer in them: built, looked up, verified, and prepared
/// for the first recording.
///
/// `vm.image` knows how an image is made, the recorder what belongs in it. This package brings the two together,
/// and chooses the hypervisor that makes the snapshot.
@NullMarked
package blackbox.node.image;

import org.jspecify.annotations.NullMarked;
