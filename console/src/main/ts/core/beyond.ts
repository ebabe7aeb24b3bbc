/** Something that this page cannot judge, and `blackbox verify` or a newer version can. */
export class Beyond extends Error {}
