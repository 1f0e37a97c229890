package import AppStoreModels

/// The JSON of the provenance that was written last. Purchases of one kind have the same provenance, one after the other,
/// for millions of lines: it is made once and copied from then on.
package struct ProvenanceText<Field: MappedField>: Sendable {
    private var provenance: FieldProvenance<Field>?
    private var json: [UInt8] = []

    package init() {}

    /// Writes `{"transactionId":"attribute 1703",…}` as the next value.
    package mutating func write(_ provenance: FieldProvenance<Field>, to writer: inout JSONWriter) {
        if self.provenance?.isWrittenAs(provenance) != true {
            var own = JSONWriter()
            provenance.write(to: &own)
            json = own.bytes
            self.provenance = provenance
        }
        writer.raw(json)
    }
}
