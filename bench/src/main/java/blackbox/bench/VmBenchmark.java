package blackbox.bench;

/// One that starts virtual machines. Where the guest is emulated each takes minutes even at the smallest scale.
interface VmBenchmark extends Benchmark {}
