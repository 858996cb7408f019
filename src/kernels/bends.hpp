// Bends of one column: kinks, saturations and smooth curves, each by least squares beside given
// columns.
//
// A column is x held between two places, min(max(x, low), high): with one of them at infinity a
// kink, with both finite a saturation, with none x itself; or its square or a squared hinge, above
// a place or below it. The columns of -x are those of x, mirrored.
//
// What a column explains beside an orthonormal basis needs sums over the rows up to every place of
// x alone, which are made once: then every place is tried in as many steps as the basis has
// columns.
#pragma once

#include "sums.hpp"

namespace cc::bends {

// A kink needs so many rows on either side.
constexpr Int FEWEST = 10;
// Places at which kinks are looked for, then between the neighbours of the best one; places of
// saturations.
constexpr Int KINKS = 24;
constexpr Int FINER = 7;
constexpr Int PAIRS = 10;
// The share of a column that given ones leave is nothing.
constexpr double NOTHING = 1e-9;

// Columns of what is written for a bend: 1 if it stands beside x itself, the places and the power
// of its column, and the sum of squares that is left.
enum { BESIDE, LOW, HIGH, POWER, LEFT_OVER };

// A column of x: x held between two places, or, with a power of 2, the square of x, or of what is
// above `low` or below `high`.
struct Held {
    double low;
    double high;
    int power;
};

// Sums over the rows up to every place of x, by which columns of x are held against a basis and a
// response.
struct RunningSums {
    Array<double, 1> x;      // (rows,): sorted
    Array<double, 2> beside; // (columns + 1, rows): the basis, and what it leaves of the response
    // (columns + 2, rows + 1): running sums of ones and of these, and of their products with x from
    // its mean
    Array<double, 2> sums;
    Array<double, 2> products;
    Array<double, 1> squares; // (rows + 1,): the same of the square of x from its mean
    double centre;            // the mean of x
    double left;              // the sum of squares that the basis leaves of the response

    Int rows() const { return x.size(); }
    Int width() const { return beside.shape[0] - 1; }
};

// The sums of rows, shape (columns, rows), with an orthonormal basis, the first `width` lines, and
// x and a response, the last two; `order` sorts x.
inline RunningSums running_sums(Floats<2> rows, Int width, Ints<1> order) {
    const Int n = rows.shape[1];
    const Floats<1> x = rows[rows.shape[0] - 2];
    const Floats<1> y = rows[rows.shape[0] - 1];
    RunningSums made{Array<double, 1>(n),
                     Array<double, 2>(width + 1, n),
                     Array<double, 2>(width + 2, n + 1),
                     Array<double, 2>(width + 2, n + 1),
                     Array<double, 1>(n + 1),
                     sum(x.data, n) / double(n),
                     0.0};
    Array<double, 1> rest(n);
    std::copy(y.begin(), y.end(), rest.begin());
    for (Int j = 0; j < width; ++j) {
        const double slope = dot(rows[j].data, y.data, n);
        for (Int i = 0; i < n; ++i) {
            rest[i] -= slope * rows(j, i);
            made.beside(j, i) = rows(j, order[i]);
        }
    }
    made.left = dot(rest.data, rest.data, n);
    for (Int i = 0; i < n; ++i) {
        made.beside(width, i) = rest[order[i]];
        made.x[i] = x[order[i]];
    }
    for (Int i = 0; i < n; ++i) {
        const double away = made.x[i] - made.centre;
        made.squares[i + 1] = made.squares[i] + away * away;
    }
    for (Int j = 0; j < width + 2; ++j)
        for (Int i = 0; i < n; ++i) {
            const double value = j == 0 ? 1.0 : made.beside(j - 1, i);
            made.sums(j, i + 1) = made.sums(j, i) + value;
            made.products(j, i + 1) = made.products(j, i) + value * (made.x[i] - made.centre);
        }
    return made;
}

// The square of x held between two places, from the mean of x; its products with ones, basis and
// response are written.
inline double held_square(const RunningSums &sums, const Held &column, OutFloats<1> along) {
    const Int n = sums.rows();
    const double *x = sums.x.begin();
    const Int first = std::lower_bound(x, x + n, column.low) - x;
    const Int end = std::lower_bound(x, x + n, column.high) - x;
    const double below = first > 0 ? column.low - sums.centre : 0.0;
    const double above = end < n ? column.high - sums.centre : 0.0;
    for (Int j = 0; j < along.size(); ++j) {
        const double outside =
            below * sums.sums(j, first) + above * (sums.sums(j, n) - sums.sums(j, end));
        along[j] = outside + (sums.products(j, end) - sums.products(j, first));
    }
    return below * below * double(first) + above * above * double(n - end) + sums.squares[end]
           - sums.squares[first];
}

// The same of x squared from its mean, or of what is above a place, or below it, squared; the
// product with ones, 0 by then, is not written.
CC_WIDE inline double power_square(const RunningSums &sums, const Held &column,
                                   OutFloats<1> along) {
    const Int n = sums.rows();
    const double *x = sums.x.data;
    const double low = column.low;
    const double high = column.high;
    double start = 0.0;
    if (low > -INF) start = low;
    else if (high < INF) start = high;
    Array<double, 1> values(n);
    double *square = values.data;
    for (Int i = 0; i < n; ++i) {
        const double away = low < x[i] && x[i] < high ? x[i] - start : 0.0;
        square[i] = away * away;
    }
    const double mean = sum(square, n) / double(n);
    for (Int i = 0; i < n; ++i) square[i] -= mean;
    for (Int j = 1; j < along.size(); ++j) along[j] = dot(square, sums.beside[j - 1].data, n);
    return dot(square, square, n);
}

// The sum of squares that a column explains: the square of its product with what the basis leaves
// of the response, divided by what the basis leaves of the column.
inline double explained(const RunningSums &sums, const Held &column) {
    const Int n = sums.rows();
    const Int width = sums.width();
    Array<double, 1> along(width + 2);
    const double square = column.power == 2 ? power_square(sums, column, along)
                                            : held_square(sums, column, along);
    const double whole = square - along[0] * along[0] / double(n);
    double size = whole;
    for (Int j = 1; j < width + 2; ++j) {
        along[j] -= along[0] / double(n) * sums.sums(j, n);
        if (j <= width) size -= along[j] * along[j];
    }
    return size > NOTHING * whole ? along[width + 1] * along[width + 1] / size : 0.0;
}

// Write places between sorted values, with enough rows on either side: the same ones for -x. How
// many there are.
inline Int write_places(Floats<1> ordered, OutFloats<1> places) {
    const Int n = ordered.size();
    const Int count = places.size();
    const double step = (double(n) - 2.0 * FEWEST) / double(count - 1);
    Int size = 0;
    for (Int k = 0; k < count; ++k) {
        const Int at = 2 * k < count ? Int(double(k) * step + FEWEST)
                                     : n - Int(double(count - 1 - k) * step + FEWEST);
        const double place = 0.5 * (ordered[at - 1] + ordered[at]);
        if (size > 0 && !(place > places[size - 1])) continue;
        places[size] = place;
        ++size;
    }
    return size;
}

// x held at a place from below or from above.
inline Held kink_at(double place, bool low) {
    if (low) return {place, INF, 1};
    return {-INF, place, 1};
}

// The best kink, looked for in two rounds.
inline Held best_kink(const RunningSums &sums, bool low) {
    Array<double, 1> places(std::max(KINKS, 1 + FINER));
    Int count = write_places(sums.x, places.slice(0, KINKS));
    double best_place = 0.0;
    for (int round = 0; round < 2; ++round) {
        double best = -1.0;
        Int here = 0;
        for (Int k = 0; k < count; ++k) {
            const double value = explained(sums, kink_at(places[k], low));
            if (value > best) {
                best = value;
                here = k;
            }
        }
        best_place = places[here];
        const double start = places[std::max(here - 1, Int(0))];
        const double end = places[std::min(here + 1, count - 1)];
        places[0] = best_place;
        for (Int k = 0; k < FINER; ++k)
            places[1 + k] = start + double(k) * ((end - start) / (FINER - 1));
        count = 1 + FINER;
    }
    return kink_at(best_place, low);
}

// The best saturation; there must be two places.
inline Held best_saturation(const RunningSums &sums, Floats<1> places) {
    Held best_column = {0.0, 0.0, 1};
    double best = -1.0;
    for (Int a = 0; a < places.size(); ++a)
        for (Int b = a + 1; b < places.size(); ++b) {
            const double value = explained(sums, {places[a], places[b], 1});
            if (value > best) {
                best = value;
                best_column = {places[a], places[b], 1};
            }
        }
    return best_column;
}

// The best smooth column of those given by their places, shape (columns, 2).
inline Held best_smooth(const RunningSums &sums, Floats<2> smooth) {
    Held best_column = {0.0, 0.0, 2};
    double best = -1.0;
    for (Int k = 0; k < smooth.shape[0]; ++k) {
        const Held column = {smooth(k, 0), smooth(k, 1), 2};
        const double value = explained(sums, column);
        if (value > best) {
            best = value;
            best_column = column;
        }
    }
    return best_column;
}

// Write a straight line and bends, each the best of its kind: beside x or not, low, high, power,
// left. How many.
//
// `rows` and `part_rows`, shape (columns + 2, rows), have an orthonormal basis of given columns and
// x, then x and the response: all rows, and those that say where places are; the orders sort x.
// `widths`, shape (2,): how many of these columns are those of the given ones. `smooth`, shape
// (smooth columns, 2): above and below which places smooth columns are. `found` has shape (7, 5).
inline Int fill_bends(Floats<2> rows, Ints<1> order, Floats<2> part_rows, Ints<1> part_order,
                      Ints<1> widths, Floats<2> smooth, OutFloats<2> found) {
    const RunningSums plain = running_sums(part_rows, widths[1], part_order);
    const RunningSums lined = running_sums(part_rows, part_rows.shape[0] - 2, part_order);
    Int count = 0;
    const auto write = [&](bool beside, const Held &column) {
        found(count, BESIDE) = beside ? 1.0 : 0.0;
        found(count, LOW) = column.low;
        found(count, HIGH) = column.high;
        found(count, POWER) = column.power;
        ++count;
    };
    write(false, {-INF, INF, 1});
    write(false, best_kink(plain, true));
    write(false, best_kink(plain, false));
    write(true, best_kink(lined, true));
    Array<double, 1> places(PAIRS);
    const Int pairs = write_places(plain.x, places);
    if (pairs > 1) write(false, best_saturation(plain, places.slice(0, pairs)));
    write(false, best_smooth(plain, smooth));
    write(true, best_smooth(lined, smooth));

    const auto write_left = [&](const RunningSums &whole, const RunningSums &lined_whole) {
        found(0, LEFT_OVER) = lined_whole.left;
        for (Int k = 1; k < count; ++k) {
            const RunningSums &own = found(k, BESIDE) == 1.0 ? lined_whole : whole;
            const Held column = {found(k, LOW), found(k, HIGH), int(found(k, POWER))};
            found(k, LEFT_OVER) = own.left - explained(own, column);
        }
    };
    if (part_rows.shape[1] < rows.shape[1])
        write_left(running_sums(rows, widths[0], order),
                   running_sums(rows, rows.shape[0] - 2, order));
    else write_left(plain, lined);
    return count;
}

} // namespace cc::bends
