// The thresholds of `causalcontext/kernels/limits.py`, which says what each is measured on; a test
// compares both.
#pragma once

namespace cc {

constexpr double COLLINEAR_BELOW = 1e-10;
constexpr double SAME_COLUMN_BELOW = 1e-8;
constexpr double CONSTANT_BELOW = 1e-14;
constexpr double SMALL_COLUMN_BELOW = 1e-10;
constexpr double SMALLEST_VARIANCE = 1e-9;
constexpr long long SPARE_ROWS = 5;
constexpr double PERFECT = 1.0 - 1e-12;
constexpr double TIED = 1e-9;

} // namespace cc
