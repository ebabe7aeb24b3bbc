/// What a benchmark has measured: figures with their goals and peers, the machine, and the file that keeps them.
///
/// Knows what `bench.subject` measures on, to say which accelerator its VMs had; knows no single benchmark. It
/// judges no figure but by its goal.
@NullMarked
package blackbox.bench.result;

import org.jspecify.annotations.NullMarked;
