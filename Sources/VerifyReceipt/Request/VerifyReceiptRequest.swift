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
}

extension VerifyReceiptRequest {
    /// Reads a JSON body. It ignores the Content-Type (Reference.md V1.3) and unknown keys, and takes the last of repeated keys
    /// (C3).
    static func read(_ body: [UInt8]) -> Result<VerifyReceiptRequest, Refusal> {
        let members: Members
        do throws(JSONReadingError) {
            members = try Members.read(body)
        } catch {
            let isOtherValue = error.code == .notAContainer
            return .failure(
                Refusal(.bodyNotJSON, isOtherValue ? "The body is JSON, but not an object." : error.message))
        }
        guard let data = members.receiptData, data.kind != .null else {
            return .failure(Refusal(.receiptDataMissing, "The body has no receipt-data."))
        }
        guard data.kind == .string else {
            return .failure(Refusal(.receiptDataNotText, "receipt-data is not a string."))
        }
        return .success(
            VerifyReceiptRequest(
                receiptText: text(data, in: body), password: password(members.password, in: body),
                excludesOldTransactions: flag(members.excludeOldTransactions, in: body)))
    }

    /// The content of a string member. Removing escapes only makes it shorter, so the body's limit bounds it.
    private static func text(_ member: JSONMember, in body: [UInt8]) -> ArraySlice<UInt8> {
        let content = member.content
        guard member.hasEscapes else { return body[content] }
        return body.withUnsafeBufferPointer {
            JSONStringScan.unescaped(UnsafeBufferPointer(rebasing: $0[content]))[...]
        }
    }

    private static func password(_ member: JSONMember?, in body: [UInt8]) -> Password {
        guard let member, member.kind != .null else { return .missing }
        guard member.kind == .string else { return .unreadable }
        let text = String(decoding: text(member, in: body), as: UTF8.self)
        return text.isEmpty ? .missing : .text(text)
    }

    /// `true`, or the string that some clients send for it (Reference.md V1.2). Every other value means false.
    private static func flag(_ member: JSONMember?, in body: [UInt8]) -> Bool {
        guard let member else { return false }
        switch member.kind {
        case .bool: return body[member.value].elementsEqual("true".utf8)
        case .string: return text(member, in: body).elementsEqual("true".utf8)
        default: return false
        }
    }
}

/// The three members that are used, as ranges of the body.
private struct Members {
    var receiptData: JSONMember?
    var password: JSONMember?
    var excludeOldTransactions: JSONMember?

    static func read(_ body: [UInt8]) throws(JSONReadingError) -> Members {
        let outcome = body.withUnsafeBufferPointer { bytes -> Result<Members, JSONReadingError> in
            do throws(JSONReadingError) { return .success(try scan(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    private static func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONReadingError) -> Members {
        var members = Members()
        var scanner = try JSONMemberScanner(bytes)
        guard scanner.isObject else { throw JSONReadingError(code: .notAContainer, offset: 0) }
        while let member = try scanner.next() {
            guard let key = member.key else { continue }
            if key.matches("receipt-data", in: bytes) {
                members.receiptData = member
            } else if key.matches("password", in: bytes) {
                members.password = member
            } else if key.matches("exclude-old-transactions", in: bytes) {
                members.excludeOldTransactions = member
            }
        }
        return members
    }
}

extension JSONStringToken {
    /// Whether the text of a name or string token equals this one. The token may contain escapes.
    func matches(_ name: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let content = UnsafeBufferPointer(rebasing: bytes[content])
        return name.withUTF8Buffer { name in
            hasEscapes ? JSONStringScan.unescaped(content).elementsEqual(name) : content.elementsEqual(name)
        }
    }
}
