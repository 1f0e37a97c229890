import AppStoreModels
import LegacyReceipts

/// Holds one receipt against its `expected.json`. Every key there is checked by something in here.
struct FixtureChecks {
    let name: String
    let receipt: [UInt8]
    let isBase64: Bool
    let expected: JSONValue

    private static let keys: Set = [
        "verdict", "reason", "kind", "environment", "environment_contradiction", "validated_at_ms",
        "strict_base64_refuses", "needs_root_certificate", "genuine_for_xcode", "device_guid", "receipt",
        "other_attributes", "unknown_attributes",
    ]

    /// Where the forge names the fault in another word than the library: both are true of the bytes.
    private static let otherWords: [String: ReceiptError.Code] = [
        // Names alone lead to the trusted root; the first signature on the way does not hold.
        "impostor-root": .certificateSignatureMismatch,
        // Paths are of exactly three certificates, so a longer one is not followed as far as its constraints.
        "leaf-under-developer": .untrustedRoot, "path-too-long": .untrustedRoot,
        // Told apart from receipts by the first bytes already.
        "bare-content": .unrecognizedInput, "certificate": .unrecognizedInput,
        // Every text can only be base64 or a property list, and is refused as the one that it looks like.
        "plain-text": .invalidBase64, "jws": .invalidBase64, "random-bytes": .invalidBase64,
        "json": .malformedPropertyList, "html": .malformedPropertyList,
    ]

    private var isGenuine: Bool { expected["verdict"]?.string == "genuine" }

    /// Sentences about what is not as expected.
    func problems() throws -> [String] {
        guard let members = expected.object?.members else { return ["expected.json is no object"] }
        let unknown = members.filter { !Self.keys.contains($0.key) }.map { "\($0.key): nobody checks this key" }
        let decoded = try? ReceiptDecoder().decode(stored: receipt).payload
        return try unknown + verdictProblems() + otherVerifierProblems() + transportProblems()
            + factProblems(decoded)
    }

    // MARK: Verdict

    private func verdictProblems() throws -> [String] {
        do {
            let verified = try FixtureTrust.verifier.get().verify(stored: receipt)
            guard isGenuine else { return ["verdict: expected \(expected["verdict"] ?? .null), found genuine"] }
            let time = JSONValue.string(String(verified.evidence.validationTime))
            let isTimeRight = expected["validated_at_ms"] == nil || expected["validated_at_ms"] == time
            return remarkProblems(verified.payload)
                + (isTimeRight ? [] : ["validated_at_ms: found \(verified.evidence.validationTime)"])
        } catch let error as ReceiptError {
            guard expected["verdict"] == .string(error.verdict.rawValue) else {
                return ["verdict: expected \(expected["verdict"] ?? .null), found \(error.verdict): \(error.message)"]
            }
            let reason = Self.otherWords[name]?.rawValue ?? expected["reason"]?.string
            return reason == error.code.rawValue ? [] : ["reason: expected \(reason ?? "none"), found \(error.code)"]
        }
    }

    /// What `reason` says of genuine receipts.
    private func remarkProblems(_ receipt: LegacyReceipt) -> [String] {
        let isTrue =
            switch (expected["reason"]?.string, receipt) {
            case ("genuine", .app(let app)): app.trailingByteCount == 0
            case ("genuine", .transaction(let transaction)): !transaction.hasEnvironmentContradiction
            case ("trailingBytes", .app(let app)): app.trailingByteCount > 0
            case ("environmentContradiction", .transaction(let transaction)): transaction.hasEnvironmentContradiction
            // That the next second is too late is another case's business.
            case ("lastSecond", .app): true
            default: false
            }
        return isTrue ? [] : ["reason: \(expected["reason"] ?? .null) is not so"]
    }

    private func otherVerifierProblems() throws -> [String] {
        func accepts(_ verifier: ReceiptVerifier) -> Bool { (try? verifier.verify(stored: receipt)) != nil }
        var problems: [String] = []
        if accepts(try FixtureTrust.xcodeVerifier.get()) != (isGenuine || expected["genuine_for_xcode"] == .bool(true))
        {
            problems.append("genuine_for_xcode: the opposite is true")
        }
        let needsRoot = expected["needs_root_certificate"] == .bool(true)
        if accepts(try FixtureTrust.fingerprintVerifier.get()) != (isGenuine && !needsRoot) {
            problems.append("needs_root_certificate: the opposite is true")
        }
        return problems
    }

    // MARK: Transport

    private func transportProblems() throws -> [String] {
        guard isBase64 else {
            return expected["strict_base64_refuses"] == nil ? [] : ["strict_base64_refuses: this is no base64"]
        }
        let strict = try? ReceiptContainer(requestText: receipt)
        if expected["strict_base64_refuses"] == .bool(true) {
            return strict == nil ? [] : ["strict_base64_refuses: it does not"]
        }
        guard expected["verdict"] != .string("notAReceipt") else { return [] }
        return try strict?.bytes == ReceiptContainer(stored: receipt).bytes
            ? [] : ["strict_base64_refuses: it does, or reads something else"]
    }

    // MARK: Facts

    private func factProblems(_ decoded: LegacyReceipt?) throws -> [String] {
        guard let facts = expected["receipt"] else {
            // Nothing can be expected of what cannot be read.
            let claims = ["kind", "environment", "device_guid", "other_attributes", "unknown_attributes"]
            let unread = claims.filter { expected[$0] != nil }.map { "\($0): expected, and the receipt is not" }
            let isRefused = expected["verdict"] == .string("notAReceipt")
            return unread + (isRefused ? [] : ["receipt: not expected, so that nothing is checked"])
        }
        guard let decoded else { return ["receipt: cannot be decoded"] }
        var problems = expected["environment"]?.string == decoded.environment?.rawValue ? [] : ["environment"]
        switch decoded {
        case .app(let app):
            if expected["kind"] != .string("appReceipt") { problems.append("kind: found appReceipt") }
            if expected["environment_contradiction"] != nil { problems.append("environment_contradiction") }
            return problems + appProblems(app, facts)
        case .transaction(let transaction):
            if expected["kind"] != .string("transactionReceipt") { problems.append("kind: found transactionReceipt") }
            return problems + transactionProblems(transaction, facts)
        }
    }

    private func appProblems(_ app: AppReceipt, _ facts: JSONValue) -> [String] {
        let level = JSONObject(members: facts.object?.members.filter { $0.key != "in_app" } ?? [])
        var problems = FixtureFacts.problems(FixtureFacts.appReceipt, app, .object(level), in: "receipt")
        let purchases = facts["in_app"]?.array ?? []
        if purchases.count != app.inAppPurchases.count {
            problems.append("receipt.in_app: expected \(purchases.count), found \(app.inAppPurchases.count)")
        }
        for (index, (wanted, found)) in zip(purchases, app.inAppPurchases).enumerated() {
            problems += FixtureFacts.problems(FixtureFacts.purchase, found, wanted, in: "receipt.in_app[\(index)]")
        }
        if let other = expected["other_attributes"] {
            problems += FixtureFacts.problems(FixtureFacts.otherAttributes, app, other, in: "other_attributes")
        }
        let unknown = JSONValue.array(app.unknownAttributes.map(FixtureFacts.raw))
        if (expected["unknown_attributes"] ?? .array([])).elements != unknown.elements {
            problems.append("unknown_attributes: found \(unknown.sortedText)")
        }
        if expected["validated_at_ms"]?.string != app.receiptCreationDate.map({ String($0) }) {
            problems.append("validated_at_ms: found \(app.receiptCreationDate ?? 0)")
        }
        return problems + deviceProblems(app)
    }

    private func deviceProblems(_ app: AppReceipt) -> [String] {
        guard let guid = expected["device_guid"]?.string else { return [] }
        guard let device = DeviceIdentifier(guid) else { return ["device_guid: no identifier of a device"] }
        do {
            try app.checkDevice(device)
            return []
        } catch {
            return ["device_guid: \(error)"]
        }
    }

    private func transactionProblems(_ transaction: TransactionReceipt, _ facts: JSONValue) -> [String] {
        var problems = FixtureFacts.problems(FixtureFacts.transactionReceipt, transaction, facts, in: "receipt")
        let entries = transaction.purchaseInfo.map {
            JSONObject.Member(key: $0.key.replacing("-", with: "_"), value: .string($0.value))
        }
        if JSONValue.object(JSONObject(members: entries)).sortedText != facts.sortedText {
            problems.append("receipt: the entries are others")
        }
        if transaction.hasEnvironmentContradiction != (expected["environment_contradiction"] == .bool(true)) {
            problems.append("environment_contradiction: the opposite is true")
        }
        if expected["validated_at_ms"]?.string != transaction.purchaseDate.map({ String($0) }) {
            problems.append("validated_at_ms: found \(transaction.purchaseDate ?? 0)")
        }
        for key in ["device_guid", "other_attributes", "unknown_attributes"] where expected[key] != nil {
            problems.append("\(key): a transaction receipt has none")
        }
        return problems
    }
}
