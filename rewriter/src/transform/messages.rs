//! `remote-jms`: messages by JMS as remote calls, sent and received.
//!
//! Calls are found by what they are given and give, whatever class is named: providers and frameworks wrap each other. K
//! is as in [`around`]; L is another such variable, for what the method has received.
//!
//! | where | code |
//! |---|---|
//! | in front of `send` or `publish` of a message | K = `jmsSending` with it |
//! | behind it, or where an exception has left it | `jmsSent`, `jmsFailed` with K; K = 0 |
//! | in front of `onMessage` | K = `jmsDelivered` with the message |
//! | behind it, or where an exception has left it | the same |
//! | in front of `receive` or `receiveNoWait` | `jmsLeft` with L; L = 0 |
//! | behind it | L = `jmsReceived` with the message |
//! | the exits of a method that has such a call | `jmsLeft`, `jmsBroken` with L |

use super::call_sites::{MEMBER, callees};
use super::method_events::PcRange;
use super::operands::{Above, parameters};
use super::{MethodSite, Transform, Transforms, around};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{DUP, INVOKEINTERFACE, ISTORE};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Messages;

/// A call that is told of. Operands are given without the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    /// It sends a message; others are above it.
    Sends(Above),
    /// It hands one to the program; others are above it.
    Delivers(Above),
    /// It returns one, or null.
    Receives,
}

const PACKAGES: [&[u8]; 2] = [b"Ljakarta/jms/", b"Ljavax/jms/"];

/// What is behind the name of a class of JMS that a descriptor begins with, and the name.
fn of_jms(descriptor: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = PACKAGES.iter().find_map(|package| descriptor.strip_prefix(*package))?;
    let end = rest.iter().position(|&byte| byte == b';')?;
    Some((&rest[..end], &rest[end + 1..]))
}

/// The parameters behind a message.
fn behind_message(parameters: &[u8]) -> Option<&[u8]> {
    of_jms(parameters).filter(|(name, _)| *name == b"Message").map(|(_, rest)| rest)
}

fn told(method: &MemberRef<'_>) -> Option<Told> {
    let parameters = parameters(method)?;
    match method.name {
        b"send" | b"publish" => {
            let destination = |name: &[u8]| [&b"Destination"[..], b"Queue", b"Topic"].contains(&name);
            let rest = match of_jms(parameters) {
                Some((name, rest)) if destination(name) => rest,
                _ => parameters,
            };
            let above = behind_message(rest)?;
            // Priority, time to live and so on.
            let tail = above.strip_prefix(b"IIJ").unwrap_or(above);
            let is_known = tail.is_empty()
                || of_jms(tail).is_some_and(|(name, rest)| name == b"CompletionListener" && rest.is_empty());
            is_known.then(|| Above::of(above).map(Told::Sends))?
        }
        b"onMessage" => {
            let above = behind_message(parameters)?;
            let is_known = above.is_empty()
                || of_jms(above).is_some_and(|(name, rest)| name == b"Session" && rest.is_empty());
            is_known.then(|| Above::of(above).map(Told::Delivers))?
        }
        b"receive" | b"receiveNoWait" if parameters.is_empty() || parameters == b"J" => {
            let result = method.descriptor.rsplit(|&byte| byte == b')').next()?;
            behind_message(result)?.is_empty().then_some(Told::Receives)
        }
        _ => None,
    }
}

impl Transform for Messages {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.remote_jms && !site.is_constructor && !site.calls_of(told).is_empty()
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.remote_jms
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        told(method).map(|_| MEMBER)
    }

    fn may_be_beside(&self, of: &Transforms, pool: &ConstantPool<'_>) -> bool {
        of.remote_jms && callees(pool).any(|(_, method)| told(&method).is_some())
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        edits.need_stack(3);
        edits.least_stack = edits.least_stack.max(3);
        let calls = site.calls_of(told);
        let open = around::number(site, edits)?;
        let received = match calls.iter().any(|(_, told)| *told == Told::Receives) {
            true => Some(around::number(site, edits)?),
            false => None,
        };
        let mut covered: Vec<PcRange> = Vec::new();
        for (pc, told) in calls {
            let is_interface = site.code.code[pc as usize] == INVOKEINTERFACE;
            let behind = pc + if is_interface { 5 } else { 3 };
            edits.sites.remote_calls += 1;
            let (hook, above) = match told {
                Told::Sends(above) => (Hook::JmsSending, above),
                Told::Delivers(above) => (Hook::JmsDelivered, above),
                Told::Receives => {
                    let Some(received) = received else { continue };
                    let left = around::over(site, Snippet::default(), Hook::JmsLeft, received)?;
                    edits.insert(pc, Place::Before, left);
                    let begun = site.call(Hook::JmsReceived, Snippet::default().with(&[DUP]))?;
                    edits.insert(behind, Place::AfterPrevious, begun.with_local(ISTORE, received));
                    continue;
                }
            };
            let begun = site.call(hook, Snippet::default().with(&[DUP]))?.with_local(ISTORE, open);
            above.around(site, edits, pc, begun)?;
            let ended = around::over(site, Snippet::default(), Hook::JmsSent, open)?;
            edits.insert(behind, Place::AfterPrevious, ended);
            covered.push((pc, behind));
        }
        around::caught(site, edits, &covered, Hook::JmsFailed, open)?;
        around::uncaught(site, edits, covered, Hook::JmsFailed, open)?;
        match received {
            Some(number) => around::until_its_end(site, edits, (Hook::JmsLeft, Hook::JmsBroken), number),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::Tag;

    #[test]
    fn calls_are_known_by_what_they_are_given_whatever_class_is_named() {
        let of = |name: &str, descriptor: &str| {
            let method = MemberRef {
                tag: Tag::Methodref,
                class: b"any/Class",
                name: name.as_bytes(),
                descriptor: descriptor.as_bytes(),
            };
            told(&method)
        };
        let none = || Above::default();
        for package in ["jakarta", "javax"] {
            let of = |name: &str, descriptor: &str| {
                of(name, &descriptor.replace("Ljms/", &format!("L{package}/jms/")))
            };
            assert_eq!(of("send", "(Ljms/Message;)V"), Some(Told::Sends(none())));
            assert_eq!(of("publish", "(Ljms/Topic;Ljms/Message;)V"), Some(Told::Sends(none())));
            let timed = "(Ljms/Destination;Ljms/Message;IIJLjms/CompletionListener;)V";
            assert_eq!(of("send", timed), Some(Told::Sends(Above::of(b"IIJLany/Listener;").unwrap())));
            assert_eq!(of("onMessage", "(Ljms/Message;)V"), Some(Told::Delivers(none())));
            let session = of("onMessage", "(Ljms/Message;Ljms/Session;)V");
            assert_eq!(session, Some(Told::Delivers(Above::objects(1))));
            assert_eq!(of("receive", "(J)Ljms/Message;"), Some(Told::Receives));
            assert_eq!(of("receiveNoWait", "()Ljms/Message;"), Some(Told::Receives));
            // The library's own, and others of the same name.
            for (name, descriptor) in [
                ("send", "(Ljms/Destination;Ljava/lang/String;)V"),
                ("send", "(Ljms/Destination;)V"),
                ("send", "(Ljms/Message;Lany/Callback;)V"),
                ("send", "(Ljms/TextMessage;)V"),
                ("onMessage", "(Ljava/lang/String;)V"),
                ("receive", "()V"),
                ("receive", "(Ljava/lang/String;)Ljms/Message;"),
                ("take", "()Ljms/Message;"),
            ] {
                assert_eq!(of(name, descriptor), None, "{name}{descriptor}");
            }
        }
    }
}
