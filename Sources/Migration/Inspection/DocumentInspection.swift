package import AppStoreModels
package import AppStoreServer
package import LegacyReceipts
import Purchases

/// A document other than a receipt, or a receipt within JSON: its kind, and the result of each check.
package struct DocumentInspection: Sendable {
    /// The document.
    package enum Content: Sendable {
        case receipt(ReceiptInspection)
        /// A receipt that cannot be read.
        case unreadable(ReceiptError)
        case signedData(SignedDataInspection)
        case recorded(RecordedInspection)
    }

    /// The path of the document in the input: names of members separated by full stops, `[]` for any element. Empty if the
    /// input is the document.
    package let path: String
    package let content: Content

    /// Whether the document is genuine: `notGenuine` for unsigned documents too.
    package var verdict: ReceiptError.Verdict? {
        switch content {
        case .receipt(let inspection):
            if case .failure(let error) = inspection.verdict { error.verdict } else { nil }
        case .unreadable(let error): error.verdict
        case .signedData(let inspection): inspection.error?.verdict
        case .recorded: .notGenuine
        }
    }
}

/// A document without a signature: a recorded verifyReceipt reply, rows of one, a version 1 notification, or StoreKit 2 JSON.
package struct RecordedInspection: Sendable {
    /// One check and its outcome.
    package struct Check: Sendable {
        package enum Name: String, Sendable {
            /// Every value that migrate reads can be read.
            case content
            /// Always fails, because the document is unsigned.
            case signature
            /// A receipt in the document is genuine.
            case embeddedReceipt
            /// A genuine receipt in the document is of the same app.
            case bundleId
        }

        package let name: Name
        /// Why it failed; nil if it passed.
        package let failure: String?
    }

    /// As `migrate` counts it.
    package let kind: RecordKind
    package let value: JSONValue
    package let checks: [Check]
    /// The receipts in it, the newest first, by key.
    package let receipts: [(key: String, content: DocumentInspection.Content)]
}

/// Finds the documents in an input as `migrate` does, and inspects each. Signatures are verified at the date of
/// signing.
package struct DocumentInspector: Sendable {
    let receipts: ReceiptVerifier
    let signedData: StoredSignedDataVerifier
    private let bundleId: String?

    /// - Parameters:
    ///   - trust: the policy for receipts.
    ///   - signedData: the trust anchors for JWS; nil for the roots of `trust`, with its setting for Xcode.
    ///   - bundleId: the app that a JWS must have; nil for any app.
    /// - Throws: `ReceiptError` or `SignedDataError` for a certificate that cannot be read.
    package init(trust: TrustPolicy, signedData: SignedDataTrust? = nil, bundleId: String? = nil) throws {
        receipts = try ReceiptVerifier(trust: trust)
        self.signedData = try StoredSignedDataVerifier(trust: signedData ?? SignedDataTrust(trust))
        self.bundleId = bundleId
    }

    /// The documents in an input; empty if the input itself is a receipt, or if nothing is recognized.
    package func documents(in bytes: [UInt8]) -> [DocumentInspection] {
        let recognized = RecordReader().read(text: bytes[...], depth: 0)
        let isWhole = isWhole(bytes)
        return recognized.payload.documents.compactMap { document in
            inspect(document.payload, isWhole: isWhole).map {
                DocumentInspection(path: document.path, content: $0)
            }
        }
    }

    /// Whether the input is text in one of the forms of a receipt, not JSON around one.
    private func isWhole(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            guard let first = bytes.firstNonWhiteSpace().map({ bytes[$0] }) else { return true }
            let beginsJSON = [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\"")].contains(first)
            return !beginsJSON || StoredText.beginsPropertyList(bytes)
        }
    }

    private func inspect(_ payload: InputPayload, isWhole: Bool) -> DocumentInspection.Content? {
        switch payload {
        case .receipt(let bytes): isWhole ? nil : .some(receipt(Array(bytes)))
        case .jws(let text): .signedData(signedData.inspect(String(decoding: text, as: UTF8.self), bundleId: bundleId))
        case .reply(let value): .recorded(recorded(.verifyReceiptReply, value))
        case .transactions(let value): .recorded(recorded(.latestReceiptInfo, value))
        case .notification(let value): .recorded(recorded(.notificationV1, value))
        case .storeKit2(let object, let kind): .recorded(recorded(object, kind))
        case .transactionID, .several, .unrecognized: nil
        }
    }

    /// An input in which ``documents(in:)`` finds none, as the receipt that it may be. Other JSON is unreadable, although it
    /// begins like a property list.
    package func content(of bytes: [UInt8], device: DeviceIdentifier? = nil) -> DocumentInspection.Content {
        if Self.isOtherJSON(bytes) {
            return .unreadable(ReceiptError(.unrecognizedInput, "the JSON contains no document of the App Store"))
        }
        return receipt(bytes, device)
    }

    /// Whether the bytes are a JSON array, or a JSON object without the members of a transaction receipt.
    private static func isOtherJSON(_ bytes: [UInt8]) -> Bool {
        switch try? JSONValue.parse(bytes) {
        case .array?: true
        case .object(let object)?: object["signature"] == nil && object["purchase-info"] == nil
        default: false
        }
    }

    private func receipt(_ bytes: [UInt8], _ device: DeviceIdentifier? = nil) -> DocumentInspection.Content {
        do throws(ReceiptError) {
            return .receipt(receipts.inspect(try ReceiptContainer(stored: bytes), device: device))
        } catch {
            return .unreadable(error)
        }
    }

    // MARK: Documents without a signature

    private static let unsigned = RecordedInspection.Check(
        name: .signature, failure: "The document is not signed, so it proves nothing.")

    private func recorded(_ kind: RecordKind, _ value: JSONValue) -> RecordedInspection {
        var checks: [RecordedInspection.Check] = []
        var embedded: [(key: String, content: DocumentInspection.Content)] = []
        do throws(RecordedReplyError) {
            embedded = try RecordedReply(value).embeddedReceipts.map { ($0.key, receipt(Array($0.text.utf8))) }
            checks.append(.init(name: .content, failure: nil))
        } catch {
            checks.append(.init(name: .content, failure: error.message))
        }
        checks.append(Self.unsigned)
        let app = value["receipt"]?["bundle_id"]?.string ?? value["receipt"]?["bid"]?.string ?? value["bid"]?.string
        for (key, content) in embedded {
            guard case .receipt(let inspection) = content, case .success = inspection.verdict else {
                checks.append(.init(name: .embeddedReceipt, failure: "\(key) is not a genuine receipt."))
                continue
            }
            checks.append(.init(name: .embeddedReceipt, failure: nil))
            guard let app, let signed = inspection.receipt?.payload.bundleId else { continue }
            let failure = signed == app ? nil : "The document states \(app), and \(key) is of \(signed)."
            checks.append(.init(name: .bundleId, failure: failure))
        }
        return RecordedInspection(kind: kind, value: value, checks: checks, receipts: embedded)
    }

    private func recorded(_ object: JSONObject, _ kind: StoreKit2Kind) -> RecordedInspection {
        var content = RecordedInspection.Check(name: .content, failure: nil)
        do throws(SignedDataReader.Refused) {
            _ = try RecordedStoreKit2(object, kind)
        } catch {
            content = .init(name: .content, failure: error.reason.message)
        }
        return RecordedInspection(
            kind: .storeKit2JSON, value: .object(object), checks: [content, Self.unsigned], receipts: [])
    }
}
