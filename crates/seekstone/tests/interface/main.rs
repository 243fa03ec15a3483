//! What users type, read, send and script, whatever is measured.

mod arguments;
mod baselines;
mod browser;
mod cli;
mod container;
mod devices;
mod documents;
mod environments;
mod exports;
mod goals;
mod help;
mod homeless;
mod hostile;
mod interruption;
mod kinds;
mod limits;
mod outputs;
mod pipes;
mod profiles;
mod readers;
mod repeat;
mod serve;
mod signals;
mod simulations;
mod systems;
mod watch_recipes;
mod written;

#[path = "../support/mod.rs"]
mod support;
