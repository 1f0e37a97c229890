import AppStoreServer

extension InAppPurchaseKey {
    /// The key of a `.p8` file as it was downloaded, or of standard input (`-`).
    /// - Throws: ``CommandFailure``, which never quotes the file.
    init(file: String, keyID: String, issuerID: String) throws {
        let text = String(decoding: try InputFile.read(file), as: UTF8.self)
        do throws(InAppPurchaseKeyError) {
            try self.init(pem: text, keyID: keyID, issuerID: issuerID)
        } catch {
            throw CommandFailure("The key \(file) cannot be used: \(error)")
        }
    }
}
