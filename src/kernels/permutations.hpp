// Statistics of permuted rows: cells of contingency tables.
#pragma once

#include "array.hpp"

namespace cc {

// The sum of count log(count) over the cells of every stratum.
//
// x and y are codes, rows of a stratum together, from `bounds[s]` up to `bounds[s + 1]`; `table`,
// shape (levels of x, levels of y), holds zeros, and zeros afterwards; `logs` has c log(c) at c.
inline double cell_sum(Ints<1> x, Ints<1> y, Ints<1> bounds, OutInts<2> table, Floats<1> logs) {
    double total = 0.0;
    for (Int stratum = 0; stratum < bounds.size() - 1; ++stratum) {
        for (Int row = bounds[stratum]; row < bounds[stratum + 1]; ++row) table(x[row], y[row]) += 1;
        for (Int row = bounds[stratum]; row < bounds[stratum + 1]; ++row) {
            total += logs[table(x[row], y[row])];
            table(x[row], y[row]) = 0;
        }
    }
    return total;
}

// How many permutations of x inside strata reach `observed`, and how many were made before `most`
// did.
//
// `uniforms`, shape (permutations, rows), holds the random numbers; x is left permuted.
inline std::tuple<Int, Int> permuted_exceedances(OutInts<1> x, Ints<1> y, Ints<1> bounds,
                                                 OutInts<2> table, Floats<1> logs, double observed,
                                                 Floats<2> uniforms, Int most) {
    Int reached = 0;
    for (Int draw = 0; draw < uniforms.shape[0]; ++draw) {
        for (Int stratum = 0; stratum < bounds.size() - 1; ++stratum) {
            const Int begin = bounds[stratum];
            for (Int row = bounds[stratum + 1] - 1; row > begin; --row) {
                const Int other
                    = begin + Int(std::floor(uniforms(draw, row) * double(row - begin + 1)));
                std::swap(x[row], x[other]);
            }
        }
        if (cell_sum(x, y, bounds, table, logs) >= observed) {
            ++reached;
            if (reached == most) return {reached, draw + 1};
        }
    }
    return {reached, uniforms.shape[0]};
}

} // namespace cc
