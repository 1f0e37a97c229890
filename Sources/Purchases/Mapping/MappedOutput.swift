package import AppStoreModels

// The members of one line of output. The caller opens the object, adds where the record came from (`source`), and
// closes it.

extension MappedTransaction {
    /// Writes `"transaction":{…},"provenance":{…},"standing":…` into an object that is open, with `"termStart":…` and
    /// `"notes":[…]` if there are any.
    package mutating func writeMembers(
        to writer: inout JSONWriter, _ provenanceText: inout ProvenanceText<TransactionField>
    ) {
        writer.key("transaction")
        payload.write(to: &writer)
        writer.key("provenance")
        provenanceText.write(provenance, to: &writer)
        writer.member("termStart", termStart)
        writer.writeNotes(notes)
        writer.member("standing", standing.rawValue)
    }
}

extension MappedAppTransaction {
    /// Writes `"appTransaction":{…},"provenance":{…},"notes":[…],"standing":…` into an object that is open.
    package mutating func writeMembers(
        to writer: inout JSONWriter, _ provenanceText: inout ProvenanceText<AppTransactionField>
    ) {
        writer.key("appTransaction")
        payload.write(to: &writer)
        writer.key("provenance")
        provenanceText.write(provenance, to: &writer)
        writer.writeNotes(notes)
        writer.member("standing", standing.rawValue)
    }
}

extension MappedRenewalInfo {
    /// Writes `"renewalInfo":{…},"provenance":{…},"notes":[…],"standing":…` into an object that is open.
    package mutating func writeMembers(to writer: inout JSONWriter) {
        writer.key("renewalInfo")
        payload.write(to: &writer)
        writer.key("provenance")
        provenance.write(to: &writer)
        writer.writeNotes(notes)
        writer.member("standing", standing.rawValue)
    }
}

extension JSONWriter {
    /// The names of the notes; no member if there are none.
    package mutating func writeNotes(_ notes: [MappingNote]) {
        guard !notes.isEmpty else { return }
        key("notes")
        beginArray()
        for note in notes { string(note.name) }
        endArray()
    }
}
