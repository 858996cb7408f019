// The linear algebra of regressions: Cholesky factors of small matrices, and sweeps of cross
// products.
//
// One rule for columns that say the same: what is left of such a column is nothing, and its
// coefficient stays 0.
#pragma once

#include "limits.hpp"
#include "sums.hpp"

namespace cc {

// A pivot below this share of its diagonal counts as 0.
constexpr double NO_PIVOT = 1e-12;

// The Cholesky factor in place of the lower triangle of a matrix, shape (n, n); a column without a
// pivot gets an infinite one.
inline void factorise(OutFloats<2> matrix) {
    for (Int i = 0; i < matrix.shape[0]; ++i) {
        const double diagonal = matrix(i, i);
        for (Int j = 0; j <= i; ++j) {
            const double value = matrix(i, j) - dot(matrix[i].data, matrix[j].data, j);
            if (j < i) matrix(i, j) = value / matrix(j, j);
            else matrix(i, i) = value > NO_PIVOT * diagonal ? std::sqrt(value) : INF;
        }
    }
}

// Solve with the factor alone, in place; the sum of squares of the solution: the quadratic form of
// the vector with the inverse of the matrix.
inline double solve_half(Floats<2> factor, OutFloats<1> vector) {
    double total = 0.0;
    for (Int i = 0; i < vector.size(); ++i) {
        double value = vector[i];
        for (Int a = 0; a < i; ++a) value -= factor(i, a) * vector[a];
        vector[i] = value / factor(i, i);
        total += vector[i] * vector[i];
    }
    return total;
}

// The solution with the factored matrix from what `solve_half` left, in place.
inline void solve_rest(Floats<2> factor, OutFloats<1> vector) {
    for (Int i = vector.size() - 1; i >= 0; --i) {
        double value = vector[i];
        for (Int a = i + 1; a < vector.size(); ++a) value -= factor(a, i) * vector[a];
        vector[i] = value / factor(i, i);
    }
}

// The inverse of a positive definite matrix, of which the lower triangle is given and lost.
inline void invert(OutFloats<2> matrix, OutFloats<2> inverse) {
    const Int size = matrix.shape[0];
    Array<double, 2> half(size, size);
    factorise(matrix);
    for (Int j = 0; j < size; ++j) {
        half(j, j) = 1.0;
        for (Int a = 0; a < j; ++a) {
            const double slope = matrix(j, a);
            for (Int i = 0; i <= a; ++i) half(j, i) -= slope * half(a, i);
        }
        for (Int i = 0; i <= j; ++i) half(j, i) /= matrix(j, j);
    }
    for (Int i = 0; i < size; ++i)
        for (Int j = 0; j < size; ++j) inverse(i, j) = 0.0;
    for (Int a = 0; a < size; ++a)
        for (Int i = 0; i <= a; ++i) {
            const double slope = half(a, i);
            for (Int j = 0; j <= i; ++j) inverse(i, j) += slope * half(a, j);
        }
    for (Int i = 0; i < size; ++i)
        for (Int j = 0; j < i; ++j) inverse(j, i) = inverse(i, j);
}

// Regress everything on the first `size` variables of a table of cross products, in place; their
// rank.
//
// Afterwards row j below `size` holds the slopes of all variables on variable j, and the rest of
// the table what is left of the cross products. `rows` is the number of rows behind the table,
// whose columns have about unit variance; missing cells make it a fraction.
inline Int sweep(OutFloats<2> table, Int size, double rows) {
    Int rank = 0;
    const Int width = table.shape[0];
    Array<bool, 1> used(size);
    Array<double, 1> squares(size); // of the variables themselves, before the sweep
    for (Int j = 0; j < size; ++j) squares[j] = table(j, j);
    for (Int j = 0; j < size; ++j) {
        const double pivot = table(j, j);
        if (pivot <= COLLINEAR_BELOW * squares[j] || squares[j] <= CONSTANT_BELOW * rows)
            continue;
        used[j] = true;
        ++rank;
        for (Int a = 0; a < width; ++a) table(j, a) /= pivot;
        for (Int i = 0; i < width; ++i) {
            if (i == j || table(i, j) == 0.0) continue;
            const double factor = table(i, j);
            for (Int a = 0; a < width; ++a) table(i, a) -= factor * table(j, a);
        }
    }
    for (Int j = 0; j < size; ++j)
        if (!used[j]) table[j].fill(0.0);
    return rank;
}

// Regress every column of a table of cross products on column j, in place, whose own entries
// become 0; 0 if no more than `nothing` was left of it before, else 1.
inline Int project(OutFloats<2> table, Int j, double nothing) {
    const Int width = table.shape[0];
    const double pivot = table(j, j);
    const bool something = pivot > nothing;
    if (something) {
        Array<double, 1> row(width);
        for (Int b = 0; b < width; ++b) row[b] = table(j, b) / pivot;
        for (Int a = 0; a < width; ++a) {
            const double load = table(a, j);
            if (load == 0.0 || a == j) continue;
            for (Int b = 0; b < width; ++b) table(a, b) -= load * row[b];
        }
    }
    for (Int b = 0; b < width; ++b) {
        table(j, b) = 0.0;
        table(b, j) = 0.0;
    }
    return something ? 1 : 0;
}

// Cross products of all lines of a design, shape (width, n), weighted: the lower triangle of
// `goal`, shape (width, width).
inline void weighted_products(Floats<2> design, Floats<1> weight, OutFloats<2> goal) {
    const Int width = design.shape[0];
    const Int n = design.shape[1];
    Array<double, 1> scaled(n);
    for (Int a = 0; a < width; ++a) {
        const double *line = design[a].data;
        for (Int t = 0; t < n; ++t) scaled[t] = weight[t] * line[t];
        for (Int b = 0; b <= a; ++b) goal(a, b) = dot(scaled.data, design[b].data, n);
    }
}

} // namespace cc
