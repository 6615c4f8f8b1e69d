//! One directory per benchmark: definition, users, data set, rules.
