# SPDX-License-Identifier: Apache-2.0
"""Voice control: frames of recordings are told apart by energy, zero crossings and pitch, one frame a call."""

import numpy as np
from scipy import signal

import harness

# numpy has these sums along an axis; apply_along_axis() is a loop in Python: API misuse.
CATEGORY = "API misuse"
KIND = "load"
RATE, FRAME, HOP = 8000, 240, 80
PRE_EMPHASIS = 0.95


class Speaker:
    def __init__(self, rng):
        self.pitch = float(rng.uniform(90, 230))
        self.formants = rng.uniform((400, 1100), (800, 2300))
        self.breath = float(rng.uniform(0.02, 0.06))

    def say(self, rng, seconds):
        """Syllables: a voiced middle with hisses and pauses about it."""
        count = int(seconds * RATE)
        time = np.arange(count) / RATE
        glide = self.pitch * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * time))
        source = signal.sawtooth(2 * np.pi * np.cumsum(glide) / RATE)
        gate = signal.square(2 * np.pi * 1.6 * time, 0.6) > 0
        voice = source * gate
        for formant in self.formants:
            b, a = signal.iirpeak(formant, 5, RATE)
            voice = 0.6 * voice + signal.lfilter(b, a, voice)
        hiss = rng.normal(0, 1, count) * (signal.square(2 * np.pi * 1.6 * time + 2.2, 0.2) > 0)
        return voice + 0.25 * hiss + rng.normal(0, self.breath, count)


def frames(sound):
    raised = np.append(sound[0], sound[1:] - PRE_EMPHASIS * sound[:-1])
    return np.lib.stride_tricks.sliding_window_view(raised, FRAME)[::HOP]


def crossings(frame):
    return np.count_nonzero(np.signbit(frame[1:]) != np.signbit(frame[:-1]))


def energy(frame):
    return np.log(np.max(frame * frame) + 1e-9)


def features(cut):
    signs = np.apply_along_axis(crossings, 1, cut)  # waste: load
    loud = np.apply_along_axis(energy, 1, cut)  # waste: load
    reach = np.apply_along_axis(np.ptp, 1, cut)  # waste: load
    return signs, loud, reach


def features_fixed(cut):
    below = np.signbit(cut)
    signs = np.count_nonzero(below[:, 1:] != below[:, :-1], axis=1)
    return signs, np.log(np.max(cut * cut, axis=1) + 1e-9), np.ptp(cut, axis=1)


def pitches(cut):
    """By autocorrelation, of all frames at once; in cycles a second."""
    spectra = np.fft.rfft(cut, 512, axis=1)
    lags = np.fft.irfft(spectra.real ** 2 + spectra.imag ** 2, axis=1)[:, RATE // 300:RATE // 70]
    return RATE / (RATE // 300 + lags.argmax(axis=1))


def kinds(signs, loud):
    """0 for silence, 1 for voice, 2 for a hiss; single frames go with their neighbours."""
    quiet = loud < np.median(loud) - 3.0
    found = np.where(quiet, 0, np.where(signs > 70, 2, 1))
    return signal.medfilt(found.astype(float), 5).astype(int)


def work(recordings, measuring):
    rng, rows = np.random.default_rng(643), []
    for _ in range(recordings):
        cut = frames(Speaker(rng).say(rng, 6.0))
        signs, loud, reach = measuring(cut)
        labels = kinds(signs, loud)
        voiced = labels == 1
        pitch = np.median(pitches(cut[voiced])) if voiced.any() else 0.0
        changes = np.count_nonzero(np.diff(labels))
        rows.append([*np.bincount(labels, minlength=3), round(float(pitch), 6), changes, int(signs.sum()),
                     round(float(reach[voiced].sum()), 6)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, features), lambda n: work(n, features_fixed), repeats=270)
