import AppStoreModels
import Purchases
import Testing

@Suite("Data that the App Store could change about a customer")
struct OpenQuestionTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.app")

    private static func fact(
        _ id: String, _ from: Int64, _ to: Int64, source: FactSource = .signedTransaction, at date: Int64? = nil,
        cancelled: Int64? = nil, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        let payload = Samples.period(from, to) {
            $0.transactionId = id
            $0.currency = "USD"
            $0.storefront = "USA"
            $0.transactionReason = .renewal
            configure(&$0)
        }
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = cancelled
        return TransactionFact(
            payload: payload, legacy: source.kind == .signedTransaction ? nil : legacy,
            origin: FactOrigin(source: source, signedDate: date ?? Samples.month(to)))
    }

    private static func questions(
        _ facts: [TransactionFact], scope: StoreScope = scope, at month: Int64 = 3
    ) throws -> [OpenQuestion] {
        let customer = try #require(Customer(resolving: [FactSet(scope: scope, transactions: facts)]))
        let history = customer.purchaseHistory(catalog: nil)
        return customer.openQuestions(history.subscriptions(at: Samples.month(month)))
    }

    private static func reasons(_ questions: [OpenQuestion]) -> [OpenQuestion.Reason] { questions.map(\.reason) }

    @Test("Complete and recent data signed by the App Store is not queried")
    func complete() throws {
        #expect(try Self.questions([Self.fact("1", 0, 1), Self.fact("2", 1, 2)]).isEmpty)
    }

    @Test("A cancellation that only a newer unsigned document states")
    func unconfirmed() throws {
        let found = try Self.questions([
            Self.fact("1", 0, 1), Self.fact("1", 0, 1, source: .recordedReply, at: Samples.month(2), cancelled: 5),
        ])
        #expect(Self.reasons(found) == [.unconfirmedCancellation])
        #expect(found.first?.transactionId == "1")
        let older = Self.fact("1", 0, 1, source: .recordedReply, at: Samples.month(0), cancelled: 5)
        #expect(try Self.questions([Self.fact("1", 0, 1), older]).isEmpty)
    }

    @Test("A cancellation of a subscription that may be an upgrade, until a signed transaction explains it")
    func unexplained() throws {
        let receipt = Self.fact("1", 0, 1, source: .receipt, cancelled: Samples.month(0) + Samples.day)
        #expect(Self.reasons(try Self.questions([receipt])) == [.unexplainedCancellation])
        let signed = Self.fact("1", 0, 1, at: Samples.month(2)) {
            $0.revocationDate = Samples.month(0) + Samples.day
        }
        #expect(try Self.questions([receipt, signed]).isEmpty)
        let purchase = Self.fact("1", 0, 1, source: .receipt, cancelled: Samples.month(0)) {
            $0.type = .nonConsumable
            $0.expiresDate = nil
        }
        #expect(!Self.reasons(try Self.questions([purchase])).contains(.unexplainedCancellation))
    }

    @Test("Fields that no signed document states, once for each purchase, with the newest transaction and their number")
    func unsigned() throws {
        let found = try Self.questions([
            Self.fact("1", 0, 1, source: .recordedReply), Self.fact("2", 1, 2, source: .recordedReply),
            Self.fact("9", 1, 2, source: .notificationV1) { $0.originalTransactionId = "other" },
        ])
        let unsigned = found.filter { $0.reason == .unsigned }
        #expect(unsigned.map(\.originalTransactionId) == ["other", "original"])
        #expect(unsigned.map(\.transactionId) == ["9", "2"])
        #expect(unsigned.map(\.transactionCount) == [1, 2])
    }

    @Test("A subscription without a document about the time after its last period")
    func notCurrent() throws {
        let early = [Self.fact("1", 0, 1, source: .receipt, at: Samples.month(0) + Samples.day)]
        #expect(Self.reasons(try Self.questions(early)) == [.notCurrent])
        // The period runs.
        #expect(try Self.questions(early, at: 0).isEmpty)
    }

    @Test("Fields that the App Store states about every purchase, unless it has answered without them")
    func missingFields() throws {
        func bare(_ source: FactSource) -> TransactionFact {
            Self.fact("2", 1, 2, source: source) {
                $0.price = nil
                $0.currency = nil
                $0.type = nil
            }
        }
        let other = Self.fact("1", 0, 1, source: .receipt) { $0.storefront = nil }
        let found = try Self.questions([other, bare(.receipt)])
        #expect(Self.reasons(found) == [.missingFields])
        #expect(found.first?.missingFields == [.type, .storefront, .currency, .price])
        #expect(found.first?.transactionCount == 2)
        #expect(try Self.questions([bare(.appStoreServerAPI)]).isEmpty)
    }

    @Test("The questions come in the order of what an answer could change")
    func order() throws {
        let day = Samples.day
        let found = try Self.questions([
            Self.fact("1", 0, 1, source: .receipt, at: Samples.month(0) + day) { $0.price = nil },
            Self.fact("2", 0, 1, source: .receipt, cancelled: Samples.month(0)) { $0.originalTransactionId = "b" },
            Self.fact("3", 0, 1, source: .recordedReply) { $0.originalTransactionId = "c" },
        ])
        #expect(
            Self.reasons(found) == [.unexplainedCancellation, .unsigned, .notCurrent, .notCurrent, .missingFields])
    }

    @Test("Purchases of Xcode are not asked about")
    func environments() throws {
        let fact = Self.fact("1", 0, 1, source: .recordedReply)
        let sandbox = StoreScope(environment: .sandbox, bundleId: "com.example.app")
        #expect(try !Self.questions([fact], scope: sandbox).isEmpty)
        let xcode = StoreScope(environment: .xcode, bundleId: "com.example.app")
        #expect(try Self.questions([fact], scope: xcode).isEmpty)
    }
}

@Suite("The key of a customer")
struct CustomerKeyTests {
    private func customer(
        _ identities: [CustomerIdentity], _ environment: Environment = .production, _ bundleId: String = "a"
    ) throws -> Customer {
        let receipt = KnownReceipt(form: .app, bytes: [1], signedDate: 7)
        let set = FactSet(
            scope: StoreScope(environment: environment, bundleId: bundleId), identities: identities, receipt: receipt)
        return try #require(Customer(resolving: [set]))
    }

    @Test("depends on app, environment and smallest identity alone")
    func parts() throws {
        let (one, two) = (CustomerIdentity(.originalTransactionId, "1"), CustomerIdentity(.originalTransactionId, "2"))
        let key = try customer([one]).key
        #expect(key.count == 32 && key.allSatisfy(\.isHexDigit))
        #expect(try customer([two, one]).key == key)
        let others = [
            try customer([two]), try customer([one], .sandbox), try customer([one], .production, "b"),
            try customer([CustomerIdentity(.appTransactionId, "1")]),
            try customer([one], Environment(rawValue: "Production\",\"a"), ""),
        ]
        #expect(Set(others.map(\.key) + [key]).count == 6)
    }

    @Test("and its newest date counts receipts, and no document without a date")
    func newestDate() throws {
        #expect(try customer([CustomerIdentity(.originalTransactionId, "1")]).newestDate == 7)
        let undated = FactOrigin(source: .recordedReply, signedDate: 0)
        #expect([undated].newestDate == nil)
        #expect([undated, FactOrigin(source: .receipt, signedDate: 5)].newestDate == 5)
    }
}
