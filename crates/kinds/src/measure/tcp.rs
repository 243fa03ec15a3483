//! `tcp`: one stream of bytes from a sender to a receiver, both ours: what window and link allow.

use std::net::IpAddr;

use network::tcp::{StreamPlan, send_stream};
use results::Reading;
use results::metric::{IDLE_ROUND_TRIP, RECEIVER_CPU, SENDER_CPU, TCP_RATE, TCP_ROUND_TRIP};
use units::Bytes;

use super::Stop;
use super::form::ValueForm;
use super::kind::{Kind, Measuring, made, settings};
use super::net::{self, byte_rate, cpu_per_mib};
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::{SettingFault, Settings};

pub const KIND: Kind = Kind {
    name: "tcp",
    about: "one TCP stream, sender and receiver both of this program",
    settings: settings! {
        /// the receiver's own address, by which the sender reaches it
        address = ValueForm::Text("ADDRESS").or("127.0.0.1"),
        /// the network namespace of the receiver. The one that the program runs in when not given
        receiver = ValueForm::Text("NAME").optional(),
        /// the network namespace of the sender. The one that the program runs in when not given
        sender = ValueForm::Text("NAME").optional(),
        /// bytes sent
        size = net::SIZE.or("16MiB"),
        window = net::WINDOW,
        congestion = net::CONGESTION,
        buffer = net::BUFFER,
        timeout = net::TIMEOUT,
    },
    readings: &[
        TCP_RATE,
        IDLE_ROUND_TRIP,
        TCP_ROUND_TRIP,
        SENDER_CPU,
        RECEIVER_CPU,
    ],
    targets: net::not_used("the stream from sender to receiver is measured"),
    in_place: None,
    is_command: false,
    make: |settings| made(Tcp::from_settings(settings)),
};

/// A stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcp {
    plan: StreamPlan,
}

impl Tcp {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let address: String = settings.value("address");
        let receiver: IpAddr = address.parse().map_err(|_| {
            let why = format!("address = {address:?}: write it in numbers, such as 10.90.0.2");
            SettingFault::at("address", why)
        })?;
        if receiver.is_unspecified() || receiver.is_multicast() {
            let why = format!("address = {address:?}: no host has it. Write the receiver's own");
            return Err(SettingFault::at("address", why));
        }
        Ok(Self {
            plan: StreamPlan {
                receiver,
                receiver_space: settings.optional("receiver"),
                sender_space: settings.optional("sender"),
                bytes: settings.value::<Bytes>("size").0,
                buffer: net::buffer(settings),
                socket: net::socket(settings),
                timeout: net::timeout(settings),
            },
        })
    }
}

impl Measuring for Tcp {
    fn check(&self, _: &ReplicateContext) -> Result<()> {
        net::check_socket(&self.plan.socket)
    }

    fn measure(&self, _: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let is_stopped = || stop.is_raised().is_some();
        let outcome = send_stream(&self.plan, &is_stopped)
            .map_err(|error| MeasureError::Usage(error.to_string()))?;
        if outcome.is_stopped {
            return Err(net::stopped(stop));
        }
        if let Some(fault) = outcome.fault {
            return Err(MeasureError::Failed(fault));
        }
        Ok(vec![
            byte_rate(TCP_RATE, outcome.bytes, outcome.elapsed),
            IDLE_ROUND_TRIP.reading(outcome.idle_round_trip.as_secs_f64()),
            TCP_ROUND_TRIP.reading(outcome.round_trip.as_secs_f64()),
            cpu_per_mib(SENDER_CPU, outcome.sender_cpu, outcome.bytes),
            cpu_per_mib(RECEIVER_CPU, outcome.receiver_cpu, outcome.bytes),
        ])
    }
}
