//! The machines: SUT recipes, resource monitor, inventory, doctor.
