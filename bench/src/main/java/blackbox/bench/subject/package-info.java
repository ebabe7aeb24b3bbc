/// What benchmarks measure and compare with: invented events, a sealed run, a data folder with an image,
/// programs started as a person would start them, and ways to a server with the load that takes them.
///
/// It uses the product as it is, and knows no benchmark and no result.
@NullMarked
package blackbox.bench.subject;

import org.jspecify.annotations.NullMarked;
