package import AppStoreModels

/// A cache of the JSON of recent provenances. Millions of lines share a few provenances, so the JSON of each is written
/// once and then copied.
package struct ProvenanceText<Field: PayloadField>: Sendable {
    private struct Entry {
        let provenance: FieldProvenance<Field>
        let json: [UInt8]
    }

    private static var maximumEntries: Int { 16 }

    private var entries: [Entry] = []
    /// The entry that is replaced next when the cache is full.
    private var oldest = 0

    package init() {}

    /// Writes `{"transactionId":"attribute 1703",…}` as the next value.
    package mutating func write(_ provenance: FieldProvenance<Field>, to writer: inout JSONWriter) {
        for index in entries.indices where entries[index].provenance.isWrittenAs(provenance) {
            return writer.raw(entries[index].json)
        }
        guard provenance.isRepeatable else { return provenance.write(to: &writer) }
        var own = JSONWriter()
        provenance.write(to: &own)
        let entry = Entry(provenance: provenance, json: own.finish())
        if entries.count < Self.maximumEntries {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.maximumEntries
        }
        writer.raw(entry.json)
    }
}
