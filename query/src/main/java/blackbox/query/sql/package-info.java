/// SQL over every recording, for people and programs with questions of their own. The only package that imports
/// DuckDB.
///
/// The engine gets the sealed files by name and no access to anything else: no other file, no network, no
/// extension and no setting can be reached from a query. One `SELECT` at a time, bounded in memory and time.
@NullMarked
package blackbox.query.sql;

import org.jspecify.annotations.NullMarked;
