// Signs of life of a kernel that may run for long.
#pragma once

#include <chrono>
#include <functional>

#include "array.hpp"

namespace cc {

// Calls a function about every `SECONDS` of a kernel's time, which may end the kernel by an
// exception: Ctrl-C, the end of a time limit.
class Pulse {
  public:
    explicit Pulse(std::function<void()> function) : beat(std::move(function)) {}

    // Note that so many rows were visited.
    void worked(Int rows) {
        left -= rows + 1;
        if (left > 0) return;
        left = ROWS_BETWEEN_LOOKS;
        const Clock::time_point now = Clock::now();
        if (std::chrono::duration<double>(now - last).count() < SECONDS) return;
        last = now;
        beat();
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr double SECONDS = 0.05;
    static constexpr Int ROWS_BETWEEN_LOOKS = 1 << 19; // about a millisecond of work
    std::function<void()> beat;
    Clock::time_point last = Clock::now();
    Int left = ROWS_BETWEEN_LOOKS;
};

} // namespace cc
