import AppStoreServer
import ReceiptForge
import Synchronization

/// An App Store Server API with so many Apple Accounts, each of which has so many subscriptions.
final class AccountsAPI: APITransport {
    enum Mode: Sendable {
        case answers, hangs
        case refuses(status: Int, code: Int?, retryAfter: String? = nil)
    }

    let mode = Mutex(Mode.answers)
    let requests = Mutex<[String]>([])
    /// Requests that are neither answered nor given up.
    let hanging = Mutex(0)
    /// What a transaction and a renewal info of each account say, by original transaction id.
    private let accounts: [[String: (transaction: String, renewal: String)]]

    static let bundleID = "com.example.orchard"
    static let ada = "530001234567000"
    static let adaToo = "530001234568000"
    static let bob = "530007770000000"

    /// - Parameters:
    ///   - signed: when the App Store answers, in milliseconds.
    ///   - accounts: the original transaction ids of each.
    init(signed: Int64, accounts: [[String]] = [[AccountsAPI.ada]]) throws {
        self.accounts = try accounts.map { originals in
            Dictionary(
                try originals.map { ($0, (try Self.transaction($0, signed), try Self.renewal($0, signed))) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// The calls, without the statuses that belong to them.
    var histories: [String] {
        requests.withLock { $0 }.filter { $0.contains("/history/") }.map {
            String($0.split(separator: "/").last?.split(separator: "?").first ?? "")
        }
    }

    private static func transaction(_ original: String, _ signed: Int64) throws -> String {
        try TestSignedDataAuthority.standard.sign(
            payload: Array(
                #"""
                {"transactionId":"\#(original)9","originalTransactionId":"\#(original)","bundleId":"\#(bundleID)",
                "productId":"com.example.orchard.premium.monthly","purchaseDate":1715768430000,
                "originalPurchaseDate":1705314030000,"expiresDate":1718446830000,"quantity":1,
                "type":"Auto-Renewable Subscription","environment":"Production","signedDate":\#(signed),
                "appAccountToken":"7e3fb20b-4cdb-47cc-936d-99d65f608138"}
                """#.utf8))
    }

    private static func renewal(_ original: String, _ signed: Int64) throws -> String {
        try TestSignedDataAuthority.standard.sign(
            payload: Array(
                #"""
                {"originalTransactionId":"\#(original)","productId":"com.example.orchard.premium.monthly",
                "autoRenewProductId":"com.example.orchard.premium.monthly","autoRenewStatus":0,
                "environment":"Production","signedDate":\#(signed)}
                """#.utf8))
    }

    func send(_ request: APITransportRequest) async throws -> APITransportResponse {
        requests.withLock { $0.append(request.url) }
        switch mode.withLock({ $0 }) {
        case .answers: return answer(request.url)
        case .refuses(let status, let code, let retryAfter):
            let body = code.map { #"{"errorCode":\#($0),"errorMessage":"As configured."}"# } ?? ""
            return APITransportResponse(status: status, retryAfter: retryAfter, body: Array(body.utf8))
        case .hangs:
            hanging.withLock { $0 += 1 }
            defer { hanging.withLock { $0 -= 1 } }
            try await Task.sleep(for: .seconds(3_600))
            throw APITransportError.timedOut
        }
    }

    private func answer(_ url: String) -> APITransportResponse {
        let id = String(url.split(separator: "/").last?.split(separator: "?").first ?? "")
        guard let account = accounts.first(where: { $0[id] != nil }) else {
            let body = #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#
            return APITransportResponse(status: 404, body: Array(body.utf8))
        }
        let body: String
        if url.contains("/subscriptions/") {
            let items = account.map { original, said in
                #"""
                {"originalTransactionId":"\#(original)","status":1,"signedTransactionInfo":"\#(said.transaction)",
                "signedRenewalInfo":"\#(said.renewal)"}
                """#
            }
            body = #"{"data":[{"lastTransactions":[\#(items.joined(separator: ","))]}]}"#
        } else {
            let transactions = account.values.map { "\"\($0.transaction)\"" }.joined(separator: ",")
            body = #"{"revision":"1","hasMore":false,"signedTransactions":[\#(transactions)]}"#
        }
        return APITransportResponse(status: 200, body: Array(body.utf8))
    }
}
