// Log-likelihoods of generalised linear models with their derivatives: one pass over the rows each.
//
// The families are the multinomial logit, proportional odds, the Poisson regression and the hurdle.
// The first three are concave in their coefficients, and bounded: by 0 for classes, by that of a
// fit to every row for counts. The hurdle is a logit and a normal regression, whose variance is the
// best one; a Newton step ends at its maximum. The design has one line for every column and one
// entry a row, shape (width, rows), so that all sums run along memory.
//
// Every pass returns the log-likelihood, and writes the gradient by the slopes, shape (slopes,),
// and the lower half of the negative Hessian, `curvature`, shape (slopes, slopes). What there is no
// room for is not written.
#pragma once

#include "limits.hpp"
#include "row_blocks.hpp"
#include "special.hpp"

namespace cc::likelihoods {

// The families: classes, ordered classes, counts, and hurdles: numbers in some rows, one value in
// the others.
enum Family : Int { LOGIT, ORDINAL, POISSON, TWO_PART };

// A hurdle's codes: 0 where there is no number, else NUMBERS_FROM plus the number times UNIT,
// rounded.
constexpr Int NO_NUMBER = 0;
constexpr Int NUMBERS_FROM = Int(1) << 40;
constexpr double UNIT = double(1 << 20);

// The logarithm of a product of so many sums of exponentials is taken at once.
constexpr Int ROWS_OF_A_LOG = 32;

// A larger exponent of a mean is out of the question.
constexpr double LARGEST_EXPONENT = 700.0;

constexpr double PI = 3.14159265358979323846;

// The logit, on a block of rows at a time.
//
// The probabilities of all classes are computed first. The gradient is their distance from what was
// seen, times the design; the Hessian is, for every pair of classes, a weighted sum of products of
// two columns, where products serve all pairs and weights serve all products.

// Write the predictors Σ_a slope[c, a] x_a of all classes but the last one, and the largest one of
// every row, at least 0.
CC_WIDE inline void write_predictors(Floats<2> block, Int width, Int length, Int free,
                                     Floats<1> slopes, OutFloats<2> share, OutFloats<1> highest) {
    double *largest = highest.data;
    for (Int t = 0; t < length; ++t) largest[t] = 0.0;
    for (Int c = 0; c < free; ++c) {
        double *line = share[c].data;
        for (Int t = 0; t < length; ++t) line[t] = 0.0;
        for (Int a = 0; a < width; ++a) {
            const double slope = slopes[c * width + a];
            const double *column = block[a].data;
            for (Int t = 0; t < length; ++t) line[t] += slope * column[t];
        }
        for (Int t = 0; t < length; ++t)
            largest[t] = line[t] > largest[t] ? line[t] : largest[t];
    }
}

// The parts of numbers in a sum of one: line[t] = 1 / line[t], then share[c, t] *= line[t].
CC_WIDE inline void divide_shares(OutFloats<1> line, Int length, Int free, OutFloats<2> share) {
    double *norm = line.data;
    for (Int t = 0; t < length; ++t) norm[t] = 1.0 / norm[t];
    for (Int c = 0; c < free; ++c) {
        double *part = share[c].data;
        for (Int t = 0; t < length; ++t) part[t] *= norm[t];
    }
}

// line[t] -= other[t].
CC_WIDE inline void subtract(OutFloats<1> line, Floats<1> other, Int length) {
    for (Int t = 0; t < length; ++t) line.data[t] -= other.data[t];
}

// line[t] += other[t].
CC_WIDE inline void add(OutFloats<1> line, Floats<1> other, Int length) {
    for (Int t = 0; t < length; ++t) line.data[t] += other.data[t];
}

// Σ_t log(norm[t]), by products of a few of them.
inline double sum_of_logs(Floats<1> norm, Int length) {
    double total = 0.0;
    for (Int start = 0; start < length; start += ROWS_OF_A_LOG) {
        double part[LANES];
        for (int lane = 0; lane < LANES; ++lane) part[lane] = 1.0;
        const Int stop = std::min(start + ROWS_OF_A_LOG, length);
        for (Int t = start; t < stop; ++t) part[(t - start) % LANES] *= norm[t];
        total += std::log(((part[0] * part[1]) * (part[2] * part[3]))
                          * ((part[4] * part[5]) * (part[6] * part[7])));
    }
    return total;
}

// Write the probabilities of all classes, shape (free + 1, AT_ONCE); the log-likelihood of these
// rows.
inline double write_shares(Floats<2> block, Int width, Ints<1> codes, Int free, Floats<1> slopes,
                           OutFloats<2> share) {
    const Int length = codes.size();
    Array<double, 1> highest(AT_ONCE);
    Array<double, 1> norm(AT_ONCE);
    write_predictors(block, width, length, free, slopes, share, highest);
    share[free].slice(0, length).fill(0.0);
    double part[LANES] = {};
    for (Int t = 0; t < length; ++t) part[t % LANES] += share(codes[t], t) - highest[t];
    double total = added(part);
    for (Int c = 0; c <= free; ++c) {
        subtract(share[c], highest, length);
        exponentials(share[c].slice(0, length));
        add(norm, share[c], length);
    }
    total -= sum_of_logs(norm, length);
    divide_shares(norm, length, free, share);
    return total;
}

// Replace probabilities by what was seen minus these.
inline void write_surplus(Ints<1> codes, Int free, OutFloats<2> share) {
    const Int length = codes.size();
    for (Int c = 0; c < free; ++c) {
        double *line = share[c].data;
        for (Int t = 0; t < length; ++t) line[t] = (codes.data[t] == c ? 1.0 : 0.0) - line[t];
    }
}

// The columns of two classes times the variance of the class.
CC_WIDE inline void write_scaled(Floats<2> block, Floats<1> share, Int length,
                                 OutFloats<2> weights) {
    for (Int a = 0; a < block.shape[0]; ++a) {
        const double *column = block[a].data;
        double *line = weights[a].data;
        for (Int t = 0; t < length; ++t)
            line[t] = column[t] * (share.data[t] * (1.0 - share.data[t]));
    }
}

// The covariances of all pairs of classes.
CC_WIDE inline void write_weights(Floats<2> share, Int free, Int length, OutFloats<2> weights) {
    Int k = 0;
    for (Int c = 0; c < free; ++c)
        for (Int e = 0; e <= c; ++e) {
            const double same = c == e ? 1.0 : 0.0;
            const double *one = share[c].data;
            const double *other = share[e].data;
            double *line = weights[k].data;
            for (Int t = 0; t < length; ++t) line[t] = one[t] * (same - other[t]);
            ++k;
        }
}

// The products of all pairs of columns.
CC_WIDE inline void write_products(Floats<2> block, Int width, Int length, OutFloats<2> products) {
    Int k = 0;
    for (Int a = 0; a < width; ++a)
        for (Int b = 0; b <= a; ++b) {
            const double *one = block[a].data;
            const double *other = block[b].data;
            double *line = products[k].data;
            for (Int t = 0; t < length; ++t) line[t] = one[t] * other[t];
            ++k;
        }
}

// Write the sums over all rows to their places.
inline void put_sums(Floats<3> first, Floats<3> second, Int width, Int free,
                     OutFloats<1> gradient, OutFloats<2> curvature) {
    Int pair = 0;
    for (Int c = 0; c < free; ++c) {
        for (Int a = 0; a < width; ++a) gradient[c * width + a] = added_four(first[a][c].data);
        if (curvature.size() == 0) continue;
        for (Int e = 0; e <= c; ++e) {
            Int product = 0;
            for (Int a = 0; a < width; ++a)
                for (Int b = 0; b <= a; ++b) {
                    const Floats<1> parts = free == 1 ? second[a][b] : second[product][pair];
                    const double value = added_four(parts.data);
                    curvature(c * width + a, e * width + b) = value;
                    if (e < c) curvature(c * width + b, e * width + a) = value;
                    ++product;
                }
            ++pair;
        }
    }
}

// The pass of a logit, the last class having slopes 0. `free` are the classes but one, and there
// are `free * width` slopes.
inline double logit_pass(Floats<2> design, Ints<1> codes, Int free, Floats<1> slopes,
                         OutFloats<1> gradient, OutFloats<2> curvature) {
    const Int width = design.shape[0];
    const Int n = design.shape[1];
    const bool sloped = gradient.size() > 0;
    const bool wanted = sloped && curvature.size() > 0;
    const bool two = free == 1;
    const Int lines = padded(width);
    const Int pairs = padded(free * (free + 1) / 2);
    const Int columns = padded(width * (width + 1) / 2);
    Array<double, 2> block(lines, AT_ONCE);
    Array<double, 2> share(padded(free + 1), AT_ONCE);
    Array<double, 3> first(lines, share.shape[0], FOUR);
    Array<double, 2> weights(!wanted ? 0 : two ? lines : pairs, AT_ONCE);
    Array<double, 2> products(!wanted || two ? 0 : columns, AT_ONCE);
    Array<double, 3> second(two ? weights.shape[0] : products.shape[0], weights.shape[0], FOUR);
    double total = 0.0;
    for (Int start = 0; start < n; start += AT_ONCE) {
        const Int length = std::min(AT_ONCE, n - start);
        const Ints<1> seen = codes.slice(start, start + length);
        for (Int a = 0; a < width; ++a) {
            const Floats<1> column = design[a].slice(start, start + length);
            std::copy(column.begin(), column.end(), block[a].begin());
        }
        total += write_shares(block, width, seen, free, slopes, share);
        if (!sloped) continue;
        if (wanted && two) {
            write_scaled(block, share[0], length, weights);
            add_dots(weights, block, length, true, second);
        } else if (wanted) {
            write_weights(share, free, length, weights);
            write_products(block, width, length, products);
            add_dots(products, weights, length, false, second);
        }
        write_surplus(seen, free, share);
        add_dots(block, share, length, false, first);
    }
    if (sloped) put_sums(first, second, width, free, gradient, curvature);
    return total;
}

// Proportional odds.

// What one row says about the two cuts around its level.
struct Cuts {
    double likelihood;
    double up;        // the derivative by the cut above, less the predictor
    double down;      // the derivative by the cut below
    double bend_up;   // minus the second derivatives
    double bend_down;
    double both;      // the mixed one
};

// The row of a level, 0 to `free`, whose predictor is given: P(level) = F(above) - F(below).
inline Cuts cuts_of(Int level, Int free, Floats<1> slopes, double predictor) {
    const double above = level < free ? slopes[level] - predictor : INF;
    const double below = level > 0 ? slopes[level - 1] - predictor : -INF;
    const double left_above = logistic(-above);
    const double left_below = logistic(below);
    const double odds = 0 < level && level < free ? 1.0 / std::expm1(above - below) : 0.0;
    Cuts cuts;
    cuts.likelihood = -softplus(-above) - softplus(below) - std::log1p(odds);
    cuts.up = left_above + odds;
    cuts.down = -left_below - odds;
    cuts.both = odds * (1.0 + odds);
    cuts.bend_up = level < free ? left_above * (1.0 - left_above) + cuts.both : 0.0;
    cuts.bend_down = level > 0 ? left_below * (1.0 - left_below) + cuts.both : 0.0;
    return cuts;
}

// The pass of proportional odds: P(class <= j) = F(cut_j - x b); -inf where the cuts are not in
// order. `slopes` has the cuts first, then b; the first row of `design`, 1, has none.
inline double ordinal_pass(Floats<2> design, Ints<1> codes, Int free, Floats<1> slopes,
                           OutFloats<1> gradient, OutFloats<2> curvature) {
    const Int width = design.shape[0];
    const Int n = design.shape[1];
    const bool sloped = gradient.size() > 0;
    const bool wanted = sloped && curvature.size() > 0;
    const Int base = free - 1; // the slope of line a is at base + a
    if (sloped) gradient.fill(0.0);
    if (wanted)
        for (Int a = 0; a < slopes.size(); ++a)
            for (Int b = 0; b <= a; ++b) curvature(a, b) = 0.0;
    for (Int j = 1; j < free; ++j)
        if (!(slopes[j] > slopes[j - 1])) return -INF;
    Array<double, 1> predictor(n);
    Array<double, 1> slope(n);
    Array<double, 1> bend(n);
    for (Int a = 1; a < width; ++a) {
        const double own = slopes[base + a];
        const Floats<1> column = design[a];
        for (Int row = 0; row < n; ++row) predictor[row] += own * column[row];
    }
    double total = 0.0;
    for (Int row = 0; row < n; ++row) {
        const Int level = codes[row];
        const Cuts cuts = cuts_of(level, free, slopes, predictor[row]);
        total += cuts.likelihood;
        if (!sloped) continue;
        slope[row] = -(cuts.up + cuts.down);
        bend[row] = cuts.bend_up + cuts.bend_down - 2.0 * cuts.both;
        if (level < free) gradient[level] += cuts.up;
        if (level > 0) gradient[level - 1] += cuts.down;
        if (!wanted) continue;
        if (level < free) curvature(level, level) += cuts.bend_up;
        if (level > 0) curvature(level - 1, level - 1) += cuts.bend_down;
        if (0 < level && level < free) curvature(level, level - 1) -= cuts.both;
        for (Int a = 1; a < width; ++a) {
            const double x = design(a, row);
            if (level < free) curvature(base + a, level) -= (cuts.bend_up - cuts.both) * x;
            if (level > 0) curvature(base + a, level - 1) -= (cuts.bend_down - cuts.both) * x;
        }
    }
    for (Int a = 1; a < (sloped ? width : 1); ++a) {
        const Floats<1> one = design[a];
        double first = gradient[base + a];
        for (Int row = 0; row < n; ++row) first += slope[row] * one[row];
        gradient[base + a] = first;
        for (Int b = 1; b < (wanted ? a + 1 : 1); ++b) {
            const Floats<1> other = design[b];
            double value = 0.0;
            for (Int row = 0; row < n; ++row) value += bend[row] * one[row] * other[row];
            curvature(base + a, base + b) = value;
        }
    }
    return total;
}

// Counts.

// The pass of a Poisson regression with log link, without the term log(count!); -inf where a mean
// is beyond all bounds.
inline double poisson_pass(Floats<2> design, Ints<1> counts, Floats<1> slopes,
                           OutFloats<1> gradient, OutFloats<2> curvature) {
    const Int width = design.shape[0];
    const Int n = design.shape[1];
    const bool sloped = gradient.size() > 0;
    const bool wanted = sloped && curvature.size() > 0;
    Array<double, 1> mean(n);
    for (Int a = 0; a < width; ++a) {
        const double own = slopes[a];
        const Floats<1> column = design[a];
        for (Int row = 0; row < n; ++row) mean[row] += own * column[row];
    }
    double total = 0.0;
    for (Int row = 0; row < n; ++row) {
        if (mean[row] > LARGEST_EXPONENT) return -INF;
        total += double(counts[row]) * mean[row];
        mean[row] = std::exp(mean[row]);
        total -= mean[row];
    }
    for (Int a = 0; a < (sloped ? width : 0); ++a) {
        const Floats<1> one = design[a];
        double first = 0.0;
        for (Int row = 0; row < n; ++row) first += (double(counts[row]) - mean[row]) * one[row];
        gradient[a] = first;
        for (Int b = 0; b < (wanted ? a + 1 : 0); ++b) {
            const Floats<1> other = design[b];
            double second = 0.0;
            for (Int row = 0; row < n; ++row) second += mean[row] * one[row] * other[row];
            curvature(a, b) = second;
        }
    }
    return total;
}

// Hurdles.

// The pass of a hurdle: a logit of whether there is no number, and a normal regression of those
// that there are.
//
// `slopes` are those of the logit, then those of the numbers. With too few numbers for a variance
// of their own it is at least 1, that of all values in standard units.
inline double hurdle_pass(Floats<2> design, Ints<1> codes, Floats<1> slopes,
                          OutFloats<1> gradient, OutFloats<2> curvature) {
    const Int width = design.shape[0];
    const Int n = design.shape[1];
    const bool sloped = gradient.size() > 0;
    const bool wanted = sloped && curvature.size() > 0;
    Array<double, 1> odds(n);
    Array<double, 1> mean(n); // then the residuals of the numbers, 0 where there is none
    for (Int a = 0; a < width; ++a) {
        const Floats<1> column = design[a];
        for (Int row = 0; row < n; ++row) {
            odds[row] += slopes[a] * column[row];
            mean[row] += slopes[width + a] * column[row];
        }
    }
    double total = 0.0;
    double square = 0.0;
    Int count = 0;
    for (Int row = 0; row < n; ++row) {
        if (codes[row] == NO_NUMBER) {
            total -= softplus(-odds[row]);
            mean[row] = 0.0;
        } else {
            total -= softplus(odds[row]);
            mean[row] = double(codes[row] - NUMBERS_FROM) / UNIT - mean[row];
            square += mean[row] * mean[row];
            ++count;
        }
    }
    const double least = count >= width + SPARE_ROWS ? SMALLEST_VARIANCE : 1.0;
    const double variance = std::max(square / double(std::max(count, Int(1))), least);
    total -= 0.5 * (double(count) * std::log(2.0 * PI * variance) + square / variance);
    if (!sloped) return total;
    for (Int row = 0; row < n; ++row) odds[row] = logistic(odds[row]);
    for (Int a = 0; a < width; ++a) {
        const Floats<1> one = design[a];
        double first = 0.0;
        double second = 0.0;
        for (Int row = 0; row < n; ++row) {
            first += ((codes[row] == NO_NUMBER ? 1.0 : 0.0) - odds[row]) * one[row];
            second += mean[row] * one[row];
        }
        gradient[a] = first;
        gradient[width + a] = second / variance;
        if (!wanted) continue;
        for (Int b = 0; b < width; ++b) curvature(width + a, b) = 0.0;
        for (Int b = 0; b <= a; ++b) {
            const Floats<1> other = design[b];
            double of_odds = 0.0;
            double of_numbers = 0.0;
            for (Int row = 0; row < n; ++row) {
                const double product = one[row] * other[row];
                of_odds += odds[row] * (1.0 - odds[row]) * product;
                of_numbers += codes[row] != NO_NUMBER ? product : 0.0;
            }
            curvature(a, b) = of_odds;
            curvature(width + a, width + b) = of_numbers / variance;
        }
    }
    return total;
}

// The pass of a family. `response` are classes 0, 1, ..., `free`, counts, or the codes of a hurdle;
// `free` is the number of classes but one.
inline double one_pass(Family family, Floats<2> design, Ints<1> response, Int free,
                       Floats<1> slopes, OutFloats<1> gradient, OutFloats<2> curvature) {
    switch (family) {
    case ORDINAL:
        return ordinal_pass(design, response, free, slopes, gradient, curvature);
    case POISSON:
        return poisson_pass(design, response, slopes, gradient, curvature);
    case TWO_PART:
        return hurdle_pass(design, response, slopes, gradient, curvature);
    case LOGIT:
        return logit_pass(design, response, free, slopes, gradient, curvature);
    }
    return NaN;
}

} // namespace cc::likelihoods
