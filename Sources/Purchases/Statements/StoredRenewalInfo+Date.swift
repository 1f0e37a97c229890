extension StoredRenewalInfo {
    /// When the document that the payload is of was signed, or, where nobody signed it, recorded. A payload that was
    /// recorded does not say it itself.
    package var statedDate: Int64? {
        let origin =
            origins.first { $0.source.kind == .signedTransaction } ?? origins.first { $0.source.kind.isSigned }
            ?? origins.first
        return origin?.signedDate
    }
}
