internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases
internal import TransactionStore

/// A genuine submitted receipt.
struct Submission {
    let entry: ReceiptCache.Entry
    let text: ReceiptText

    var receipt: Verified<LegacyReceipt> { entry.receipt }
    /// The facts for the store; nil without a store, or if the receipt has none.
    var facts: FactSet? { entry.facts }
}

/// Reads a receipt from `receipt-data` in the order of Reference.md V1.6: base64 and container, environment, signature.
struct SubmissionReader: Sendable {
    let verifier: ReceiptVerifier
    let decoder: ReceiptDecoder
    let isLenient: Bool
    let acceptsXcodeReceipts: Bool
    let cache: ReceiptCache
    /// Whether there is a store.
    let hasStore: Bool

    /// - Throws: ``Refusal``
    func container(_ text: ArraySlice<UInt8>) throws -> ReceiptContainer {
        do {
            return isLenient
                ? try ReceiptContainer(stored: text, limits: decoder.limits)
                : try ReceiptContainer(requestText: text, limits: decoder.limits)
        } catch {
            throw Self.refusal(error)
        }
    }

    /// The reply contains the submitted text only if it is the receipt's canonical form.
    ///
    /// - Parameters:
    ///   - container: the decoded container.
    ///   - name: the SHA-256 of the container's bytes.
    ///   - text: the submitted text.
    ///   - endpoint: the environment of the endpoint.
    /// - Throws: ``Refusal``
    func submission(
        _ container: ReceiptContainer, _ name: Fingerprint, text: ArraySlice<UInt8>, at endpoint: EndpointEnvironment
    ) throws -> Submission {
        var submitted = isLenient ? ReceiptText.bytes(container.bytes) : .verbatim(text)
        if let known = cache.entry(name) {
            try Self.checkEnvironment(ofGenuine: known.receipt.payload, at: endpoint)
            return Submission(entry: known, text: submitted)
        }
        var (receipt, bytes, name) = (try verified(container, at: endpoint), container.bytes, name)
        let canonical = receipt.canonicalBytes(of: bytes)
        if canonical != bytes {
            // Unsigned bytes are never stored, so the receipt is read again without them.
            submitted = .bytes(canonical)
            name = Fingerprint(of: canonical)
            if let known = cache.entry(name) { return Submission(entry: known, text: submitted) }
            let again = try decoded(canonical)
            (receipt, bytes) = (try verified(again, at: endpoint), canonical)
        }
        let facts = hasStore ? FactSet(receipt, canonicalBytes: bytes, hash: name) : nil
        let entry = ReceiptCache.Entry(receipt: receipt, facts: facts, bytes: bytes, name: name)
        cache.insert(entry, name)
        return Submission(entry: entry, text: submitted)
    }

    private func decoded(_ bytes: [UInt8]) throws -> ReceiptContainer {
        do {
            return try ReceiptContainer(stored: bytes, limits: decoder.limits)
        } catch {
            throw Self.refusal(error)
        }
    }

    private func verified(
        _ container: ReceiptContainer, at endpoint: EndpointEnvironment
    ) throws -> Verified<LegacyReceipt> {
        do {
            let receipt = try verifier.verify(container)
            if receipt.payload.environment == .xcode, !acceptsXcodeReceipts {
                throw Refusal(.xcodeReceipt, ReceiptError(.xcodeReceipt).message)
            }
            try Self.checkEnvironment(ofGenuine: receipt.payload, at: endpoint)
            return receipt
        } catch let error as ReceiptError {
            guard error.verdict == .notGenuine else { throw Self.refusal(error) }
            // The environment is checked before the signature: a receipt of the other environment is not verified here.
            let claim = try? decoder.decode(container).payload
            let isXcode = error.code == .xcodeReceipt || claim?.environment == .xcode
            if isXcode, !acceptsXcodeReceipts { throw Refusal(.xcodeReceipt, error.message) }
            if let claim { try Self.checkEnvironment(of: claim, at: endpoint) }
            throw Refusal(.notGenuine, error.message)
        }
    }

    private static func refusal(_ error: ReceiptError) -> Refusal {
        switch error.code {
        case .empty, .invalidBase64: Refusal(.receiptDataNotBase64, error.message)
        case .tooLarge: Refusal(.receiptTooLarge, error.message)
        default: Refusal(.notAReceipt, error.message)
        }
    }

    /// The same for a verified receipt: the refusal names its app, which logs and metrics may contain then.
    private static func checkEnvironment(ofGenuine receipt: LegacyReceipt, at endpoint: EndpointEnvironment) throws {
        do {
            try checkEnvironment(of: receipt, at: endpoint)
        } catch let refusal as Refusal {
            var named = refusal
            named.genuineBundleId = receipt.bundleId
            throw named
        }
    }

    /// - Throws: ``Refusal`` with 21007 or 21008.
    static func checkEnvironment(of receipt: LegacyReceipt, at endpoint: EndpointEnvironment) throws {
        let environment = EndpointEnvironment(of: receipt)
        guard environment != endpoint else { return }
        if case .transaction(let transaction) = receipt, transaction.hasEnvironmentContradiction {
            throw Refusal(
                .contradictoryEnvironment, "The unsigned environment contradicts the signed transaction id.")
        }
        throw environment == .sandbox
            ? Refusal(.sandboxAtProduction, "A sandbox receipt was sent to production.")
            : Refusal(.productionAtSandbox, "A production receipt was sent to the sandbox.")
    }
}

extension EndpointEnvironment {
    /// The endpoint that is responsible for a receipt.
    ///
    /// - `ProductionVPPSandbox` is sandbox, by its name (Reference.md V1.5). Accepted receipts of Xcode are sandbox too.
    /// - An unknown receipt type is production if its name begins with `Production` and does not end with `Sandbox`.
    /// - The oldest Mac receipts have no type. A sandbox receipt has the app id 0, so another id means production.
    /// - Everything else is sandbox, so that a doubtful receipt never becomes a real purchase.
    /// - A transaction receipt whose unsigned environment contradicts its transaction id is sandbox (Reference.md V7.5).
    init(of receipt: LegacyReceipt) {
        if let environment = receipt.environment {
            self = environment == .production ? .production : .sandbox
            return
        }
        guard case .app(let app) = receipt else {
            self = .sandbox
            return
        }
        let isProduction =
            if let name = app.receiptType?.rawValue {
                name.hasPrefix("Production") && !name.hasSuffix("Sandbox")
            } else {
                (app.appItemId ?? 0) != 0
            }
        self = isProduction ? .production : .sandbox
    }
}
