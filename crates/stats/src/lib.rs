//! Histograms, moments, laws and fits, every formula with its source.
