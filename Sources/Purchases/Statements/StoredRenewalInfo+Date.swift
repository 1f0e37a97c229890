extension StoredRenewalInfo {
    /// When the document that states the payload was signed or, if it is unsigned, recorded. A recorded payload does
    /// not state its date.
    package var statedDate: Int64? {
        let origin =
            origins.first { $0.source.kind == .signedTransaction } ?? origins.first { $0.source.kind.isSigned }
            ?? origins.first
        return origin?.signedDate
    }
}
