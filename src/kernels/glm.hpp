// The largest likelihood of a generalised linear model, by Newton steps: the one solver for classes
// and counts.
//
// A family (`likelihoods.hpp`) gives the log-likelihood with its derivatives; everything else is
// the same for all of them. A ridge on chosen coefficients keeps them finite where classes are
// separated; the likelihood is reported without it. Without a ridge separated classes do no harm
// either: the coefficients run away, while the likelihood converges to its supremum, and so the
// gain of a step to nothing.
#pragma once

#include <utility>

#include "likelihoods.hpp"
#include "linear.hpp"

namespace cc::glm {

using likelihoods::Family;

// On slopes of standardised columns, where they have to be finite.
constexpr double RIDGE = 1e-2;

// Added to the diagonal of a Hessian, not to the likelihood: coefficients without information stay
// where they are.
constexpr double DAMPING = 1e-10;

// A step that promises less than these, and so many times less than the one before, needs no look
// at where it ends.
constexpr double CLOSE = 1e-2;
constexpr double CLOSE_TO_TOLERANCE = 100.0;
constexpr double FASTER = 20.0;

constexpr Int MOST_STEPS = 60;
constexpr Int MOST_HALVES = 25;

// The maximum is hardly ever further away than this, times what a Newton step promises.
constexpr double HOPE = 3.0;

// Of the fits to drawn classes, in units of the log-likelihood.
constexpr double BOOTSTRAP_TOLERANCE = 1e-5;

// A tie of a coefficient that is 0.
constexpr Int NOBODY = -1;

// The model that is fitted: a family, its design, shape (width, rows), the response, the number of
// classes but one, and the place of every coefficient of the family among the slopes, NOBODY for
// those that are 0; some may share one; without ties each has its own.
struct Model {
    Family family;
    Floats<2> design;
    Ints<1> response;
    Int free;
    Ints<1> ties;
};

// Σ_a ridge[a] slope[a]² / 2.
inline double penalty(Floats<1> slopes, Floats<1> ridge) {
    double total = 0.0;
    for (Int a = 0; a < slopes.size(); ++a) total += 0.5 * ridge[a] * slopes[a] * slopes[a];
    return total;
}

// The log-likelihood of a model with ties; see `value_at`.
inline double tied_value(const Model &model, Floats<1> slopes, OutFloats<1> gradient,
                         OutFloats<2> curvature) {
    const Ints<1> ties = model.ties;
    const Int every = ties.size();
    const Int sloped = gradient.size() > 0 ? every : 0;
    const Int bent = curvature.size() > 0 ? every : 0;
    Array<double, 1> coefficients(every);
    Array<double, 1> first(sloped);
    Array<double, 2> second(bent, bent);
    for (Int i = 0; i < every; ++i)
        coefficients[i] = ties[i] != NOBODY ? slopes[ties[i]] : 0.0;
    const double value = likelihoods::one_pass(model.family, model.design, model.response,
                                               model.free, coefficients, first, second);
    gradient.fill(0.0);
    curvature.fill(0.0);
    for (Int i = 0; i < sloped; ++i) {
        const Int a = ties[i];
        if (a == NOBODY) continue;
        gradient[a] += first[i];
        for (Int j = 0; j < (bent > 0 ? i + 1 : 0); ++j) {
            const Int b = ties[j];
            if (b == NOBODY) continue;
            const double twice = a == b && i > j ? 2.0 : 1.0;
            curvature(std::max(a, b), std::min(a, b)) += second(i, j) * twice;
        }
    }
    return value;
}

// The log-likelihood; gradient and curvature by the slopes are written where there is room for
// them.
inline double value_at(const Model &model, Floats<1> slopes, OutFloats<1> gradient,
                       OutFloats<2> curvature) {
    if (model.ties.size() > 0) return tied_value(model, slopes, gradient, curvature);
    return likelihoods::one_pass(model.family, model.design, model.response, model.free, slopes,
                                 gradient, curvature);
}

// The largest log-likelihood; `slopes` is where to start and then the maximum.
//
// `ridge` has an entry for every slope. `curvature` is written: the lower triangle of the negative
// Hessian, ridge included, at the maximum or one short step before. Where the maximum is clearly
// below what is `needed`, the search for it ends, with -inf. A Newton step that promises less than
// the tolerance is the last one.
inline double maximise(const Model &model, Floats<1> ridge, OutFloats<1> slopes,
                       OutFloats<2> curvature, double needed, double tolerance) {
    const Int size = slopes.size();
    Array<double, 1> gradient(size);
    Array<double, 1> trial(size);
    Array<double, 1> step(size);
    Array<double, 2> factor(size, size);
    const OutFloats<1> flat;
    const OutFloats<2> nothing;
    double likelihood = value_at(model, slopes, gradient, curvature);
    double before = 0.0;
    bool careful = false;
    for (Int turn = 0; turn < MOST_STEPS; ++turn) {
        const double objective = likelihood - penalty(slopes, ridge);
        for (Int a = 0; a < size; ++a) {
            gradient[a] -= ridge[a] * slopes[a];
            curvature(a, a) += ridge[a] + DAMPING;
            step[a] = gradient[a];
            for (Int b = 0; b <= a; ++b) factor(a, b) = curvature(a, b);
        }
        factorise(factor);
        const double promise = 0.5 * solve_half(factor, step);
        solve_rest(factor, step);
        if (likelihood + HOPE * promise + 1.0 < needed) return -INF;
        if (promise < tolerance) break;
        const double close = std::min(CLOSE, CLOSE_TO_TOLERANCE * tolerance);
        const bool last = promise < close && FASTER * promise < before;
        careful = careful || last;
        double scale = 1.0;
        double gain = -1.0;
        double value = likelihood;
        for (Int half = 0; half < MOST_HALVES; ++half) {
            for (Int a = 0; a < size; ++a) trial[a] = slopes[a] + scale * step[a];
            if (half == 0 && !careful) value = value_at(model, trial, gradient, curvature);
            else value = value_at(model, trial, flat, nothing);
            gain = value - penalty(trial, ridge) - objective;
            if (gain >= 0.0) break;
            scale *= 0.5;
        }
        if (!(gain >= 0.0)) break;
        std::copy(trial.begin(), trial.end(), slopes.begin());
        likelihood = value;
        if (last) break;
        if (scale < 1.0 || careful) value_at(model, slopes, gradient, curvature);
        before = promise;
        careful = scale < 1.0;
    }
    return likelihood;
}

// The ridge of every coefficient of a model; intercepts and cuts have none.
inline void write_ridge(Family family, Int classes, Int width, double ridge, OutFloats<1> out) {
    for (Int a = 0; a < out.size(); ++a) {
        const bool intercept = family == likelihoods::LOGIT ? a % width == 0 : a < classes - 1;
        out[a] = intercept ? 0.0 : ridge;
    }
}

// Coefficients without any effect: intercepts, or cuts of ordered classes, are those of the shares
// of the classes. The other slopes are left alone.
inline void write_start(Ints<1> codes, Int classes, bool ordered, Int width, OutFloats<1> slopes) {
    Array<double, 1> counts(classes);
    counts.fill(0.5);
    for (Int row = 0; row < codes.size(); ++row)
        counts[std::min(codes[row], classes - 1)] += 1.0; // all numbers of a hurdle are one class
    double below = 0.0;
    for (Int c = 0; c < classes - 1; ++c) {
        below += counts[c];
        if (ordered)
            slopes[c] = std::log(below / (double(codes.size()) + 0.5 * double(classes) - below));
        else slopes[c * width] = std::log(counts[c] / counts[classes - 1]);
    }
}

// Whether the maximum is clearly below what is needed, by the gradient alone.
//
// `inverse` is the inverse of a negative Hessian from elsewhere, so twice as much hope is kept.
inline bool is_out_of_reach(Family family, Floats<2> design, Ints<1> codes, Int free,
                            Floats<1> ridge, Floats<1> slopes, Floats<2> inverse, double needed) {
    const Int size = slopes.size();
    Array<double, 1> gradient(size);
    const OutFloats<2> nothing;
    const double likelihood =
        likelihoods::one_pass(family, design, codes, free, slopes, gradient, nothing);
    for (Int a = 0; a < size; ++a) gradient[a] -= ridge[a] * slopes[a];
    double promise = 0.0;
    for (Int a = 0; a < size; ++a) {
        double value = 0.0;
        for (Int b = 0; b < size; ++b) value += inverse(a, b) * gradient[b];
        promise += 0.5 * value * gradient[a];
    }
    return likelihood + 2.0 * HOPE * promise + 1.0 < needed;
}

// Classes of all rows, drawn by cumulative probabilities, shape (rows, classes), and uniform
// numbers.
inline void draw_codes(Floats<2> below, Floats<1> uniforms, OutInts<1> codes) {
    const Int classes = below.shape[1];
    for (Int row = 0; row < codes.size(); ++row) {
        Int code = 0;
        while (code < classes - 1 && uniforms[row] > below(row, code)) ++code;
        codes[row] = code;
    }
}

// The largest log-likelihood without a ridge, from a start that is kept.
inline double maximum_from(Floats<1> start, const Model &model) {
    const Int size = start.size();
    Array<double, 1> slopes = copied(start);
    Array<double, 1> no_ridge(size);
    Array<double, 2> curvature(size, size);
    return maximise(model, no_ridge, slopes, curvature, -INF, BOOTSTRAP_TOLERANCE);
}

// How often classes drawn from the smaller of two models give a likelihood ratio as large as the
// observed one: how many draws reach `observed`, and how many were made before `most` of them did.
//
// `base` and `design` have shape (width, rows), `below`, cumulative probabilities of the classes,
// (rows, classes), `uniforms` (draws, rows); `start_small` are the coefficients of the smaller
// model, `start_large` the same in the larger one.
inline std::pair<Int, Int> drawn_exceedances(Family family, Floats<2> base, Floats<2> design,
                                             Floats<2> below, Floats<1> start_small,
                                             Floats<1> start_large, double observed,
                                             Floats<2> uniforms, Int most) {
    const Int free = below.shape[1] - 1;
    const Ints<1> no_ties;
    Array<Int, 1> codes(below.shape[0]);
    const Model small{family, base, codes, free, no_ties};
    const Model large{family, design, codes, free, no_ties};
    Int reached = 0;
    for (Int draw = 0; draw < uniforms.shape[0]; ++draw) {
        draw_codes(below, uniforms[draw], codes);
        double ratio = 0.0;
        ratio += -2.0 * maximum_from(start_small, small);
        ratio += 2.0 * maximum_from(start_large, large);
        if (ratio >= observed - 20.0 * BOOTSTRAP_TOLERANCE) {
            ++reached;
            if (reached == most) return {reached, draw + 1};
        }
    }
    return {reached, uniforms.shape[0]};
}

} // namespace cc::glm
