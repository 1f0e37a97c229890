package import Purchases

/// The identities of a ``VerifiedReceipt`` as one value of a table: one line for each, its kind and its value. A meaningful
/// value is printable ASCII, so it has no line feed.
package enum StoredIdentities {
    package static func encode(_ identities: [CustomerIdentity]) -> [UInt8] {
        var bytes: [UInt8] = []
        for identity in identities {
            bytes.append(contentsOf: "\(identity.kind.rawValue) ".utf8)
            bytes.append(contentsOf: identity.value.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package static func decode(_ bytes: some Collection<UInt8>) throws -> [CustomerIdentity] {
        try bytes.split(separator: UInt8(ascii: "\n")).map { line in
            guard let space = line.firstIndex(of: UInt8(ascii: " ")),
                let kind = Int64(String(decoding: line[..<space], as: UTF8.self))
            else { throw TransactionStoreError(.corrupt, "A verified receipt has an identity without a kind.") }
            return try CustomerIdentity(
                storedKind: kind, String(decoding: line[line.index(after: space)...], as: UTF8.self))
        }
    }
}

extension VerifiedReceipt {
    /// - Parameters:
    ///   - key: the key of the receipt.
    ///   - scope: the app and the environment.
    ///   - form: the number of the form.
    ///   - identities: the bytes that ``StoredIdentities`` wrote.
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package init(key: [UInt8], scope: StoreScope, form: Int64, identities: some Collection<UInt8>) throws {
        guard let known = Int(exactly: form).flatMap(KnownReceipt.Form.init(rawValue:)) else {
            throw TransactionStoreError(.corrupt, "A verified receipt has an unknown form.")
        }
        self.init(key: key, scope: scope, form: known, identities: try StoredIdentities.decode(identities))
    }
}

extension UserClaim {
    /// - Parameters:
    ///   - scope: the app and the environment.
    ///   - kind: the number of the kind of the identity.
    ///   - value: the value of the identity.
    ///   - userId: the caller's id of the user.
    ///   - carried: the carried columns, as stored.
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package init(scope: StoreScope, kind: Int64, value: String, userId: String, carried: String) throws {
        let identity = try CustomerIdentity(storedKind: kind, value)
        self.init(scope: scope, identity: identity, userId: userId, carried: carried)
    }
}
