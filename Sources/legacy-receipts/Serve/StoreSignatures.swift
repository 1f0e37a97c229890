import AppStoreModels
import AppStoreServer
import AppStoreSync
import Foundation
import Migration
import ProductCatalog
import Purchases
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Signs on the look-up listener of `serve` what the commands of `sign` sign, with the key that the configuration names for the
/// app. If a request names the customer, the resolver decides first whether the offer is theirs.
struct StoreSignatures {
    let store: any CompleteTransactionStore
    let endpoint: EndpointConfiguration
    let credentials: [AppStoreCredentials]
    let clock: ServerClock

    /// - Throws: `LookUpRefusal`, `TransactionStoreError`.
    func sign(_ signature: LookUpSignature, _ request: [UInt8]) async throws -> [UInt8] {
        do {
            guard let value = try? JSONValue.parse(request) else {
                throw JSONMembers.Mistake(message: "The request is not JSON.")
            }
            switch signature {
            case .promotionalOffer: return try await promotionalOffer(value)
            case .introductoryEligibility: return try await introductoryEligibility(value)
            case .advancedCommerce: return try advancedCommerce(value)
            }
        } catch let mistake as JSONMembers.Mistake {
            throw LookUpRefusal.badRequest(mistake.message)
        } catch let error as SignatureCreatorError {
            throw LookUpRefusal.badRequest("\(error)")
        }
    }

    // MARK: Requests

    private static let common: Set<String> = ["bundleId", "nonce"]
    private static let ofCustomer: Set<String> = ["productId", "transactionId", "customer", "environment"]

    private func promotionalOffer(_ value: JSONValue) async throws -> [UInt8] {
        let request = try JSONMembers(
            value, "the request", Self.common.union(Self.ofCustomer).union(["offerIdentifier"]))
        let app = try app(request)
        let (product, offer) = (try request.requiredText("productId"), try request.requiredText("offerIdentifier"))
        var situation: PromotionalCandidate.Situation?
        if let history = try await customer(request, app)?.purchaseHistory(catalog: app.catalog) {
            let group = try group(of: product, app)
            switch history.promotionalRequest(group: group, at: clock.now()) {
            case .redeemable(let candidate): situation = candidate.situation
            case .groupUnknown(let other):
                throw LookUpRefusal.notEligible(
                    "The customer has \(other ?? "a subscription"), whose subscription group is unknown.")
            case .neverSubscribed:
                throw LookUpRefusal.notEligible(
                    "The store has no subscription of the group \(group) that the customer bought.")
            }
        }
        let creator = PromotionalOfferV2SignatureCreator(key: app.key, bundleID: app.bundleId, clock: clock)
        let jws = try creator.createSignature(
            productId: product, offerIdentifier: offer, transactionId: try request.text("transactionId"),
            nonce: try nonce(request))
        return Self.json { writer in
            writer.member("compactJWS", jws)
            writer.member("situation", situation?.rawValue)
        }
    }

    private func introductoryEligibility(_ value: JSONValue) async throws -> [UInt8] {
        let request = try JSONMembers(
            value, "the request", Self.common.union(Self.ofCustomer).union(["allowIntroductoryOffer"]))
        let app = try app(request)
        let (product, transaction) = (try request.requiredText("productId"), try request.requiredText("transactionId"))
        let stated = try request.boolean("allowIntroductoryOffer")
        let isAllowed: Bool
        switch (stated, try request.text("customer")) {
        case (let stated?, nil): isAllowed = stated
        case (nil, _?):
            isAllowed = try await isIntroductoryOfferAllowed(request, app, group: try group(of: product, app))
        default:
            throw JSONMembers.Mistake(
                message: "the request: give either allowIntroductoryOffer or customer.")
        }
        let creator = IntroductoryOfferEligibilitySignatureCreator(
            key: app.key, bundleID: app.bundleId, clock: clock)
        let jws = try creator.createSignature(
            productId: product, allowIntroductoryOffer: isAllowed, transactionId: transaction,
            nonce: try nonce(request))
        return Self.json { writer in
            writer.member("compactJWS", jws)
            writer.member("allowIntroductoryOffer", isAllowed)
        }
    }

    /// Whether the customer of a request may have an introductory offer.
    ///
    /// An offer that the customer had counts forever, so what the store knows is enough to refuse another one. Every
    /// other answer queries the App Store first. Otherwise a free trial that began since would be missing, or the end
    /// of a subscription.
    private func isIntroductoryOfferAllowed(_ request: JSONMembers, _ app: App, group: String) async throws -> Bool {
        func verdict(_ customer: Customer) -> OfferVerdict {
            let now = clock.now()
            return customer.purchaseHistory(catalog: app.catalog).introductoryEligibility(group: group, at: now)
        }
        guard let stored = try await customer(request, app) else { return false }
        if verdict(stored).hadIntroductoryOffer { return false }
        let current = verdict(try await current(stored, request, app))
        guard current.eligibility != .unknown else {
            let rules = current.obstacles.map(\.rule.rawValue).joined(separator: ", ")
            throw LookUpRefusal.notEligible("The stored data does not decide it: \(rules).")
        }
        return current.eligibility == .eligible
    }

    /// The customer with the App Store's current statements about every purchase that counts (`Customer.offerAnswers`).
    private func current(_ stored: Customer, _ request: JSONMembers, _ app: App) async throws -> Customer {
        let notBefore = clock.now()
        let transactionId = try request.text("transactionId")
        var current: Customer? = stored
        do {
            try await RefreshedPurchases.collect(
                about: &current, identities: stored.identities, scope: stored.scope, notBefore: notBefore,
                from: endpoint.customerRefresher
            ) { customer, answers in
                let sufficiency = (customer ?? stored).offerAnswers(
                    redeeming: transactionId, times: answers.times, unknown: answers.unknown, notBefore: notBefore)
                switch sufficiency {
                case .due(let purchases): return purchases
                case .notKnown:
                    throw LookUpRefusal.notEligible(
                        "The App Store does not know the transaction \(transactionId ?? "").")
                case .erased:
                    throw LookUpRefusal.notEligible(
                        "A purchase of the customer was erased, and it may have had the offer.")
                case .complete: return []
                }
            } readAgain: { earlier in
                try await customer(request, app) ?? earlier
            }
        } catch let error where error is LookUpRefusal || error is CancellationError || error is TransactionStoreError {
            throw error
        } catch {
            throw LookUpRefusal.notNow("The App Store could not be queried: \(error).")
        }
        return current ?? stored
    }

    private func advancedCommerce(_ value: JSONValue) throws -> [UInt8] {
        let request = try JSONMembers(value, "the request", Self.common.union(["request"]))
        let app = try app(request)
        guard let inner = request.object["request"], inner.object != nil else {
            throw JSONMembers.Mistake(message: "the request.request: expected an object.")
        }
        var writer = JSONWriter(reservingCapacity: 1_024)
        writer.value(inner)
        let creator = AdvancedCommerceSignatureCreator(key: app.key, bundleID: app.bundleId, clock: clock)
        do {
            let jws = try AdvancedCommerceJSON.signature(
                of: Data(writer.finish()), by: creator, nonce: try nonce(request))
            return Self.json { $0.member("compactJWS", jws) }
        } catch let mistake as AdvancedCommerceJSON.Mistake {
            throw JSONMembers.Mistake(message: "the request.request: \(mistake.message)")
        }
    }

    // MARK: Parts of a request

    private struct App {
        let bundleId: String
        let key: InAppPurchaseKey
        let catalog: ProductCatalog?
    }

    private func app(_ request: JSONMembers) throws -> App {
        let bundleId = try request.requiredText("bundleId")
        guard let key = credentials.first(where: { $0.bundleID == bundleId })?.key else {
            throw LookUpRefusal.notFound("The server has no App Store Server API key for \(bundleId).")
        }
        return App(bundleId: bundleId, key: key, catalog: endpoint.catalog(ofApp: bundleId))
    }

    private func nonce(_ request: JSONMembers) throws -> UUIDText {
        try request.value("nonce", "a UUID") { $0.string.flatMap { UUIDText($0) } } ?? UUIDText()
    }

    private func group(of product: String, _ app: App) throws -> String {
        guard let group = app.catalog?.product(product)?.subscriptionGroupIdentifier else {
            throw LookUpRefusal.notEligible("No catalog of the app states the subscription group of \(product).")
        }
        return group
    }

    /// The customer that the request names; nil if it names none. If the request also names a transaction, it must be the
    /// customer's: StoreKit gives the offer to the customer of the transaction.
    private func customer(_ request: JSONMembers, _ app: App) async throws -> Customer? {
        guard let id = try request.text("customer") else { return nil }
        let environment = try request.known("environment", as: AppStoreModels.Environment.self) ?? .production
        let search = try await CustomerSearch(for: id, in: store)
        let found = search.matches.map(\.customer).filter {
            $0.scope == StoreScope(environment: environment, bundleId: app.bundleId)
        }
        guard let customer = found.first else {
            throw LookUpRefusal.notFound("No customer of the app has the id in \(environment.rawValue).")
        }
        guard found.count == 1, search.isComplete else {
            throw LookUpRefusal.notEligible("Several customers of the app have the id.")
        }
        if let id = try request.text("transactionId"), !customer.redeems(id) {
            throw LookUpRefusal.notEligible("The customer has no transaction and no app transaction with this id.")
        }
        return customer
    }

    private static func json(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 1_024, endsLine: true, members)
    }
}
