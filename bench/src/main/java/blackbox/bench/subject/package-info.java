/// What benchmarks measure and what they measure it beside: invented events, a sealed run, a data folder with an image,
/// and the programs that are started as a person would start them.
///
/// It uses the product as it is, measures nothing by itself, and knows no benchmark and no result.
@NullMarked
package blackbox.bench.subject;

import org.jspecify.annotations.NullMarked;
