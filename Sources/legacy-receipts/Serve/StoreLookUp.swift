import AppStoreSync
import LegacyReceipts
import Migration
import Purchases
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Answers the look-up listener of `serve` with what the commands `customer`, `inspect` and `sign` print.
struct StoreLookUp: LookUpAnswers {
    let store: any CompleteTransactionStore

    func customers(with id: String, at date: Int64, _ endpoint: EndpointConfiguration) async throws -> [UInt8]? {
        try await answer(id, date, endpoint) { CustomerReport.json($0, $1, date: date) }
    }

    func entitlements(
        ofCustomersWith id: String, at date: Int64, _ endpoint: EndpointConfiguration
    ) async throws -> [UInt8]? {
        try await answer(id, date, endpoint) { CustomerReport.json($0, $1, date: date, tables: ["entitlements"]) }
    }

    private func answer(
        _ id: String, _ date: Int64, _ endpoint: EndpointConfiguration,
        _ json: (CustomerSearch, [CustomerReport]) -> [UInt8]
    ) async throws -> [UInt8]? {
        let search = try await CustomerSearch(for: id, in: store)
        guard !search.matches.isEmpty else { return nil }
        let reports = search.matches.map { match in
            let app = endpoint.apps.first { $0.bundleId == match.customer.scope.bundleId }
            return CustomerReport(match, catalog: app?.catalog, date: date)
        }
        return json(search, reports)
    }

    func inspection(of document: [UInt8], _ endpoint: EndpointConfiguration) async throws -> [UInt8] {
        let documents = try DocumentInspector(trust: endpoint.trust).documents(in: document)
        guard documents.isEmpty else { return Array((DocumentInspectionJSON.text(documents) + "\n").utf8) }
        let text: String
        do throws(ReceiptError) {
            let verifier = try ReceiptVerifier(trust: endpoint.trust)
            text = InspectionJSON.text(verifier.inspect(try ReceiptContainer(stored: document), device: nil))
        } catch {
            text = InspectionJSON.text(error)
        }
        return Array((text + "\n").utf8)
    }

    func sign(
        _ signature: LookUpSignature, _ request: [UInt8], _ endpoint: EndpointConfiguration,
        _ credentials: [AppStoreCredentials]
    ) async throws -> [UInt8] {
        try await StoreSignatures(store: store, endpoint: endpoint, credentials: credentials).sign(signature, request)
    }
}
