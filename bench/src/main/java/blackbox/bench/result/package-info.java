/// What a benchmark has measured: figures with their goals and peers, the machine, and the file that keeps them.
///
/// It uses `bench.subject` to say which accelerator the VMs had, and knows no single benchmark. It judges a figure
/// by its goal alone.
@NullMarked
package blackbox.bench.result;

import org.jspecify.annotations.NullMarked;
