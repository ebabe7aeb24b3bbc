package blackbox.node.travel;

/// What one part of an exported run takes.
///
/// @param part `evidence`, the name of a captured file, `image`, `qemu` or `snapshot`
/// @param files how many
/// @param bytes octets that it holds
/// @param storedBytes octets that it takes in the file; 0 where that is not known
public record PartSize(String part, int files, long bytes, long storedBytes) {

    PartSize plus(PartSize other) {
        return new PartSize(part, files + other.files, bytes + other.bytes, storedBytes + other.storedBytes);
    }
}
