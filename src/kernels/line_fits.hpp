// The regression of one variable on some of its candidates, by lines, kept as a Cholesky factor:
// a cause more or less costs the square of their number, and a choice of causes starts from the
// one before.
//
// A fit has the score -n / 2 log(what is left of the variance) - price * causes, and the factor L
// of the covariance of its causes: L L' = C, L load = c, left = v - load' load, where c is their
// covariance with the response and v its variance. All variances are about 1.
#pragma once

#include <vector>

#include "limits.hpp"

namespace cc::line_orders {

// A fit must gain more than this, in nats: below it two models count as equal.
constexpr double SMALLEST_GAIN = 1e-6;

// What a variable may be explained by: m candidates, and a response.
struct Candidates {
    Ints<1> who;           // (m,): the variables
    Floats<2> covariance;  // (m, at least m): of the candidates
    Floats<1> own;         // (m,): of the candidates with the response
    double variance;       // of the response
    Bools<1> required;     // (p,): variables that always stay causes
    double rows;
    double price;          // of a cause
    Int most;              // causes
};

// The causes of a variable by their places among its candidates, and the factor of their
// covariance, row by row: entry j of row i is `factor[i * (i + 1) / 2 + j]`.
struct LineFit {
    std::vector<Int> causes;
    std::vector<double> factor;
    std::vector<double> load;
    double left = 0.0;
    double score = 0.0;
};

inline std::size_t start_of_row(Int i) { return std::size_t(i * (i + 1) / 2); }

inline void set_score(const Candidates &on, LineFit &fit) {
    const double left = std::max(fit.left, SMALLEST_VARIANCE);
    fit.score = -0.5 * on.rows * std::log(left) - on.price * double(fit.causes.size());
}

// The fit without causes.
inline LineFit empty_fit(const Candidates &on) {
    LineFit fit;
    fit.left = on.variance;
    set_score(on, fit);
    return fit;
}

// What one more cause gains, in nats, and its row of the factor, the diagonal included, shape
// (causes + 1,). A candidate that causes explain but for rounding gains nothing.
inline double gain_of(const Candidates &on, const LineFit &fit, Int candidate, double *row) {
    const Int count = Int(fit.causes.size());
    const double *covariance = on.covariance[candidate].data;
    double left = covariance[candidate];
    double shared = on.own[candidate];
    const double least = SAME_COLUMN_BELOW * left;
    for (Int i = 0; i < count; ++i) {
        const double *earlier = fit.factor.data() + start_of_row(i);
        double value = covariance[fit.causes[i]];
        for (Int j = 0; j < i; ++j) value -= earlier[j] * row[j];
        row[i] = value / earlier[i];
        left -= row[i] * row[i];
        shared -= row[i] * fit.load[i];
    }
    if (!(left > least) || count >= on.most) return -INF;
    row[count] = std::sqrt(left);
    const double rest = std::max(fit.left - shared * shared / left,
                                 SMALLEST_VARIANCE);
    return -0.5 * on.rows * std::log(rest / std::max(fit.left, SMALLEST_VARIANCE))
           - on.price;
}

// Take a cause with its row of the factor.
inline void add_cause(const Candidates &on, LineFit &fit, Int candidate, const double *row) {
    const Int count = Int(fit.causes.size());
    double shared = on.own[candidate];
    for (Int i = 0; i < count; ++i) shared -= row[i] * fit.load[i];
    fit.causes.push_back(candidate);
    fit.factor.insert(fit.factor.end(), row, row + count + 1);
    fit.load.push_back(shared / row[count]);
    fit.left -= fit.load.back() * fit.load.back();
    set_score(on, fit);
}

// Drop the cause at a place: its row goes, and rotations of neighbouring columns make the rest a
// triangle again. What its last column had of the response is left.
inline void drop_cause(const Candidates &on, LineFit &fit, Int place) {
    const Int count = Int(fit.causes.size());
    double *factor = fit.factor.data();
    for (Int j = place; j + 1 < count; ++j) {
        double *below = factor + start_of_row(j + 1);
        const double size = std::sqrt(below[j] * below[j] + below[j + 1] * below[j + 1]);
        const double cosine = below[j] / size;
        const double sine = below[j + 1] / size;
        for (Int i = j + 1; i < count; ++i) {
            double *row = factor + start_of_row(i);
            const double first = row[j];
            row[j] = cosine * first + sine * row[j + 1];
            row[j + 1] = cosine * row[j + 1] - sine * first;
        }
        const double first = fit.load[j];
        fit.load[j] = cosine * first + sine * fit.load[j + 1];
        fit.load[j + 1] = cosine * fit.load[j + 1] - sine * first;
    }
    for (Int i = place + 1; i < count; ++i) // the row of a cause moves up, without its last column
        std::copy_n(factor + start_of_row(i), i, factor + start_of_row(i - 1));
    fit.left += fit.load.back() * fit.load.back();
    fit.load.pop_back();
    fit.factor.resize(start_of_row(count - 1));
    fit.causes.erase(fit.causes.begin() + place);
    set_score(on, fit);
}

// Arrays of one thread.
struct Scratch {
    std::vector<double> row;
    std::vector<double> inverse;
    std::vector<double> whole; // (causes + 1, m): rows of the factor of all candidates
    std::vector<double> left;
    std::vector<double> shared;
    std::vector<Int> open;     // candidates on offer
};

// Drop causes as long as one costs more than it explains, the cheapest first; whether any went.
inline bool shrink(const Candidates &on, LineFit &fit, Scratch &work) {
    bool is_smaller = false;
    while (!fit.causes.empty()) {
        const Int count = Int(fit.causes.size());
        const double left = std::max(fit.left, SMALLEST_VARIANCE);
        // below this slope, in units of its variance, a cause does not pay
        const double least = left * std::expm1(2.0 * on.price / on.rows);
        std::vector<double> &inverse = work.inverse;
        inverse.resize(start_of_row(count));
        Int cheapest = -1;
        double lowest = least;
        for (Int i = count - 1; i >= 0; --i) {
            if (on.required[on.who[fit.causes[i]]]) continue;
            // column i of the inverse of the factor: its square is the variance of the slope
            double spread = 0.0;
            double slope = 0.0;
            for (Int t = i; t < count; ++t) {
                const double *row = fit.factor.data() + start_of_row(t);
                double value = t == i ? 1.0 : 0.0;
                for (Int j = i; j < t; ++j) value -= row[j] * inverse[j];
                inverse[t] = value / row[t];
                spread += inverse[t] * inverse[t];
                slope += inverse[t] * fit.load[t];
            }
            const double loss = slope * slope / spread;
            if (loss < lowest) {
                lowest = loss;
                cheapest = i;
            }
        }
        if (cheapest < 0) return is_smaller;
        drop_cause(on, fit, cheapest);
        is_smaller = true;
    }
    return is_smaller;
}

// Take the candidate that gains most, as long as one does; whether any came. `is_open(place)` says
// who is on offer.
template <class Open>
bool grow(const Candidates &on, LineFit &fit, const Open &is_open, Scratch &work) {
    work.open.clear();
    for (Int place = 0; place < on.who.size(); ++place)
        if (is_open(place)) work.open.push_back(place);
    const Int m = Int(work.open.size());
    Int count = Int(fit.causes.size());
    const Int room = std::min(on.most, count + m) + 1;
    work.whole.resize(std::size_t(room * std::max(m, Int(1))));
    work.left.resize(std::size_t(m));
    work.shared.resize(std::size_t(m));
    work.row.resize(std::size_t(on.most) + 1);
    double *left = work.left.data();
    double *shared = work.shared.data();
    const Int *open = work.open.data();
    for (Int t = 0; t < m; ++t) {
        left[t] = on.covariance(open[t], open[t]);
        shared[t] = on.own[open[t]];
    }
    const auto take = [&](Int i) { // what cause i has in common with all candidates
        const double *covariance = on.covariance[fit.causes[i]].data;
        const double *row = fit.factor.data() + start_of_row(i);
        double *own = work.whole.data() + i * m;
        for (Int t = 0; t < m; ++t) own[t] = covariance[open[t]];
        for (Int j = 0; j < i; ++j) {
            const double *earlier = work.whole.data() + j * m;
            const double step = row[j];
            for (Int t = 0; t < m; ++t) own[t] -= step * earlier[t];
        }
        const double scale = 1.0 / row[i];
        const double load = fit.load[i];
        for (Int t = 0; t < m; ++t) {
            own[t] *= scale;
            left[t] -= own[t] * own[t];
            shared[t] -= own[t] * load;
        }
    };
    for (Int i = 0; i < count; ++i) take(i);
    bool is_larger = false;
    while (count < on.most) {
        const double whole = std::max(fit.left, SMALLEST_VARIANCE);
        // a cause that explains less than this does not pay
        const double least = -whole * std::expm1(-2.0 * (on.price + SMALLEST_GAIN) / on.rows);
        Int best = -1;
        double most = least;
        for (Int t = 0; t < m; ++t) {
            if (!(left[t] > SAME_COLUMN_BELOW * on.covariance(open[t], open[t]))) continue;
            const double explained = shared[t] * shared[t] / left[t];
            if (explained > most) {
                most = explained;
                best = t;
            }
        }
        if (best < 0) break;
        for (Int i = 0; i < count; ++i) work.row[i] = work.whole[i * m + best];
        work.row[count] = std::sqrt(left[best]);
        add_cause(on, fit, open[best], work.row.data());
        take(count);
        left[best] = 0.0;
        ++count;
        is_larger = true;
    }
    return is_larger;
}

// Shrink and grow by turns until neither pays.
template <class Open>
void improve(const Candidates &on, LineFit &fit, const Open &is_open, Scratch &work) {
    do shrink(on, fit, work);
    while (grow(on, fit, is_open, work));
}

} // namespace cc::line_orders
