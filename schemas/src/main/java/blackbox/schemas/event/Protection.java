package blackbox.schemas.event;

/// What a mapping lets a process do with its memory, as in mmap(2).
///
/// @param bits a sum of PROT_READ (1), PROT_WRITE (2) and PROT_EXEC (4), and of whatever else the guest asked for
public record Protection(long bits) {}
