// The best order of variables whose mechanisms are lines with Gaussian noise, from moments alone.
//
// The score of an order is the sum of the scores of all variables, each with the causes before it
// that explain most for their price. Every variable keeps its fit (line_fits.hpp). When two
// neighbours change places, the one that comes later gains a candidate, the other one loses one,
// and both start again from the causes that they have: that is how a variable moves along the
// order (Wienöbst, Henckel and Weichwald 2025), until none has a better place.
//
// Most moves change nothing: orders of one graph are a plateau. So variables *drift* to a random
// one of their equally good places, all of them, before the next climb, and the order of a variable
// and its neighbours is *stirred*; what is no worse is kept, so that distant parts of a wide graph
// improve one by one.
//
// Where the table is wide and its graph sparse, variables choose among a few candidates: those that
// forward selection takes of all variables at half the price, either way. After every drift all
// others are tried in the fits that were found; who would gain becomes a candidate. In the end all
// variables are candidates, and the climb goes on. So the candidates decide how long the search
// takes, not what it finds.
#pragma once

#include <numeric>
#include <vector>

#include "draws.hpp"
#include "line_fits.hpp"

namespace cc::line_orders {

// From so many variables on few candidates are chosen first; fewer are all candidates: with 100
// the search ends 4 nats lower with chosen ones, and takes .06 s with all.
constexpr Int FEWEST_SCREENED = 150;
// The price of a candidate, in prices of a cause.
constexpr double SHARE_OF_PRICE = 0.5;
// With more candidates a variable, on average, all variables are candidates: the graph is dense,
// and forward selection misses causes. With 8 causes a variable it takes about 20.
constexpr Int MOST_SCREENED = 14;
constexpr Int MOST_SWEEPS = 100;
// Drifts in vain, one after the other, that end a search. With 3 one of 6 tables of 100 columns ends
// 4 nats lower, with 20 none ends higher.
constexpr Int PATIENCE = 8;
// So many more, and so many more rounds of stirring, over the number of variables: of 7 variables
// with 5 causes 8 of 30 tables ended below the optimum without.
constexpr Int PATIENCE_OF_FEW = 200;
constexpr Int STIRS_OF_FEW = 40;
// The most variables whose places are shuffled at once: 3 and 8 find less in the same time.
constexpr Int MOST_STIRRED = 5;

// What is given: covariances (p, p) of variables with variance 1, or 0 for a constant; who may and
// who must be a cause, `[effect, cause]`; who comes before whom in every order, `[a, b]`; the rows,
// the price of a cause, and the most causes of a variable.
struct LineProblem {
    Floats<2> covariance;
    Bools<2> allowed;
    Bools<2> required;
    Bools<2> first;
    double rows;
    double price;
    Int most;
    static constexpr auto fields = std::make_tuple(
        &LineProblem::covariance, &LineProblem::allowed, &LineProblem::required,
        &LineProblem::first, &LineProblem::rows, &LineProblem::price, &LineProblem::most);
};

// Covariances of a variable and its candidates.
struct Neighbourhood {
    std::vector<Int> who;
    std::vector<double> covariance; // (m + 1, m + 1), the variable last
};

// A search: an order, where everybody stands, and the fits that belong to it.
class LineSearch {
  public:
    LineSearch(const LineProblem &problem, OutInts<1> order)
        : problem(problem), size(order.size()), order(order), place(order.size()),
          fits(std::size_t(order.size())), dirty(order.size()), touched(order.size()) {
        const Bools<2> first = problem.first;
        is_constrained = std::find(first.begin(), first.end(), true) != first.end();
        everybody.resize(std::size_t(size));
        std::iota(everybody.begin(), everybody.end(), Int(0));
        settle();
    }

    // Choose candidates where that saves time.
    void screen() {
        if (size < FEWEST_SCREENED) return;
        std::vector<std::vector<Int>> chosen(static_cast<std::size_t>(size));
        const auto both = [&](Int v) {
            return [this, v](Int u) {
                return u != v && (problem.allowed(v, u) || problem.allowed(u, v));
            };
        };
        Int total = 0;
        for (Int v = 0; v < size; ++v) {
            Candidates on = candidates_of(v);
            on.price *= SHARE_OF_PRICE;
            LineFit fit = empty_fit(on);
            grow(on, fit, both(v), work);
            chosen[v] = fit.causes;
            total += Int(fit.causes.size());
        }
        if (total > MOST_SCREENED * size) return;
        gather(chosen);
    }

    // The order of what is hardest to explain: first the variable that leaves least to some other
    // one, then always the one of which those before it leave least.
    void first_order() {
        Array<double, 1> left(size);
        Array<bool, 1> is_placed(size);
        Array<double, 2> rows(size, size);
        for (Int v = 0; v < size; ++v) left[v] = problem.covariance(v, v);
        for (Int t = 0; t < size; ++t) {
            const Int next = t == 0 ? first_variable() : next_variable(left, is_placed);
            order[t] = next;
            is_placed[next] = true;
            const double pivot = left[next];
            if (!(pivot > SAME_COLUMN_BELOW)) continue;
            const double scale = 1.0 / std::sqrt(pivot);
            double *own = rows[t].data;
            const double *covariance = problem.covariance[next].data;
            std::copy_n(covariance, size, own);
            for (Int i = 0; i < t; ++i) {
                const double *earlier = rows[i].data;
                const double step = earlier[next];
                if (step == 0.0) continue;
                for (Int v = 0; v < size; ++v) own[v] -= step * earlier[v];
            }
            for (Int v = 0; v < size; ++v) {
                own[v] *= scale;
                left[v] -= own[v] * own[v];
            }
        }
        settle();
    }

    // Fit every variable anew.
    void fit_all() {
        for (Int v = 0; v < size; ++v) {
            const Candidates on = candidates_of(v);
            LineFit &fit = fits[v] = empty_fit(on);
            work.row.resize(std::size_t(size) + 1);
            for (Int u = 0; u < size; ++u) {
                const Int candidate = problem.required(v, u) ? among(v, u) : -1;
                if (candidate < 0) continue;
                if (gain_of(on, fit, candidate, work.row.data()) > -INF)
                    add_cause(on, fit, candidate, work.row.data());
            }
            improve_at(v, place[v], -1, false, fit);
            touched[v] = true;
        }
        dirty.fill(true);
    }

    // Move variables until nothing moves: those that a move may have changed, then all of them.
    void climb(bool is_thorough, Ints<1> stop) {
        for (Int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
            bool is_moved = false;
            std::vector<Int> visits(order.begin(), order.end());
            for (const Int v : visits) {
                if (is_stopped(stop)) return;
                if (!dirty[v]) continue;
                dirty[v] = false;
                is_moved = visit(v) || is_moved;
            }
            if (is_moved) {
                is_whole = false;
                continue;
            }
            if (!is_thorough || is_whole) return;
            is_whole = true;
            dirty.fill(true);
        }
    }

    // Move every variable to a random one of equally good places, climb, and so on, until that was
    // in vain so many times in a row. Everybody else is tried as a candidate on the way.
    void wander(std::uint64_t seed, Int patience, Ints<1> stop) {
        drift = stream_of(seed, -1);
        Int in_vain = 0;
        while (in_vain < patience && !is_stopped(stop)) {
            const double before = total();
            std::vector<Int> visits(order.begin(), order.end());
            for (Int i = Int(visits.size()) - 1; i > 0; --i)
                std::swap(visits[i], visits[Int(uniform_at(drift, turn++) * double(i + 1))]);
            dirty.fill(false);
            for (const Int v : visits) visit(v, true);
            climb(false, stop);
            if (price()) climb(false, stop);
            in_vain = total() > before + SMALLEST_GAIN ? 0 : in_vain + 1;
        }
        dirty.fill(true);
    }

    // Shuffle the places of a variable and its neighbours, climb, and keep what is no worse:
    // variable by variable.
    bool stir(std::uint64_t seed, Ints<1> stop) {
        std::vector<LineFit> best = fits;
        std::vector<Int> best_order(order.begin(), order.end());
        const std::uint64_t stream = stream_of(seed, -3);
        Int number = 0;
        std::vector<Int> visits(order.begin(), order.end());
        for (Int i = size - 1; i > 0; --i)
            std::swap(visits[i], visits[Int(uniform_at(stream, number++) * double(i + 1))]);
        double score = total();
        bool is_any = false;
        touched.fill(false);
        for (const Int v : visits) {
            if (is_stopped(stop)) break;
            std::vector<Int> who = {v};
            for (const Int cause : fits[v].causes) who.push_back(candidates_of(v).who[cause]);
            const Ints<1> others = candidates_of(v).who;
            for (const Int w : others)
                if (w != v && cause_of(w, v, fits[w]) >= 0) who.push_back(w);
            if (who.size() < 2) continue;
            for (Int i = Int(who.size()) - 1; i > 0; --i)
                std::swap(who[i], who[Int(uniform_at(stream, number++) * double(i + 1))]);
            const auto most = std::size_t(MOST_STIRRED);
            if (who.size() > most) who.resize(most);
            dirty.fill(false);
            shuffle(who, stream, number);
            climb(false, stop);
            const double now = is_stopped(stop) ? -INF : total();
            const bool is_better = now > score - SMALLEST_GAIN;
            is_any = is_any || now > score + SMALLEST_GAIN;
            for (Int w = 0; w < size; ++w) {
                if (!touched[w]) continue;
                if (is_better) best[w] = fits[w];
                else fits[w] = best[w];
            }
            touched.fill(false);
            if (is_better) {
                score = now;
                std::copy(order.begin(), order.end(), best_order.begin());
            } else {
                std::copy(best_order.begin(), best_order.end(), order.begin());
                settle();
            }
        }
        dirty.fill(true);
        return is_any;
    }

    // Try everybody who is no candidate in the fits; whether somebody became one.
    bool price() {
        if (near.empty()) return false;
        std::vector<std::vector<Int>> wider(static_cast<std::size_t>(size));
        Int added = 0;
        for (Int v = 0; v < size; ++v) {
            wider[v] = near[v].who;
            const Candidates on = whole_of(v);
            LineFit fit = empty_fit(on);
            work.row.resize(std::size_t(on.most) + 1);
            for (const Int cause : fits[v].causes) {
                const Int u = near[v].who[cause];
                if (gain_of(on, fit, u, work.row.data()) > -INF)
                    add_cause(on, fit, u, work.row.data());
            }
            const std::size_t before = fit.causes.size();
            const Int here = place[v];
            grow(on, fit, [&](Int u) {
                return place[u] < here && problem.allowed(v, u) && among(v, u) < 0;
            }, work);
            for (std::size_t i = before; i < fit.causes.size(); ++i) {
                wider[v].push_back(fit.causes[i]);
                ++added;
            }
        }
        if (added == 0) return false;
        gather(wider);
        return true;
    }

    // Make candidates of all variables.
    void release() {
        for (Int v = 0; v < size && !near.empty(); ++v)
            for (Int &cause : fits[v].causes) cause = near[v].who[cause];
        near.clear();
        dirty.fill(true);
    }

    double total() const {
        double sum = 0.0;
        for (const LineFit &fit : fits) sum += fit.score;
        return sum;
    }

    // Write the causes of all variables.
    void write_causes(OutBools<2> causes) const {
        causes.fill(false);
        for (Int v = 0; v < size; ++v)
            for (const Int cause : fits[v].causes) causes(v, candidates_of(v).who[cause]) = true;
    }

  private:
    const LineProblem &problem;
    Int size;
    OutInts<1> order;
    Array<Int, 1> place;
    std::vector<LineFit> fits;
    std::vector<Neighbourhood> near; // empty: all are candidates
    std::vector<Int> everybody;
    Array<bool, 1> dirty;   // variables that may have a better place
    Array<bool, 1> touched; // fits that changed since the best order
    bool is_constrained = false;
    std::uint64_t drift = 0; // the stream of random numbers of a drift
    Int turn = 0;
    bool is_whole = false;  // whether all variables were visited since the last move
    Scratch work;

    static bool is_stopped(Ints<1> stop) { return *static_cast<const volatile Int *>(stop.data); }

    void settle() {
        for (Int t = 0; t < size; ++t) place[order[t]] = t;
    }

    Candidates whole_of(Int v) const {
        Ints<1> who;
        who.data = everybody.data();
        who.shape[0] = size;
        return {who, problem.covariance, problem.covariance[v], problem.covariance(v, v),
                problem.required[v], problem.rows, problem.price, problem.most};
    }

    Candidates candidates_of(Int v) const {
        if (near.empty()) return whole_of(v);
        const Neighbourhood &own = near[v];
        const Int m = Int(own.who.size());
        Candidates on = whole_of(v);
        on.who.data = own.who.data();
        on.who.shape[0] = m;
        on.covariance.data = own.covariance.data();
        on.covariance.shape[0] = m + 1;
        on.covariance.shape[1] = m + 1;
        on.own = on.covariance[m].slice(0, m);
        return on;
    }

    // The place of a variable among the candidates of another one, -1 if it is none.
    Int among(Int v, Int u) const {
        if (near.empty()) return u == v ? -1 : u;
        const std::vector<Int> &who = near[v].who;
        const auto found = std::lower_bound(who.begin(), who.end(), u);
        return found != who.end() && *found == u ? Int(found - who.begin()) : -1;
    }

    // Make candidates of pairs, either way, and bring the fits along.
    void gather(std::vector<std::vector<Int>> pairs) {
        for (Int v = 0; v < size; ++v) {
            const std::vector<Int> own = pairs[v];
            for (const Int u : own) pairs[u].push_back(v);
            for (Int u = 0; u < size; ++u)
                if (problem.required(v, u)) pairs[v].push_back(u);
        }
        std::vector<std::vector<Int>> causes(static_cast<std::size_t>(size));
        for (Int v = 0; v < size; ++v)
            for (const Int cause : fits[v].causes)
                causes[v].push_back(candidates_of(v).who[cause]);
        near.resize(std::size_t(size));
        for (Int v = 0; v < size; ++v) {
            std::vector<Int> &who = pairs[v];
            std::sort(who.begin(), who.end());
            who.erase(std::unique(who.begin(), who.end()), who.end());
            std::vector<Int> all = who;
            all.push_back(v);
            Neighbourhood &own = near[v];
            own.covariance.resize(all.size() * all.size());
            auto entry = own.covariance.begin();
            for (const Int a : all)
                for (const Int b : all) *entry++ = problem.covariance(a, b);
            own.who = who;
        }
        for (Int v = 0; v < size; ++v)
            for (std::size_t i = 0; i < causes[v].size(); ++i)
                fits[v].causes[i] = among(v, causes[v][i]);
        dirty.fill(true);
    }

    Int first_variable() const {
        Int best = 0;
        double most = -1.0;
        for (Int a = 0; a < size; ++a)
            for (Int b = 0; b < a; ++b) {
                const double both = problem.covariance(a, a) * problem.covariance(b, b);
                if (!(both > 0.0)) continue;
                const double share = problem.covariance(a, b) * problem.covariance(a, b) / both;
                if (share > most && !is_constrained) {
                    most = share;
                    best = b;
                }
            }
        if (!is_constrained) return best;
        Array<bool, 1> nobody(size);
        while (!may_be_next(best, nobody)) ++best;
        return best;
    }

    bool may_be_next(Int v, Bools<1> is_placed) const {
        if (!is_constrained) return true;
        for (Int u = 0; u < size; ++u)
            if (problem.first(u, v) && !is_placed[u]) return false;
        return true;
    }

    Int next_variable(Floats<1> left, Bools<1> is_placed) const {
        Int best = -1;
        double least = INF;
        for (Int v = 0; v < size; ++v) {
            const double rest = left[v] > SAME_COLUMN_BELOW ? left[v] : 0.0;
            if (is_placed[v] || !(rest < least) || !may_be_next(v, is_placed)) continue;
            least = rest;
            best = v;
        }
        return best;
    }

    // Improve a fit of v with the candidates before a place; one of them, if not -1, is there or
    // is not.
    void improve_at(Int v, Int end, Int other, bool is_there, LineFit &fit) {
        const Candidates on = candidates_of(v);
        improve(on, fit, [&](Int candidate) {
            const Int u = on.who[candidate];
            if (u == v || !problem.allowed(v, u)) return false;
            return u == other ? is_there : place[u] < end;
        }, work);
    }

    // The fit of w with v as one more candidate, if that pays; whether it does.
    bool joined(Int w, Int v, Int end, LineFit &fit) {
        const Int candidate = problem.allowed(w, v) ? among(w, v) : -1;
        if (candidate < 0) return false;
        const Candidates on = candidates_of(w);
        work.row.resize(std::size_t(on.most) + 1);
        if (!(gain_of(on, fit, candidate, work.row.data()) > SMALLEST_GAIN)) return false;
        add_cause(on, fit, candidate, work.row.data());
        improve_at(w, end, v, true, fit);
        return true;
    }

    // The place of v among the causes of w, -1 if it is none.
    Int cause_of(Int w, Int v, const LineFit &fit) const {
        const Int candidate = among(w, v);
        for (std::size_t i = 0; i < fit.causes.size(); ++i)
            if (fit.causes[i] == candidate) return Int(i);
        return -1;
    }

    // The fit of w without v as a candidate, if that changes it; whether it does.
    bool parted(Int w, Int v, Int end, LineFit &fit) {
        const Int cause = cause_of(w, v, fit);
        if (cause < 0) return false;
        drop_cause(candidates_of(w), fit, cause);
        improve_at(w, end, v, false, fit);
        return true;
    }

    // The variables that v may pass, by place, next ones first; up or down the order.
    std::vector<Int> passed(Int v, bool is_up) const {
        const Int here = place[v];
        std::vector<Int> places;
        if (near.empty()) {
            if (is_up)
                for (Int t = here - 1; t >= 0; --t) places.push_back(t);
            else
                for (Int t = here + 1; t < size; ++t) places.push_back(t);
        } else {
            for (const Int u : near[v].who)
                if (is_up ? place[u] < here : place[u] > here) places.push_back(place[u]);
            std::sort(places.begin(), places.end());
            if (is_up) std::reverse(places.begin(), places.end());
        }
        if (!is_constrained) return places;
        Int bound = is_up ? -1 : size;
        for (Int u = 0; u < size; ++u) {
            if (is_up && problem.first(u, v)) bound = std::max(bound, place[u]);
            if (!is_up && problem.first(v, u)) bound = std::min(bound, place[u]);
        }
        const auto beyond = std::find_if(places.begin(), places.end(), [&](Int t) {
            return is_up ? t <= bound : t >= bound;
        });
        places.erase(beyond, places.end());
        return places;
    }

    struct Trial {
        Int variable;
        LineFit fit;
    };

    // Put a variable where the score is highest; whether that raised the score. One that drifts goes
    // to a random one of equally good places.
    bool visit(Int v, bool drifts = false) {
        const Int here = place[v];
        double most = 0.0;
        Int equal = 1; // places that are as good as the best one
        Int goal = here;
        LineFit own_best;
        std::vector<Trial> best;
        for (const bool is_up : {true, false}) {
            LineFit own = fits[v];
            std::vector<Trial> trials;
            double others = 0.0;
            bool is_best = false;
            std::size_t count = 0; // trials up to the best place
            for (const Int t : passed(v, is_up)) {
                const Int w = order[t];
                LineFit fit;
                bool is_changed = false;
                if (is_up) {
                    parted(v, w, t, own);
                    if (may_join(w, v)) {
                        fit = fits[w];
                        is_changed = joined(w, v, t, fit);
                    }
                } else {
                    if (cause_of(w, v, fits[w]) >= 0) {
                        fit = fits[w];
                        is_changed = parted(w, v, t, fit);
                    }
                    joined(v, w, t + 1, own);
                }
                if (is_changed) {
                    others += fit.score - fits[w].score;
                    trials.push_back({w, std::move(fit)});
                }
                const double gain = others + own.score - fits[v].score;
                const bool is_better = gain > most + SMALLEST_GAIN;
                if (is_better) equal = 1;
                else if (gain > most - SMALLEST_GAIN) ++equal;
                if (is_better || (drifts && gain > most - SMALLEST_GAIN
                                  && uniform_at(drift, turn++) * double(equal) < 1.0)) {
                    most = is_better ? gain : most;
                    goal = t;
                    own_best = own;
                    is_best = true;
                    count = trials.size();
                }
            }
            if (is_best) {
                trials.resize(count);
                best = std::move(trials);
            }
        }
        if (goal == here) return false;
        move(v, goal);
        take(v, std::move(own_best));
        for (Trial &trial : best) take(trial.variable, std::move(trial.fit));
        return most > 0.0;
    }

    // Whether v would gain a fit of w, without copying it.
    bool may_join(Int w, Int v) {
        const Int candidate = problem.allowed(w, v) ? among(w, v) : -1;
        if (candidate < 0) return false;
        const Candidates on = candidates_of(w);
        work.row.resize(std::size_t(on.most) + 1);
        return gain_of(on, fits[w], candidate, work.row.data()) > SMALLEST_GAIN;
    }

    void move(Int v, Int goal) {
        const Int here = place[v];
        Int *nodes = order.data;
        if (goal < here) std::rotate(nodes + goal, nodes + here, nodes + here + 1);
        else std::rotate(nodes + here, nodes + here + 1, nodes + goal + 1);
        for (Int t = std::min(here, goal); t <= std::max(here, goal); ++t) place[nodes[t]] = t;
    }

    // Take over a fit; who is near it may have a better place now.
    void take(Int v, LineFit fit) {
        const Ints<1> who = candidates_of(v).who;
        for (const Int cause : fits[v].causes) dirty[who[cause]] = true;
        for (const Int cause : fit.causes) dirty[who[cause]] = true;
        fits[v] = std::move(fit);
        touched[v] = true;
        dirty[v] = true;
        if (near.empty()) {
            for (Int w = 0; w < size; ++w)
                if (cause_of(w, v, fits[w]) >= 0) dirty[w] = true;
        } else {
            for (const Int w : who)
                if (cause_of(w, v, fits[w]) >= 0) dirty[w] = true;
        }
    }

    // Give some variables each other's places, `who` in the order of a shuffle, and fit who lost or
    // gained a candidate.
    void shuffle(const std::vector<Int> &who, std::uint64_t stream, Int &number) {
        std::vector<Int> places;
        for (const Int v : who) places.push_back(place[v]);
        std::vector<Int> before(order.begin(), order.end());
        for (Int i = Int(places.size()) - 1; i > 0; --i)
            std::swap(places[i], places[Int(uniform_at(stream, number++) * double(i + 1))]);
        for (std::size_t i = 0; i < who.size(); ++i) order[places[i]] = who[i];
        settle();
        if (is_constrained)
            for (const Int v : who)
                for (Int u = 0; u < size; ++u)
                    if ((problem.first(u, v) && place[u] > place[v])
                        || (problem.first(v, u) && place[v] > place[u])) {
                        std::copy(before.begin(), before.end(), order.begin());
                        settle();
                        return;
                    }
        const auto [low, high] = std::minmax_element(places.begin(), places.end());
        for (Int t = *low; t <= *high; ++t) {
            const Int w = order[t];
            LineFit fit = fits[w];
            const Candidates on = candidates_of(w);
            bool is_changed = false;
            for (Int i = Int(fit.causes.size()) - 1; i >= 0; --i) {
                if (place[on.who[fit.causes[i]]] < t) continue;
                drop_cause(on, fit, i);
                is_changed = true;
            }
            const bool is_moved = before[t] != w;
            if (is_changed || is_moved) {
                improve_at(w, t, -1, false, fit);
                is_changed = true;
            } else {
                for (const Int u : who)
                    if (u != w && place[u] < t && cause_of(w, u, fit) < 0)
                        is_changed = joined(w, u, t, fit) || is_changed;
            }
            if (is_changed) take(w, std::move(fit));
        }
    }
};

// The best order and its score, from an order that is given, shape (p,), or from one by what is
// hardest to explain. The order and its causes, shape (p, p), `[effect, cause]`, are written.
//
// A 1 in `stop` ends the search with the order that it has.
inline double search_lines(const LineProblem &problem, OutInts<1> order, bool is_given,
                           std::uint64_t seed, Ints<1> stop, OutBools<2> causes) {
    LineSearch search(problem, order);
    if (order.size() < 2) return search.total();
    if (!is_given) search.first_order();
    search.screen();
    search.fit_all();
    search.climb(true, stop);
    const Int patience = PATIENCE + PATIENCE_OF_FEW / order.size();
    for (Int round = 0; round <= STIRS_OF_FEW / order.size(); ++round) {
        search.wander(seed + std::uint64_t(2 * round), patience, stop);
        search.stir(seed + std::uint64_t(round), stop);
    }
    search.wander(seed + 1, patience, stop);
    search.release();
    search.climb(true, stop);
    search.write_causes(causes);
    return search.total();
}

// Mark who may matter to whom in a wide table, `near`, shape (p, p), which is symmetric.
//
// `covariance`, shape (blocks, p, p), is that of all rows and of the rows of every context, in
// units in which no variance is more than 1; `rows` and `price`, shape (blocks,), are the rows of a
// block and the price of a cause there. In every block forward selection takes columns at a share
// of the price, of all others, whatever their direction.
inline void screen_lines(Floats<3> covariance, Floats<1> rows, Floats<1> price, Int most,
                         OutBools<2> near) {
    const Int size = covariance.shape[1];
    std::vector<Int> everybody(static_cast<std::size_t>(size));
    std::iota(everybody.begin(), everybody.end(), Int(0));
    Array<bool, 1> nobody(size);
    Scratch work;
    Ints<1> who;
    who.data = everybody.data();
    who.shape[0] = size;
    for (Int block = 0; block < covariance.shape[0]; ++block)
        for (Int v = 0; v < size; ++v) {
            const Floats<2> whole = covariance[block];
            const Candidates on = {who, whole, whole[v], whole(v, v), nobody, rows[block],
                                   SHARE_OF_PRICE * price[block], most};
            LineFit fit = empty_fit(on);
            grow(on, fit, [v](Int u) { return u != v; }, work);
            for (const Int u : fit.causes) near(v, u) = near(u, v) = true;
        }
}

} // namespace cc::line_orders
