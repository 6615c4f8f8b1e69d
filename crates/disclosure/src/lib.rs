//! The disclosure report: document model, sections, charts, renderers.
