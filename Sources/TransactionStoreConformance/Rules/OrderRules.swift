import AppStoreModels
package import Purchases
import TransactionStore

extension StoreConformance {
    private static let trial = LegacyTransactionFields(isTrialPeriod: true)
    static let cancelled: LegacyTransactionFields = {
        var fields = LegacyTransactionFields()
        fields.cancellationDate = Samples.june + 5000
        return fields
    }()

    /// Documents about one customer that contain competing facts of every kind.
    private static var competing: [FactSet] {
        [
            Samples.set(
                Samples.fact("1", product: "a", at: 1000, legacy: trial), app: Samples.app("1", at: 1000),
                receipt: Samples.receipt("old", at: 1000)),
            Samples.set(
                Samples.fact("1", product: "b", at: 3000, legacy: cancelled),
                Samples.fact("2", original: "1", at: 3000), app: Samples.app("3", at: 3000),
                receipt: Samples.receipt("new", at: 3000)),
            Samples.set(
                Samples.fact("1", product: "c", source: .notificationV2, at: 2000) { $0.price = 1990 },
                renewals: [Samples.renewal("1", at: 2000)]),
            Samples.set(
                Samples.fact("2", original: "1", source: .appStoreServerAPI, at: 4000) { $0.isUpgraded = true },
                renewals: [Samples.renewal("1", product: "yearly", source: .appStoreServerAPI, at: 4000)]),
            Samples.set(
                Samples.fact("1", source: .recordedReply, at: 9000) { $0.subscriptionGroupIdentifier = "g" },
                renewals: [Samples.renewal("1", product: "weekly", source: .recordedReply, at: 9000)]),
        ]
    }

    static let order: [StoreRule] = [
        StoreRule(opened: "every order of the documents gives the same customer") { store in
            var first: ComparableCustomer?
            // The same five documents in 120 orders, each order in its own app.
            for (number, order) in permutations(competing).enumerated() {
                let scope = StoreScope(environment: .sandbox, bundleId: "app\(number)")
                var added: Customer?
                for set in order.map({ moved($0, to: scope) }) {
                    try await store.add(set)
                    added = added?.adding(set) ?? Customer(resolving: [set])
                }
                let customer = try require(try await store.customer(original: "1", in: scope))
                try expect(ComparableCustomer(added), equals: ComparableCustomer(customer))
                let comparable = try require(ComparableCustomer(moved(customer, to: Samples.scope)))
                if let first { try expect(comparable, equals: first) } else { first = comparable }
            }
            try expect(first?.transactions.count, equals: 2)
        },
        StoreRule(opened: "of two facts with the same date, the same one wins in any order") { store in
            let facts = [
                Samples.fact("1", product: "a"), Samples.fact("1", product: "b"),
                Samples.fact("1", product: "b", legacy: trial),
            ]
            let customers = try await outcomes(inEveryOrderOf: facts.map { Samples.set($0) }, store)
            let found = Set(
                customers.flatMap(\.transactions).map {
                    "\($0.payload.productId ?? "") \($0.legacy.isTrialPeriod == true)"
                })
            try expect(found, equals: ["b true"])
        },
        StoreRule(opened: "of two facts with the same kind and date, the one that revokes wins") { store in
            let pairs = [
                [
                    Samples.fact("1", product: "z", source: .notificationV2),
                    Samples.fact("1", product: "a", source: .signedTransaction) { $0.revocationDate = 5 },
                ],
                [Samples.fact("1", product: "z", legacy: trial), Samples.fact("1", product: "a", legacy: cancelled)],
            ]
            for (number, facts) in pairs.enumerated() {
                let sets = facts.map { Samples.set($0) }
                for customer in try await outcomes(inEveryOrderOf: sets, store, apps: "pair\(number)") {
                    try expect(customer.transactions.first?.payload.productId, equals: "a", "\(number)")
                }
            }
        },
        StoreRule(opened: "of two facts with the same date, a revocation date inside another object does not win") {
            store in
            // Known and unknown objects, and text that looks like the member or like an object.
            let nested: [(inout JWSTransactionDecodedPayload) -> Void] = [
                {
                    var item = AdvancedCommerceTransactionItem()
                    item.revocationDate = 5
                    var info = AdvancedCommerceTransactionInfo()
                    info.items = [item]
                    $0.advancedCommerceInfo = info
                },
                {
                    let date = JSONObject(members: [JSONObject.Member(key: "revocationDate", value: .integer(5))])
                    let parts = JSONObject.Member(key: "parts", value: .array([.object(date)]))
                    $0.unknownMembers = UnknownMembers([parts])
                },
                {
                    let name = JSONObject.Member(key: "a\"revocationDate", value: .integer(5))
                    $0.unknownMembers = UnknownMembers([name])
                },
            ]
            for (number, configure) in nested.enumerated() {
                for (place, product) in ["a", #"a\"":{["# + "\u{0}\u{e9}\\"].enumerated() {
                    let sets = [
                        Samples.fact("1", product: "z", source: .signedTransaction, configure),
                        Samples.fact("1", product: product, source: .signedTransaction) { $0.revocationDate = 5 },
                    ].map { Samples.set($0) }
                    for customer in try await outcomes(inEveryOrderOf: sets, store, apps: "nested\(number) \(place)") {
                        let found = try require(customer.transactions.first).payload
                        try expect(found.productId, equals: product, "\(number) \(place)")
                        try expect(found.revocationDate, equals: 5, "\(number) \(place)")
                    }
                }
            }
        },
        StoreRule(opened: "a received cancellation of a notification of version 1 wins over newer recorded documents") {
            store in
            let documents = [
                Samples.fact("1", source: .notificationV1, at: 2, legacy: cancelled),
                Samples.fact("1", source: .recordedReply, at: 3),
                Samples.fact("1", source: .notificationV1, at: 4),
                Samples.fact("1", source: .receipt, at: 1),
            ]
            for customer in try await outcomes(inEveryOrderOf: documents.map { Samples.set($0) }, store) {
                try expect(customer.transactions.first?.payload.revocationDate != nil, customer.scope.bundleId)
            }
        },
        StoreRule(opened: "a received cancellation of a notification of version 1 keeps no recorded document out") {
            store in
            let notified = Samples.fact("1", source: .notificationV1, at: 2, legacy: cancelled)
            for (number, isUpgraded) in [nil, true].enumerated() {
                let row = Samples.fact("1", source: .recordedReply, at: 3) {
                    $0.subscriptionGroupIdentifier = "g"
                    $0.isUpgraded = isUpgraded
                }
                let sets = [notified, row, Samples.fact("1", source: .receipt, at: 1)].map { Samples.set($0) }
                for customer in try await outcomes(inEveryOrderOf: sets, store, apps: "case\(number)") {
                    let found = try require(customer.transactions.first)
                    try expect(found.origins.map(\.source), equals: [.receipt, .recordedReply, .notificationV1])
                    try expect(found.payload.subscriptionGroupIdentifier, equals: "g")
                    try expect(found.payload.isUpgraded, equals: isUpgraded)
                    try expect(found.payload.revocationDate == nil, equals: isUpgraded == true)
                    try expect(found.legacy.cancellationDate, equals: cancelled.cancellationDate)
                }
            }
        },
        StoreRule(opened: "a recorded cancellation after the reversal of a received one is kept") { store in
            var second = LegacyTransactionFields()
            second.cancellationDate = Samples.june + 9000
            let documents = [
                Samples.fact("1", source: .notificationV1, at: 2, legacy: cancelled),
                Samples.fact("1", source: .signedTransaction, at: 3),
                Samples.fact("1", source: .recordedReply, at: 4, legacy: second),
            ]
            for customer in try await outcomes(inEveryOrderOf: documents.map { Samples.set($0) }, store) {
                let found = try require(customer.transactions.first)
                try expect(found.payload.revocationDate, equals: nil)
                try expect(found.recordedCancellation?.date, equals: second.cancellationDate)
            }
        },
        StoreRule(opened: "of two sources with the same kind and date, the same one wins in any order") { store in
            let sources: [FactSource] = [.signedTransaction, .appStoreServerAPI, .notificationV2]
            let sets = sources.map { Samples.set(Samples.fact("1", source: $0)) }
            let customers = try await outcomes(inEveryOrderOf: sets, store)
            let found = Set(customers.flatMap(\.transactions).flatMap(\.origins).map(\.source))
            try expect(found.count, equals: 1)
        },
        StoreRule(opened: "one call with all documents gives the same result as one call per document") { store in
            let other = StoreScope(environment: .sandbox, bundleId: "other")
            _ = try await store.apply(competing)
            for set in competing { try await store.add(moved(set, to: other)) }
            let together = ComparableCustomer(try await store.customer(original: "1"))
            let apart = try await store.customer(original: "1", in: other).map { moved($0, to: Samples.scope) }
            try expect(together != nil)
            try expect(ComparableCustomer(apart), equals: together)
        },
    ]

    /// Applies the sets in every order, in one call and one by one, each time in an app of its own.
    /// - Returns: the customers that they lead to.
    static func outcomes(
        inEveryOrderOf sets: [FactSet], _ store: any CompleteTransactionStore, original: String = "1",
        apps name: String = "app"
    ) async throws -> [Customer] {
        var customers: [Customer] = []
        for (number, order) in permutations(sets).enumerated() {
            for isTogether in [true, false] {
                let scope = StoreScope(environment: .production, bundleId: "\(name) \(number) \(isTogether)")
                let sets = order.map { moved($0, to: scope) }
                if isTogether { _ = try await store.apply(sets) } else { try await store.add(sets) }
                customers.append(try require(try await store.customer(original: original, in: scope)))
            }
        }
        return customers
    }

    package static func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    package static func moved(_ set: FactSet, to scope: StoreScope) -> FactSet {
        FactSet(
            scope: scope, identities: set.identities, transactions: set.transactions, renewalInfos: set.renewalInfos,
            appTransaction: set.appTransaction, receipt: set.receipt, notification: set.notification,
            unclaimedSeatIds: set.unclaimedSeatIds)
    }

    /// The same customer in another scope.
    package static func moved(_ customer: Customer, to scope: StoreScope) -> Customer {
        var statements = customer.statements
        statements.scope = scope
        return statements.resolved() ?? customer
    }
}

extension LegacyTransactionFields {
    package init(isTrialPeriod: Bool) {
        self.init()
        self.isTrialPeriod = isTrialPeriod
    }
}
