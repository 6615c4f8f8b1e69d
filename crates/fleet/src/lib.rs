//! Controller and load agent: the one place where a run happens.
