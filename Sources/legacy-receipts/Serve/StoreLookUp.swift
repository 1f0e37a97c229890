import AppStoreModels
import AppStoreServer
import AppStoreSync
import Encodings
import Foundation
import LegacyReceipts
import Migration
import ProductCatalog
import Purchases
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Answers the look-up listener of `serve` with what the commands `customer`, `inspect` and `sign` print.
struct StoreLookUp: LookUpAnswers {
    let store: any CompleteTransactionStore
    /// The time of signatures. Other requests bring theirs.
    let clock: ServerClock

    func customers(
        with id: String, tables: Set<String>?, at date: Int64, _ endpoint: EndpointConfiguration
    ) async throws -> [UInt8]? {
        let search = try await CustomerSearch(for: id, in: store)
        guard !search.matches.isEmpty else { return nil }
        let reports = search.matches.map { match in
            CustomerReport(match, catalog: endpoint.catalog(ofApp: match.customer.scope.bundleId), date: date)
        }
        return CustomerReport.json(search, reports, date: date, tables: tables)
    }

    func inspection(
        of document: [UInt8], _ endpoint: EndpointConfiguration, signedData trust: SignedDataTrust
    ) async throws -> [UInt8] {
        let inspector = try DocumentInspector(trust: endpoint.trust, signedData: trust)
        let documents = inspector.documents(in: document)
        let text =
            documents.isEmpty
            ? DocumentInspectionJSON.text(inspector.content(of: document)) : DocumentInspectionJSON.text(documents)
        return Array((text + "\n").utf8)
    }

    func page(
        _ question: InspectorLookUp, at date: Int64, _ endpoint: EndpointConfiguration,
        signedData trust: SignedDataTrust
    ) async throws -> InspectorAnswer {
        var page = InspectorPage()
        switch question {
        case .nothing: break
        case .failure(let reason): page.add(heading: "No answer", reason, isFailure: true)
        case .customers(let id):
            page = InspectorPage(id: id)
            let search = try await CustomerSearch(for: id, in: store)
            if search.matches.isEmpty {
                page.add(heading: "No customer", CustomerText.notFound(search), isFailure: true)
            }
            var replies = 0
            for match in search.matches {
                let catalog = endpoint.catalog(ofApp: match.customer.scope.bundleId)
                let report = CustomerReport(match, catalog: catalog, date: date)
                let kinds = match.kinds.map(\.rawValue).joined(separator: ", ")
                page.add(report, heading: "Customer", "Found by \(kinds), as of \(DateText.iso(date)).", now: date)
                page.add(
                    folded: "The modern transactions",
                    json: InspectorPage.pretty(Self.transactions(match.customer, catalog)))
                let receipts = [match.customer.newestAppReceipt, match.customer.newestTransactionReceipt]
                    .compactMap(\.self)
                if receipts.isEmpty {
                    page.add(
                        heading: "No stored receipt",
                        "The store has no receipt of this customer, so the page shows no checks and no reply.")
                }
                for receipt in receipts.prefix(Self.maximumReplies - replies) {
                    replies += 1
                    let name = "stored " + (receipt.form == .app ? "app receipt" : "transaction receipt")
                    let checked = try await inspection(of: receipt.bytes, endpoint, signedData: trust)
                    page.add(inspection: checked, heading: "The \(name)")
                    try await show(
                        replyTo: .receipt(receipt.bytes), named: "the \(name)", at: date, endpoint, on: &page)
                }
            }
        case .document(let document): try await show(document, at: date, endpoint, signedData: trust, on: &page)
        }
        return InspectorAnswer(html: try page.html(), contentSecurityPolicy: InspectorPage.contentSecurityPolicy)
    }

    private func show(
        _ document: [UInt8], at date: Int64, _ endpoint: EndpointConfiguration, signedData trust: SignedDataTrust,
        on page: inout InspectorPage
    ) async throws {
        page.add(inspection: try await inspection(of: document, endpoint, signedData: trust))
        let statements = try DocumentStatements(trust: endpoint.trust, signedData: trust, date: date)
        let customers = statements.customers(in: document)
        for customer in customers.prefix(Self.maximumCustomers) {
            let catalog = endpoint.catalog(ofApp: customer.scope.bundleId)
            page.add(
                CustomerReport(customer, catalog: catalog, date: date), heading: "What it states",
                "Resolved alone, as of \(DateText.iso(date)). Nothing was stored.", now: date)
            page.add(
                folded: "The modern transactions", json: InspectorPage.pretty(Self.transactions(customer, catalog)))
        }
        if customers.count > Self.maximumCustomers {
            page.add(
                heading: "Other customers",
                """
                The document states purchases of \(customers.count) customers. The page shows the first \
                \(Self.maximumCustomers).
                """)
        }
        let inspector = try DocumentInspector(trust: endpoint.trust, signedData: trust)
        let submittable = inspector.submittable(in: document).filter {
            if case .signedTransaction = $0.content { endpoint.answersSignedTransactions } else { true }
        }
        let excludes = (try? JSONValue.parse(document).object)?[Self.exclusion]
        for document in submittable.prefix(Self.maximumReplies) {
            try await show(
                replyTo: document.content, named: document.path, excludes: excludes, at: date, endpoint, on: &page)
        }
    }

    /// The maximum number of replies on a page, because each reads the store, and of stored receipts that it checks again.
    private static let maximumReplies = 10
    /// The maximum number of customers of a document on a page. A row of fifty bytes can be one, and takes kilobytes of the page.
    private static let maximumCustomers = 10
    /// The member of a request, which the reply to a pasted request heeds.
    private static let exclusion = "exclude-old-transactions"

    private func show(
        replyTo content: SubmittableDocument.Content, named name: String, excludes: JSONValue? = nil, at date: Int64,
        _ endpoint: EndpointConfiguration, on page: inout InspectorPage
    ) async throws {
        let (reply, path) = try await reply(to: content, excludes: excludes, at: date, endpoint)
        page.add(
            heading: "The verifyReceipt reply" + (name.isEmpty ? "" : " to \(Printable.text(name))"),
            "Status \(reply.status) at \(path), with the data of the store.")
        page.add(folded: "The reply", json: InspectorPage.pretty(reply.body))
    }

    /// The transactions as in the tables of the same page.
    private static func transactions(_ customer: Customer, _ catalog: ProductCatalog?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for payload in customer.payloadsWithTypes(from: catalog) { writer.model(payload) }
        writer.endArray()
        return writer.finish()
    }

    /// The reply of the endpoint that knows the document's environment. Nothing is stored, and no other server is queried. The
    /// shared secret is not needed, because the token of the listener already allows to see the reply.
    private func reply(
        to content: SubmittableDocument.Content, excludes: JSONValue?, at date: Int64, _ endpoint: EndpointConfiguration
    ) async throws -> (reply: VerifyReceiptReply, path: String) {
        var configuration = endpoint
        configuration.learnsFromReceipts = false
        configuration.accountSecrets = []
        configuration.freshness = Freshness()
        for place in configuration.apps.indices {
            configuration.apps[place].sharedSecrets = []
            configuration.apps[place].freshness = nil
        }
        var request = JSONWriter()
        request.beginObject()
        switch content {
        case .receipt(let bytes): request.member("receipt-data", Base64.encode(bytes))
        case .signedTransaction(let jws): request.member("receipt-data", jws)
        }
        if let excludes {
            request.key(Self.exclusion)
            request.value(excludes)
        }
        request.endObject()
        let body = request.finish()
        let answering = try VerifyReceiptEndpoint(configuration: configuration, store: store)
        let production = await answering.reply(to: body, at: .production, now: date)
        guard production.status == 21_007 else { return (production, "/verifyReceipt") }
        return (
            await answering.reply(to: body, at: .sandbox, now: date), "/sandbox/verifyReceipt; 21007 at /verifyReceipt"
        )
    }

    func sign(
        _ signature: LookUpSignature, _ request: [UInt8], _ endpoint: EndpointConfiguration,
        _ credentials: [AppStoreCredentials]
    ) async throws -> [UInt8] {
        let signatures = StoreSignatures(store: store, endpoint: endpoint, credentials: credentials, clock: clock)
        return try await signatures.sign(signature, request)
    }
}
