/// The handling of a column or member of a record, as in `summary.json`.
public enum MemberFate: String, Sendable, Hashable, CaseIterable {
    /// Read as a receipt, an app receipt or one of iOS 6.
    case readAsReceipt
    /// Read as a verifyReceipt reply, or a part of one.
    case readAsReply
    /// Read as rows of `latest_receipt_info` or `in_app`, or a part of one.
    case readAsRows
    /// Read as a version 1 notification, or a part of one.
    case readAsNotification
    /// Read as a JWS of the App Store.
    case readAsJWS
    /// Read as StoreKit 2 JSON without its signature, or a part of it.
    case readAsStoreKit2JSON
    /// Read as a bare transaction id.
    case readAsTransactionId
    /// A purchase from another store than Apple's.
    case otherStore
    /// Written into the `record` of each line.
    case carriedAlong
    /// Not UTF-8, so it is written into the `record` of each line as `base64:` and its bytes in base64.
    case carriedAsBase64
    /// A document that `--column` excludes. It is not carried along; the caller's own members in it are.
    case leftOut
    /// Neither read nor carried along: a shared secret, a member of Unity's wrapper, an array element without a
    /// document, the value of a user's key without a document.
    case ignored
    /// Empty, in a column with a receipt's name.
    case empty
    /// Not recognized, in a column with a receipt's name.
    case notRecognized
    /// Seems to contain a document that was not read: in a text, wrapped too often, or in the value of a user's key that has none of
    /// the columns of `--column`. There, a row or an id counts too.
    case looksLikeDocument
}

/// A column or member path of a record, and its handling.
package struct MemberPath: Sendable, Hashable {
    /// Names separated by full stops; `[]` means any element of an array. A very long path is truncated.
    package let path: String
    package let fate: MemberFate

    init(_ path: String, _ fate: MemberFate) {
        self.path = path
        self.fate = fate
    }

    /// The path of the whole record.
    static let whole = "(record)"
    /// The path of a whole record that was migrated, except for a document that has no meaning alone.
    static let migrated = "(migrated record)"
    /// The path of a receipt inside a recorded document.
    static let embedded = "(embedded receipt)"

    /// The path, prefixed with the name of its container.
    func inside(_ name: String) -> MemberPath {
        if path == Self.whole { return MemberPath(name, fate) }
        return MemberPath(Self.joined(name, path), fate)
    }

    /// Whether it is the path of a named column, or of a member inside it.
    func isOf(_ column: String) -> Bool { Self.isPath(path, of: column) }

    /// The values of keys have columns of their own: `users.*.receipt`.
    static func isPath(_ path: String, of column: String) -> Bool {
        if isPath(path[...], inside: column) { return true }
        guard let keys = path.firstRange(of: RecordReader.keys + ".") else { return false }
        return isPath(path[keys.upperBound...], inside: column)
    }

    private static func isPath(_ path: Substring, inside column: String) -> Bool {
        path == column || path.hasPrefix(column + ".") || path.hasPrefix(column + "[")
    }

    static func joined(_ name: String, _ path: String) -> String {
        path.isEmpty || path.utf8.first == UInt8(ascii: "[") ? name + path : name + "." + path
    }

    /// The name, truncated if it is very long.
    static func bounded(_ name: String) -> String {
        name.utf8.count <= InputLimits.memberNameBytes
            ? name : String(decoding: name.utf8.prefix(InputLimits.memberNameBytes), as: UTF8.self) + "…"
    }
}
