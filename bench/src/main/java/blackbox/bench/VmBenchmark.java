package blackbox.bench;

/// A benchmark that starts VMs. Where the guest is emulated, each takes minutes even at the smallest scale.
interface VmBenchmark extends Benchmark {}
