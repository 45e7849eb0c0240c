//! The JSON Schema of `instrument.toml`: the options that the command line has for it, with their words and what they mean.

use crate::options::settings::Opts;
use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, ArgAction, Args, Command};
use instrument_artifacts::settings::{Level, MAX_JOBS};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::num::NonZeroUsize;

/// The dialect, as its authors name it.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema.
pub(crate) fn schema() -> Value {
    let mut options = Opts::augment_args(Command::new("options"));
    options.build();
    // The file that has them names no other.
    let is_key = |option: &&Arg| !["config", "help"].contains(&option.get_id().as_str());
    let mut properties: Map<_, _> = options.get_arguments().filter(is_key).filter_map(property).collect();
    // What `account` was called once.
    properties.insert(
        "report".to_owned(),
        json!({"type": "string", "deprecated": true, "description": "What `account` was called once"}),
    );
    json!({
        "$schema": DIALECT,
        "title": "instrument.toml",
        "description": "Options of `instrument rewrite`, `run` and `attach`: command line over environment over this file",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(option: &Arg) -> Option<(String, Value)> {
    let is_list = matches!(option.get_action(), ArgAction::Append);
    let mut schema = match (is_list, value(option)) {
        (true, items) => json!({"type": "array", "items": items}),
        (false, value) => value,
    };
    let help = option.get_long_help().or(option.get_help()).map(StyledStr::to_string);
    schema["description"] = help?.into();
    Some((option.get_long()?.to_owned(), schema))
}

/// What one value may be.
fn value(option: &Arg) -> Value {
    let parser = option.get_value_parser().type_id();
    if parser == TypeId::of::<bool>() {
        return json!({"type": "boolean"});
    }
    if parser == TypeId::of::<NonZeroUsize>() {
        return json!({"type": "integer", "minimum": 1, "maximum": MAX_JOBS});
    }
    if parser == TypeId::of::<Level>() {
        return json!({"type": "integer", "minimum": Level::all().min(), "maximum": Level::all().max()});
    }
    let words = option.get_possible_values();
    if words.is_empty() {
        return json!({"type": "string"});
    }
    json!({"type": "string", "oneOf": words.iter().map(word).collect::<Vec<_>>()})
}

fn word(word: &PossibleValue) -> Value {
    json!({"const": word.get_name(), "description": word.get_help().map(StyledStr::to_string)})
}
