// Which columns a node takes from its candidates: grow and shrink on covariances, with a memory.
//
// Every variable offers columns: itself, and perhaps curves of itself. Growing is a pivoted
// Cholesky factorisation: the column that raises the penalised likelihood most comes next, as long
// as the score rises, and with patience a little longer: two causes may hide each other. Then
// columns that do not pay are dropped. The response is one column for a number, and several (the
// indicators of all levels but one) for a category; the likelihood is the Gaussian one, Wilks'
// lambda. Columns of variables that are no candidates go along, so that every fit knows whose
// candidacy matters: who was taken anywhere along the path, or would have been. In a search over
// orders that spares most regressions.
//
// Gains are compared without logarithms: a column that leaves the share 1 - q of the response's
// (generalised) variance pays if (1 - q) exp(2 price / rows) < 1.
#pragma once

#include "fit_arrays.hpp"

namespace cc::orders {

constexpr double NO_VARIANCE = 1e-12;
// The least variance of a column beside those before it.
constexpr double SMALLEST_PIVOT = 1e-12;
// How many columns in a row may be taken that do not pay by themselves, in the hope of one that
// pays then.
constexpr int PATIENCE = 1;

// Matrices of `Scratch::small`: the response's residual covariance, its inverse, the factor of the
// chosen columns' covariance, its inverse, slopes; while a path grows, what a new column has in
// common with the response and with earlier columns is in the place of the second two.
enum { RESIDUAL, RESIDUAL_INVERSE, COLUMNS_FACTOR, FACTOR_INVERSE, SLOPES };

// The price of a column, of a parameter for every column of the response.
inline double price_of(const Regression &table, Int column) {
    return table.cost[column] * double(table.width) + table.extra[column];
}

// The price of a column as a factor on the variance that is left.
inline double price_factor(const Regression &table, Int column) {
    if (table.width == 1) return table.weight[column];
    return std::exp(2.0 * price_of(table, column) / table.rows);
}

// Whether a column always stays, beyond price.
inline bool is_required(const Regression &table, Int column) {
    return table.required[table.about(OWNER, column)] && table.about(BASIC, column) == 1;
}

// The inverse of the covariance of `size` columns; directions without variance are left out.
inline void invert_covariance(Floats<2> matrix, OutFloats<2> inverse, Int size) {
    if (size == 1) {
        inverse(0, 0) = matrix(0, 0) > NO_VARIANCE ? 1.0 / matrix(0, 0) : 0.0;
        return;
    }
    for (Int i = 0; i < size; ++i)
        for (Int j = 0; j < size; ++j) inverse(i, j) = -matrix(i, j);
    for (Int k = 0; k < size; ++k) {
        const double pivot = -inverse(k, k);
        if (pivot <= NO_VARIANCE + 1e-10 * matrix(k, k)) {
            for (Int i = 0; i < size; ++i) {
                inverse(i, k) = 0.0;
                inverse(k, i) = 0.0;
            }
            continue;
        }
        for (Int i = 0; i < size; ++i)
            for (Int j = 0; j < size; ++j)
                if (i != k && j != k) inverse(i, j) += inverse(i, k) * inverse(k, j) / pivot;
        for (Int i = 0; i < size; ++i)
            if (i != k) {
                inverse(i, k) /= pivot;
                inverse(k, i) /= pivot;
            }
        inverse(k, k) = 1.0 / pivot;
    }
}

// Write the Cholesky factor of the covariance of chosen columns.
inline void write_factor(const Regression &table, Ints<1> chosen, Int count,
                         OutFloats<2> factor) {
    for (Int j = 0; j < count; ++j) {
        const Floats<1> row = row_of(table, chosen[j] >> table.bits);
        const Int own_values = shared_values(table, chosen[j]);
        for (Int i = 0; i <= j; ++i) {
            double value = row[chosen[i] & own_values];
            for (Int a = 0; a < i; ++a) value -= factor(j, a) * factor(i, a);
            if (i < j) factor(j, i) = value / factor(i, i);
            else factor(j, j) = std::sqrt(std::max(value, SMALLEST_PIVOT));
        }
    }
}

// Write the inverse of a lower triangle.
inline void invert_triangle(Floats<2> factor, Int count, OutFloats<2> inverse) {
    for (Int i = 0; i < count; ++i) {
        inverse(i, i) = 1.0 / factor(i, i);
        for (Int j = i + 1; j < count; ++j) {
            double value = 0.0;
            for (Int a = i; a < j; ++a) value -= factor(j, a) * inverse(a, i);
            inverse(j, i) = value / factor(j, j);
        }
    }
}

// Regress the response on chosen columns: slopes, residual covariance, the factor and its inverse
// are in `Scratch::small`.
inline void solve(const Regression &table, Ints<1> chosen, Int count, const Scratch &work) {
    const OutFloats<2> left = work.small[RESIDUAL];
    const OutFloats<2> inverse = work.small[FACTOR_INVERSE];
    const OutFloats<2> slopes = work.small[SLOPES];
    const Int d = table.width;
    write_factor(table, chosen, count, work.small[COLUMNS_FACTOR]);
    invert_triangle(work.small[COLUMNS_FACTOR], count, inverse);
    response_covariance(table, left);
    for (Int a = 0; a < d; ++a) {
        const Floats<1> row = row_of(table, table.response + a);
        for (Int i = 0; i < count; ++i) {
            double value = 0.0;
            for (Int j = 0; j <= i; ++j) value += inverse(i, j) * row[chosen[j]];
            slopes(i, a) = value;
        }
    }
    for (Int i = 0; i < count; ++i)
        for (Int a = 0; a < d; ++a)
            for (Int b = 0; b < d; ++b) left(a, b) -= slopes(i, a) * slopes(i, b);
    for (Int i = 0; i < count; ++i)
        for (Int a = 0; a < d; ++a) {
            double value = 0.0;
            for (Int j = i; j < count; ++j) value += inverse(j, i) * slopes(j, a);
            slopes(i, a) = value;
        }
}

// The variable that the product of two variables lacks among the candidates: the number of
// variables if none, -1 if two.
inline Int missing_factor(Bools<1> candidates, Int one, Int other, Int node) {
    if (node == one || node == other) return NOBODY;
    if (candidates[one] && candidates[other]) return candidates.size();
    if (one != other && !candidates[one] && !candidates[other]) return NOBODY;
    return candidates[one] ? other : one;
}

// The columns in the list: the first `inside` are on offer, those up to `count` would be with one
// more candidate.
struct Listed {
    Int inside;
    Int count;
};

// List columns on offer, with covariances and prices; if asked, then those of one more candidate.
inline Listed list_columns(const Regression &table, bool plain, bool asked, const Scratch &work) {
    const Int p = work.candidates.size();
    const Ints<2> about = table.about;
    const OutFloats<2> line = work.line;
    Int inside = 0;
    Int m = 0;
    for (bool newcomers : {false, true}) {
        if (newcomers && !asked) break;
        inside = m;
        for (Int part = 0; part < (plain ? p : p + 1); ++part) {
            const bool products = part == p;
            if (!products && (part == table.node || work.candidates[part] == newcomers)) continue;
            if (!products && !table.near[part]) continue;
            for (Int column = table.first[part]; column < table.first[part + 1]; ++column) {
                if (plain && about(CURVED, column) == 1) break;
                Int newcomer = part;
                if (products) {
                    newcomer = missing_factor(work.candidates, about(OWNER, column),
                                              about(PARTNER, column), table.node);
                    if (newcomer < 0 || (newcomer < p) != newcomers) continue;
                }
                const double variance = table.variance[column];
                if (variance < SMALL_COLUMN_BELOW) continue;
                const bool stays = !newcomers && is_required(table, column);
                work.listed(0, m) = column;
                work.listed(1, m) = newcomer;
                line(LEFT, m) = variance;
                line(LEAST, m) = SAME_COLUMN_BELOW * variance;
                line(FACTOR, m) = stays ? 0.0 : price_factor(table, column);
                ++m;
            }
        }
    }
    for (Int a = 0; a < table.width; ++a) {
        const Floats<1> row = row_of(table, table.response + a);
        const OutFloats<1> shared = work.shared[a];
        for (Int place = 0; place < m; ++place) shared[place] = row[work.listed(0, place)];
    }
    response_covariance(table, work.small[RESIDUAL]);
    return {asked ? inside : m, m};
}

// The place of a column in the list (-1: none), and the share of the variance that it leaves, times
// its price.
struct Next {
    Int place;
    double value;
};

// Write what every column in the list would leave, times its price; the best of those on offer.
inline Next next_column(Int d, const Listed &listed, const Scratch &work) {
    // all places at once, so that compilers use vector instructions
    const Int count = listed.count;
    const double *left = work.line[LEFT].data;
    const double *least = work.line[LEAST].data;
    const double *price = work.line[FACTOR].data;
    double *value = work.line[VALUE].data;
    const double floor =
        SMALLEST_VARIANCE / std::max(work.small(RESIDUAL, 0, 0), SMALLEST_VARIANCE);
    std::fill(value, value + count, 0.0);
    for (Int a = 0; a < d; ++a)
        for (Int b = 0; b < d; ++b) {
            const double *one = work.shared[a].data;
            const double *other = work.shared[b].data;
            const double factor = work.small(RESIDUAL_INVERSE, a, b);
            for (Int place = 0; place < count; ++place)
                value[place] += one[place] * factor * other[place];
        }
    for (Int place = 0; place < count; ++place) {
        const double explained = value[place];
        const double rest = 1.0 - explained / left[place];
        const double share = (rest > floor ? rest : floor) * price[place];
        value[place] = left[place] > least[place] && explained > 0.0 ? share : INF;
    }
    Next best = {NOBODY, INF};
    for (Int place = 0; place < listed.inside; ++place)
        if (value[place] < best.value) best = {place, value[place]};
    return best;
}

// Regress the response and everything in the list on the column at a place of the list, which is
// not taken again; `size` columns were taken before.
inline void take_column(const Regression &table, Int best, Int count, Int size,
                        const Scratch &work) {
    const Int column = work.listed(0, best);
    const Floats<1> row = row_of(table, column >> table.bits);
    const Int own_values = shared_values(table, column);
    const Int d = table.width;
    const Int *listed = work.listed[0].data;
    double *left = work.line[LEFT].data;
    double *value = work.rows[size].data;
    const OutFloats<1> load = work.small[COLUMNS_FACTOR][0];
    const double root = std::sqrt(left[best]);
    for (Int a = 0; a < d; ++a) load[a] = work.shared(a, best) / root;
    for (Int place = 0; place < count; ++place) value[place] = row[listed[place] & own_values];
    for (Int a = 0; a < size; ++a) {
        const double *earlier = work.rows[a].data;
        const double step = earlier[best];
        for (Int place = 0; place < count; ++place) value[place] -= earlier[place] * step;
    }
    for (Int place = 0; place < count; ++place) {
        value[place] /= root;
        left[place] -= value[place] * value[place];
    }
    for (Int a = 0; a < d; ++a) {
        double *shared = work.shared[a].data;
        const double step = load[a];
        for (Int place = 0; place < count; ++place) shared[place] -= value[place] * step;
    }
    for (Int a = 0; a < d; ++a)
        for (Int b = 0; b < d; ++b) work.small(RESIDUAL, a, b) -= load[a] * load[b];
    left[best] = -1.0;
}

// Note that the owners of a taken column matter, and the newcomers whose columns would have been
// taken in its place.
inline void note_taken(const Regression &table, const Listed &listed, const Next &best,
                       OutBools<1> matters, const Scratch &work) {
    const Int column = work.listed(0, best.place);
    const Int partner = table.about(PARTNER, column);
    matters[table.about(OWNER, column)] = true;
    if (partner >= 0) matters[partner] = true;
    for (Int place = listed.inside; place < listed.count; ++place) {
        const double value = work.line(VALUE, place);
        if (value < best.value || (value == best.value && work.listed(0, place) < column))
            matters[work.listed(1, place)] = true;
    }
}

// Grow the path, and note whose columns were taken, and whose would have been.
inline void grow(const Regression &table, const Listed &listed, OutInts<1> whole,
                 OutBools<1> matters, const Scratch &work) {
    const Int room = room_of(whole);
    Int size = 0;
    Int kept = 0; // required columns
    int in_vain = 0;
    whole[END] = WELCOME;
    while (true) {
        invert_covariance(work.small[RESIDUAL], work.small[RESIDUAL_INVERSE], table.width);
        const Next best = next_column(table.width, listed, work);
        if (best.place < 0) {
            if (in_vain == PATIENCE) whole[END] = ONLY_IF_IT_PAYS;
            break;
        }
        if (best.value > 0.0) {
            const bool full = size - kept >= table.most || size >= room;
            if (full || (best.value >= 1.0 && in_vain == PATIENCE)) {
                whole[END] = full ? CLOSED : ONLY_IF_IT_PAYS;
                break;
            }
            in_vain = best.value < 1.0 ? 0 : in_vain + 1;
        } else {
            ++kept;
        }
        whole[PATH + size] = work.listed(0, best.place);
        if (matters.size() > 0) note_taken(table, listed, best, matters, work);
        take_column(table, best.place, listed.count, size, work);
        ++size;
    }
    whole[LENGTH] = size;
    if (whole[END] == CLOSED) return;
    const double bar = whole[END] == WELCOME ? INF : 1.0;
    for (Int place = listed.inside; place < listed.count; ++place)
        if (work.line(VALUE, place) < bar) matters[work.listed(1, place)] = true;
}

// The contexts that no column of a family on the path, from place t on, tells apart from the first
// open one.
inline Int undivided_contexts(const Regression &table, Ints<1> whole, Int t, Int family,
                              Int open_contexts) {
    const Int lowest = open_contexts & -open_contexts;
    Int part = open_contexts;
    for (Int other = t; other < whole[LENGTH]; ++other) {
        const Int column = whole[PATH + other];
        if (table.about(FAMILY, column) != family) continue;
        const Int mask = table.about(CONTEXTS, column);
        part &= (mask & lowest) != 0 ? mask : ~mask;
    }
    return part;
}

// Start with the columns of the path; those of one family that share contexts are replaced by
// disjoint ones.
//
// x everywhere and x in context 0 together span the same as x in context 0 and x in the others, but
// only the latter say in which contexts x matters.
inline void start_with_path(const Regression &table, OutInts<1> whole) {
    const Int room = room_of(whole);
    const OutInts<1> chosen = chosen_of(whole);
    Int count = 0;
    for (Int t = 0; t < whole[LENGTH]; ++t) {
        const Int column = whole[PATH + t];
        const Int family = table.about(FAMILY, column);
        if (table.about(CONTEXTS, column) == 0) {
            if (count < room) {
                chosen[count] = column;
                ++count;
            }
            continue;
        }
        bool seen = false;
        for (Int earlier = 0; earlier < t; ++earlier)
            seen = seen || table.about(FAMILY, whole[PATH + earlier]) == family;
        if (seen) continue;
        Int everything = 0;
        for (Int other = t; other < whole[LENGTH]; ++other)
            if (table.about(FAMILY, whole[PATH + other]) == family)
                everything |= table.about(CONTEXTS, whole[PATH + other]);
        Int done = 0;
        while (done != everything && count < room) {
            const Int part = undivided_contexts(table, whole, t, family, everything & ~done);
            done |= part;
            chosen[count] = family + part - 1;
            ++count;
        }
    }
    whole[TAKEN] = count;
}

// The column of a family that lives in the contexts of two.
inline Int merged(const Regression &table, Int one, Int other) {
    const Int contexts = table.about(CONTEXTS, one) | table.about(CONTEXTS, other);
    return table.about(FAMILY, one) + contexts - 1;
}

// By what factor the response's residual variance grows without the column at a place of the chosen
// ones, or if it has the slope of another one (-1: none).
inline double loss(Int place, Int other, Int count, Int d, const Scratch &work) {
    const Floats<2> inverse = work.small[FACTOR_INVERSE];
    const Floats<2> slopes = work.small[SLOPES];
    double explained = 0.0;
    double spread = 0.0;
    for (Int a = 0; a < d; ++a)
        for (Int b = 0; b < d; ++b) {
            const double left = slopes(place, a) - (other >= 0 ? slopes(other, a) : 0.0);
            const double right = slopes(place, b) - (other >= 0 ? slopes(other, b) : 0.0);
            explained += left * work.small(RESIDUAL_INVERSE, a, b) * right;
        }
    for (Int t = 0; t < count; ++t) {
        double value = t >= place ? inverse(t, place) : 0.0;
        if (other >= 0 && t >= other) value -= inverse(t, other);
        spread += value * value;
    }
    return 1.0 + explained / spread;
}

// What to do with a chosen column: drop it, or merge it with another one (-1: none); the place of
// the column is -1 if every one pays.
struct Cheapest {
    Int place;
    Int partner;
};

// The column that can be dropped or merged at the smallest loss below its price, after `solve`.
inline Cheapest cheapest_column(const Regression &table, Ints<1> chosen, Int count,
                                const Scratch &work) {
    Cheapest cheapest = {NOBODY, NOBODY};
    double lowest = 1.0;
    for (Int place = 0; place < count; ++place) {
        const Int column = chosen[place];
        if (is_required(table, column)) continue;
        const double dropped =
            loss(place, NOBODY, count, table.width, work) / price_factor(table, column);
        if (dropped < lowest) {
            cheapest = {place, NOBODY};
            lowest = dropped;
        }
        if (table.about(CONTEXTS, column) == 0) continue;
        for (Int other = 0; other < place; ++other) {
            const Int partner = chosen[other];
            if (table.about(FAMILY, partner) != table.about(FAMILY, column)) continue;
            const double saved = price_of(table, column) + price_of(table, partner)
                                 - price_of(table, merged(table, column, partner));
            const double joined =
                loss(place, other, count, table.width, work) * std::exp(-2.0 * saved / table.rows);
            if (joined < lowest) {
                cheapest = {place, other};
                lowest = joined;
            }
        }
    }
    return cheapest;
}

// Drop columns, or merge two of a family, where the loss is below the price, the cheapest first.
inline void shrink(const Regression &table, OutInts<1> whole, bool is_category,
                   const Scratch &work) {
    const OutInts<1> chosen = chosen_of(whole);
    while (true) {
        solve(table, chosen, whole[TAKEN], work);
        if (is_category) // no column seems to explain what has no variance left
            for (Int a = 0; a < table.width; ++a) work.small(RESIDUAL, a, a) += SMALLEST_VARIANCE;
        invert_covariance(work.small[RESIDUAL], work.small[RESIDUAL_INVERSE], table.width);
        const Cheapest out = cheapest_column(table, chosen, whole[TAKEN], work);
        if (out.place < 0) return;
        if (out.partner >= 0)
            chosen[out.partner] = merged(table, chosen[out.place], chosen[out.partner]);
        for (Int place = out.place; place < whole[TAKEN] - 1; ++place)
            chosen[place] = chosen[place + 1];
        whole[TAKEN] -= 1;
    }
}

// Choose columns of `work.candidates`, only plain ones if asked; what is left of the variance of a
// number.
//
// Afterwards `fits.whole` has the chosen columns, `work.small` their slopes and the residual
// covariance of the response. Required parents always stay.
inline double select(const FitArrays &arrays, Int block, Int node, bool plain, Int slot) {
    const Regression table = regression_of(arrays, block, node);
    const Scratch &work = arrays.work;
    const OutInts<1> whole = arrays.fits.whole[node][slot];
    const OutBools<1> matters = arrays.fits.matters[node][slot];
    whole[LENGTH] = 0;
    whole[TAKEN] = 0;
    matters.fill(false);
    if (table.most < 0) {
        whole[END] = CLOSED;
        return INF;
    }
    const Listed listed = list_columns(table, plain, matters.size() > 0, work);
    grow(table, listed, whole, matters, work);
    start_with_path(table, whole);
    shrink(table, whole, arrays.rows.node(node, KIND) == CLASS, work);
    return work.small(RESIDUAL, 0, 0);
}

// Copy the fit of one slot to another; its score.
inline double copy_fit(const FitArrays &arrays, Int node, Int source, Int goal) {
    const Fits &fits = arrays.fits;
    const OutInts<2> whole = fits.whole[node];
    const OutBools<2> matters = fits.matters[node];
    std::copy(whole[source].begin(), whole[source].end(), whole[goal].begin());
    std::copy(matters[source].begin(), matters[source].end(), matters[goal].begin());
    fits.scores(node, goal) = fits.scores(node, source);
    return fits.scores(node, goal);
}

} // namespace cc::orders
