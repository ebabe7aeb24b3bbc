/// What benchmarks measure and compare with: invented events, a sealed run, a data folder with an image, and
/// programs started as a person would start them.
///
/// It uses the product as it is, measures nothing by itself, and knows no benchmark and no result.
@NullMarked
package blackbox.bench.subject;

import org.jspecify.annotations.NullMarked;
