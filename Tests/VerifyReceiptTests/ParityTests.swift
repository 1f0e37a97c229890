import AppStoreModels
import Encodings
import Foundation
import LegacyReceipts
import SharedReceipts
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// Our replies beside Apple's, over every recorded pair: `pairs/sandbox-007.json` is the reply to `sandbox/007`.
@Suite(.enabled(if: SharedReceipts.arePresent)) struct ParityTests {
    struct Pair {
        let name: String
        let receipt: [UInt8]
        let reply: JSONObject
    }

    static func pairs() throws -> [Pair] {
        try SharedReceipts.files("pairs").filter { $0.pathExtension == "json" }.map { file in
            let name = file.deletingPathExtension().lastPathComponent
            let parts = name.split(separator: "-")
            let stored = try unwrap(
                try SharedReceipts.files(String(parts[0])).first { $0.lastPathComponent.hasPrefix(parts[1]) }, name)
            let bytes = try ReceiptContainer(stored: try SharedReceipts.bytes(stored)).bytes
            return Pair(
                name: name, receipt: bytes, reply: try unwrap(try JSONValue.parse(SharedReceipts.bytes(file)).object))
        }
    }

    /// The date of the request to Apple; a moment in the newest period for replies without it.
    private static func moment(_ reply: JSONObject) -> Int64 {
        let receipt = reply["receipt"]?.object
        let latest = reply["latest_receipt_info"]?.object
        let text = receipt?["request_date_ms"] ?? latest?["purchase_date_ms"] ?? receipt?["purchase_date_ms"]
        return text?.string.flatMap { Int64($0) } ?? 0
    }

    private static func endpoint(_ store: (any TransactionStore)?) throws -> VerifyReceiptEndpoint {
        try VerifyReceiptEndpoint(configuration: EndpointConfiguration(), store: store)
    }

    private static func environment(_ reply: JSONObject) -> EndpointEnvironment {
        reply["environment"]?.string == "Production" ? .production : .sandbox
    }

    /// Differences that have a name. Everything else has to be equal.
    private static func exception(_ pair: String, _ path: String) -> String? {
        // Its author replaced the names in the reply and not in the receipt (a recording for documentation).
        if pair == "ios6-011", ["receipt.bid", "receipt.product_id"].contains(path) { return "names replaced" }
        return nil
    }

    @Test func everythingThatAReceiptDeterminesIsEqual() async throws {
        var total = ParityTally()
        var equal: [String: Int] = [:]
        for pair in try Self.pairs() {
            let ours = try await Self.endpoint(nil).ask(
                body(pair.receipt), at: Self.environment(pair.reply), now: Self.moment(pair.reply))
            var tally = ParityTally()
            tally.compareReceipt(pair.reply, try unwrap(ours.json.object, pair.name))
            tally.compareKnownTransactions(pair.reply, ours)
            tally.countServerState(pair.reply, try unwrap(ours.json.object))
            // The replies of 2018 and earlier have no lists without subscriptions; by default ours do as those since 2021.
            let extra = ours.keys.subtracting(pair.reply.keys)
            #expect(
                extra == (pair.name == "sandbox-031" ? ["latest_receipt_info", "latest_receipt"] : []), "\(pair.name)")
            let unnamed = tally.different.filter { Self.exception(pair.name, $0.path) == nil }
            #expect(unnamed.isEmpty, "\(pair.name): \(unnamed.map(\.text).joined(separator: "; "))")
            #expect(ours.status == Int(pair.reply["status"]?.integer ?? -1), "\(pair.name)")
            print("parity \(pair.name): \(tally.summary)")
            equal[pair.name] = tally.equal
            total.add(tally)
        }
        print("parity in all: \(total.summary)")
        #expect(total.equal > 0)
        ParityBaseline.receipt.check(equal, "receipt")
    }

    @Test func byOptionTheListsArePresentAsInTheRepliesOfTheirTime() async throws {
        var configuration = EndpointConfiguration()
        configuration.latestTransactions = .withSubscriptions
        for pair in try Self.pairs() {
            let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: nil)
            let ours = try await endpoint.ask(
                body(pair.receipt), at: Self.environment(pair.reply), now: Self.moment(pair.reply))
            #expect(ours.keys == Set(pair.reply.keys).subtracting(["pending_renewal_info"]), "\(pair.name)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theOlderReceiptGetsPurchasesStoredFromTheLatestReceipt(_ kind: StoreKind) async throws {
        var total = ParityTally()
        var equal: [String: Int] = [:]
        for pair in try Self.pairs() {
            guard let text = pair.reply["latest_receipt"]?.string else { continue }
            let tally = try await kind.withStore { store in
                try await Self.learnedTally(pair, latestReceipt: text, store)
            }
            print("parity \(pair.name) with its latest_receipt learned (\(kind)): \(tally.summary)")
            equal[pair.name] = tally.equal
            total.add(tally)
        }
        print("parity with latest_receipt learned (\(kind)), in all: \(total.summary)")
        #expect(total.equal > 0)
        ParityBaseline.learned.check(equal, "learned (\(kind))")
    }

    private static func learnedTally(
        _ pair: Pair, latestReceipt text: String, _ store: any TransactionStore
    ) async throws -> ParityTally {
        // The pairs are of 2020 and earlier.
        var configuration = EndpointConfiguration()
        configuration.order = .oldestFirst
        // Other tests keep the disk and the processor busy.
        configuration.learningLimit = .seconds(60)
        let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: store)
        let (environment, now) = (environment(pair.reply), moment(pair.reply))
        let learned = try await endpoint.ask(body(text: text), at: environment, now: now)
        if learned.status != 0 {
            // Whoever recorded it put a placeholder in place of the receipt.
            #expect(Base64.isPlaceholder(text), "\(pair.name): \(learned.reply.facts.reason ?? "")")
        }
        let ours = try await endpoint.ask(body(pair.receipt), at: environment, now: now)
        var tally = ParityTally()
        tally.compareLatest(pair.reply, ours)
        #expect(tally.different.isEmpty, "\(pair.name): \(tally.different.map(\.text).joined(separator: "; "))")
        let apples = pair.reply["latest_receipt_info"]?.array?.compactMap { $0["transaction_id"]?.string } ?? []
        #expect(ours.latest?.compactMap { $0.text("transaction_id") } ?? [] == apples, "\(pair.name)")
        return tally
    }
}

extension Base64 {
    fileprivate static func isPlaceholder(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let decoded = try? decodeStrictly(bytes.span)
        return decoded?.isEmpty ?? true
    }
}

/// Replies without their request. The test submits the receipt that Apple issued in the reply.
@Suite(.enabled(if: SharedReceipts.arePresent)) struct ReissuedReceiptTests {
    /// `receipt_creation_date` is that of the receipt that was sent, not of the one that came back (Reference.md
    /// V3.3).
    private static let ofTheOtherReceipt: Set = [
        "receipt.receipt_creation_date", "receipt.receipt_creation_date_ms", "receipt.receipt_creation_date_pst",
    ]

    /// Replies that were edited before they were stored, or that state data that a receipt cannot contain.
    private static let exceptions: [String: [String: String]] = [
        "009.json": [
            "latest_receipt_info.expires_date_ms": "milliseconds of Apple's database",
            "latest_receipt_info.purchase_date_ms": "milliseconds of Apple's database",
        ],
        "012.json": ["*": "the receipt of another reply was put in"],
        "021.json": ["latest_receipt_info count": "shortened by hand"],
        "042.json": [
            "latest_receipt_info count": "shortened by hand", "latest_receipt_info.expires_date": "edited by hand",
        ],
        "045.json": [
            "latest_receipt_info count": "shortened by hand", "latest_receipt_info.expires_date": "edited by hand",
            "receipt.bundle_id": "name replaced", "latest_receipt_info.product_id": "name replaced",
        ],
        "087.json": ["receipt.bundle_id": "name replaced", "latest_receipt_info count": "shortened by hand"],
        "090.json": ["receipt.bundle_id": "name replaced"],
        "093.json": ["receipt.bundle_id": "name replaced"],
        "120.json": ["receipt.bundle_id": "name replaced", "latest_receipt_info.product_id": "name replaced"],
    ]

    @Test func theReissuedReceiptGivesItsRecordedReply() async throws {
        var total = ParityTally()
        var count = 0
        for file in try SharedReceipts.files("responses") {
            let name = file.lastPathComponent
            guard let apples = try JSONValue.parse(SharedReceipts.bytes(file)).object,
                let text = apples["latest_receipt"]?.string, let receipt = apples["receipt"]?.object,
                (try? ReceiptContainer(requestText: Array(text.utf8))) != nil,
                let now = receipt.text("request_date_ms").flatMap({ Int64($0) }), apples["status"]?.integer == 0
            else { continue }
            let endpoint = try VerifyReceiptEndpoint(configuration: EndpointConfiguration(), store: MemoryStore())
            let environment: EndpointEnvironment = apples.text("environment") == "Production" ? .production : .sandbox
            let ours = try await endpoint.ask(body(text: text), at: environment, now: now)
            #expect(ours.status == 0, "\(name): \(ours.reply.facts.reason ?? "")")
            count += 1
            var tally = ParityTally()
            tally.compareReissued(apples, ours, leavingOut: Self.ofTheOtherReceipt)
            total.add(tally)
            let named = Self.exceptions[name] ?? [:]
            guard named["*"] == nil else { continue }
            let unnamed = tally.different.filter { named[$0.path] == nil }
            #expect(unnamed.isEmpty, "\(name): \(unnamed.map(\.text).joined(separator: "; "))")
        }
        print("reissued receipts: \(count), \(total.summary)")
        #expect(count > 0)
    }
}

/// How many members are equal, one by one.
struct ParityTally {
    struct Difference {
        let path: String
        let text: String
    }

    /// Of old entries, only Apple's database knows these (they may be missing, not different).
    static let databaseOnly: Set = ["subscription_group_identifier", "is_upgraded", "in_app_ownership_type"]

    private(set) var equal = 0
    private(set) var serverStateEqual = 0
    private(set) var serverStateMissing = 0
    private(set) var different: [Difference] = []

    var summary: String {
        "\(equal) of \(equal + different.count) derivable members equal; server state: \(serverStateEqual) equal, "
            + "\(serverStateMissing) not ours to know"
    }

    mutating func add(_ other: ParityTally) {
        equal += other.equal
        serverStateEqual += other.serverStateEqual
        serverStateMissing += other.serverStateMissing
        different += other.different
    }

    /// `status`, `environment` and the whole of `receipt`.
    mutating func compareReceipt(_ apples: JSONObject, _ ours: JSONObject) {
        for key in ["status", "environment"] { compare(key, apples[key], ours[key]) }
        let (one, other) = (apples["receipt"]?.object, ours["receipt"]?.object)
        for key in Set((one?.keys ?? []) + (other?.keys ?? [])).subtracting(["in_app"]).sorted() {
            compare("receipt.\(key)", one?[key], other?[key])
        }
        let (list, otherList) = (one?["in_app"]?.array, other?["in_app"]?.array)
        guard list != nil || otherList != nil else { return }
        compare("receipt.in_app count", .integer(Int64(list?.count ?? -1)), .integer(Int64(otherList?.count ?? -1)))
        // By place: the order is part of what is compared.
        for (entry, otherEntry) in zip(list ?? [], otherList ?? []) {
            compareEntry("receipt.in_app", entry.object, otherEntry.object)
        }
    }

    private mutating func compareEntry(
        _ path: String, _ one: JSONObject?, _ other: JSONObject?, allowingMissing: Set<String> = []
    ) {
        for key in Set((one?.keys ?? []) + (other?.keys ?? [])).sorted() {
            if allowingMissing.contains(key), other?[key] == nil {
                serverStateMissing += 1
            } else {
                compare("\(path).\(key)", one?[key], other?[key])
            }
        }
    }

    /// `latest_receipt_info`, as far as the receipt holds the transactions.
    mutating func compareKnownTransactions(_ apples: JSONObject, _ ours: ReadReply) {
        let submitted = Set(ours.inApp.compactMap { $0.text("transaction_id") })
        for entry in apples["latest_receipt_info"]?.array?.compactMap(\.object) ?? [] {
            guard let id = entry.text("transaction_id"), submitted.contains(id) else {
                serverStateMissing += entry.members.count
                continue
            }
            compareEntry("latest_receipt_info", entry, ours.latest(id), allowingMissing: Self.databaseOnly)
        }
    }

    /// The app's part of `receipt`, and every transaction of `latest_receipt_info`.
    mutating func compareReissued(_ apples: JSONObject, _ ours: ReadReply, leavingOut left: Set<String>) {
        let (one, other) = (apples["receipt"]?.object, ours.receipt)
        for key in Set((one?.keys ?? []) + (other?.keys ?? [])).subtracting(["in_app"]).sorted()
        where !left.contains("receipt.\(key)") {
            compare("receipt.\(key)", one?[key], other?[key])
        }
        compareLatest(apples, ours)
    }

    /// `latest_receipt_info` in full: every transaction of Apple's, and no others.
    mutating func compareLatest(_ apples: JSONObject, _ ours: ReadReply) {
        if let object = apples["latest_receipt_info"]?.object {
            return compareEntry("latest_receipt_info", object, ours.json["latest_receipt_info"]?.object)
        }
        let list = apples["latest_receipt_info"]?.array?.compactMap(\.object) ?? []
        compare(
            "latest_receipt_info count", .integer(Int64(list.count)), .integer(Int64(ours.latest?.count ?? -1)))
        for entry in list {
            compareEntry(
                "latest_receipt_info", entry, entry.text("transaction_id").flatMap { ours.latest($0) },
                allowingMissing: Self.databaseOnly)
        }
    }

    /// Data that no receipt contains: renewals, and the new receipt that Apple issues each time.
    mutating func countServerState(_ apples: JSONObject, _ ours: JSONObject) {
        for entry in apples["pending_renewal_info"]?.array?.compactMap(\.object) ?? [] {
            serverStateMissing += entry.members.count
        }
        guard let receipt = apples["latest_receipt"] else { return }
        if receipt == ours["latest_receipt"] { serverStateEqual += 1 } else { serverStateMissing += 1 }
    }

    /// A line that an editor broke and indented when the reply was kept.
    private static func unwrapped(_ value: JSONValue) -> JSONValue {
        guard let text = value.string, text.contains("\n") else { return value }
        return .string(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    private mutating func compare(_ path: String, _ apples: JSONValue?, _ ours: JSONValue?) {
        guard apples != nil || ours != nil else { return }
        if apples == ours || (ours != nil && apples.map(Self.unwrapped) == ours) {
            equal += 1
        } else {
            func text(_ value: JSONValue?) -> String { value.map { "\($0)" } ?? "absent" }
            different.append(
                Difference(path: path, text: "\(path) is \(text(apples)), ours \(text(ours))"))
        }
    }
}
