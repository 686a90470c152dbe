//! Buffers that the kernel works on, and which of them it has: what makes asynchronous I/O safe to use. A slot in flight can be neither
//! touched nor submitted again, and memory that is in flight when its owner goes is never given back.

use std::io;

use super::buffer::Buffers;

pub(super) struct Slots {
    /// Taken only when dropped.
    buffers: Option<Buffers>,
    in_flight: Vec<bool>,
    count: usize,
}

impl Slots {
    pub fn new(slots: usize, slot_size: usize) -> io::Result<Slots> {
        let buffers = Some(Buffers::new(slots, slot_size)?);
        Ok(Slots { buffers, in_flight: vec![false; slots], count: 0 })
    }

    pub fn buffers(&self) -> &Buffers {
        self.buffers.as_ref().expect("taken only when dropped")
    }

    /// A slot's memory, unless it is in flight.
    pub fn slot_mut(&mut self, slot: u32) -> io::Result<&mut [u8]> {
        if self.in_flight.get(slot as usize) != Some(&false) {
            return Err(busy(slot));
        }
        Ok(self.buffers.as_mut().expect("taken only when dropped").slot_mut(slot as usize))
    }

    /// Gives the first `length` bytes of a slot to the kernel, and tells where they are.
    pub fn lend(&mut self, slot: u32, length: u32) -> io::Result<*mut u8> {
        match self.in_flight.get_mut(slot as usize) {
            Some(in_flight) if !*in_flight => *in_flight = true,
            Some(_) | None => return Err(busy(slot)),
        }
        if length as usize > self.buffers().slot_size() {
            self.in_flight[slot as usize] = false;
            return Err(io::Error::other(format!("slot {slot} is smaller than {length} bytes")));
        }
        self.count += 1;
        Ok(self.buffers().pointer(slot as usize))
    }

    /// The kernel is done with a slot. False for one that it didn't have.
    pub fn give_back(&mut self, slot: u32) -> bool {
        let lent = self.in_flight.get_mut(slot as usize).is_some_and(std::mem::take);
        self.count -= usize::from(lent);
        lent
    }

    pub fn in_flight(&self) -> usize {
        self.count
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        if self.count > 0
            && let Some(buffers) = self.buffers.take()
        {
            buffers.abandon();
        }
    }
}

fn busy(slot: u32) -> io::Error {
    io::Error::other(format!("slot {slot} is in flight or doesn't exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_can_not_be_touched() {
        let mut slots = Slots::new(2, 4096).expect("memory");
        slots.slot_mut(1).expect("free")[0] = 7;
        slots.lend(1, 4096).expect("free");
        assert!(slots.slot_mut(1).is_err() && slots.lend(1, 4096).is_err());
        assert!(slots.slot_mut(0).is_ok());
        assert_eq!(slots.in_flight(), 1);
        assert!(slots.give_back(1) && !slots.give_back(1) && !slots.give_back(9));
        assert_eq!((slots.in_flight(), slots.slot_mut(1).expect("free")[0]), (0, 7));
    }

    #[test]
    fn no_slot_is_longer_than_it_is() {
        let mut slots = Slots::new(1, 4096).expect("memory");
        assert!(slots.lend(0, 4097).is_err() && slots.lend(1, 1).is_err());
        assert_eq!(slots.in_flight(), 0);
    }
}
