internal import AppStoreModels

/// A parsed request (Reference.md V1.2).
struct VerifyReceiptRequest {
    /// The text of `receipt-data` without JSON escapes. If it has none, this is a slice of the body, so that nothing is
    /// copied.
    let receiptText: ArraySlice<UInt8>
    let password: Password
    let excludesOldTransactions: Bool

    /// The `password` of the request.
    enum Password: Equatable {
        /// No key, `null`, or an empty text.
        case missing
        case text(String)
        /// A value that is not a string. It is present, but cannot be a secret.
        case unreadable
    }

    /// Reads a JSON body. It ignores the Content-Type (Reference.md V1.3) and unknown keys, and takes the last of repeated keys
    /// (C3).
    static func read(_ body: [UInt8]) -> Result<VerifyReceiptRequest, Refusal> {
        let members: RequestMembers
        do throws(JSONReadingError) {
            members = try RequestMembers(body[...], ["receipt-data", "password", "exclude-old-transactions"])
        } catch {
            let isOtherValue = error.code == .notAContainer
            return .failure(
                Refusal(.bodyNotJSON, isOtherValue ? "The body is JSON, but not an object." : error.message))
        }
        guard let kind = members.kind("receipt-data"), kind != .null else {
            return .failure(Refusal(.receiptDataMissing, "The body has no receipt-data."))
        }
        guard let text = members.string("receipt-data") else {
            return .failure(Refusal(.receiptDataNotText, "receipt-data is not a string."))
        }
        return .success(
            VerifyReceiptRequest(
                receiptText: text, password: password(members), excludesOldTransactions: excludesOld(members)))
    }

    private static func password(_ members: RequestMembers) -> Password {
        guard let kind = members.kind("password"), kind != .null else { return .missing }
        guard let text = members.string("password") else { return .unreadable }
        return text.isEmpty ? .missing : .text(String(decoding: text, as: UTF8.self))
    }

    /// `true`, or the string that some clients send for it (Reference.md V1.2). Every other value means false.
    private static func excludesOld(_ members: RequestMembers) -> Bool {
        let name: StaticString = "exclude-old-transactions"
        let value = members.string(name) ?? members.value(name)
        return value?.elementsEqual("true".utf8) ?? false
    }
}
