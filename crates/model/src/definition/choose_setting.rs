//! Choosing settings of a family by their names, as they are typed.

use languages::nearest;

use crate::{ChosenSetting, Family, Setting, SettingError};

impl Family {
    /// Reads a setting and its value as they are typed.
    ///
    /// # Errors
    /// The family has no such setting, or the setting no such value.
    pub fn choose_setting(self, name: &str, value: &str) -> Result<ChosenSetting, SettingError> {
        let (setting, item) = self.setting(name)?;
        setting.choose(item, value)
    }

    /// Reads a setting and the values, separated by commas, that it is to have in turn; there is at least one.
    ///
    /// # Errors
    /// The family has no such setting, or the setting has not all of the values.
    pub fn choose_settings(self, name: &str, values: &str) -> Result<Vec<ChosenSetting>, SettingError> {
        let (setting, item) = self.setting(name)?;
        setting.kind.split(values).iter().map(|value| setting.choose(item, value)).collect()
    }

    /// Finds a setting by its name, which an item may follow.
    fn setting(self, name: &str) -> Result<(&'static Setting, &str), SettingError> {
        let (stem, item) = name.split_once('.').unwrap_or((name, ""));
        let found = self.settings().iter().find(|setting| setting.name == stem);
        match found.filter(|setting| setting.has_items() != item.is_empty()) {
            Some(setting) => Ok((setting, item)),
            None => Err(self.unknown_setting(name)),
        }
    }

    fn unknown_setting(self, name: &str) -> SettingError {
        let (stem, _) = name.split_once('.').unwrap_or((name, ""));
        let named = |family: Family| family.settings().iter().find(|setting| setting.name == stem);
        let own: Vec<String> = self.settings().iter().map(Setting::form).collect();
        let list = format!("`{}`", own.join("`, `"));
        let hint = match Family::ALL.into_iter().find(|family| named(*family).is_some()) {
            // The name is right, but an item is missing or too many.
            Some(family) if family == self => {
                format!("write `{}`", named(self).map_or_else(String::new, Setting::form))
            }
            Some(other) => format!("it is a setting of {other} benchmarks; there is {list}"),
            None => match nearest(name, own.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is {list}"),
            },
        };
        SettingError::Unknown { name: name.to_owned(), family: self, hint }
    }
}
