import Foundation
import PostgreSQLTransactionStore
import Testing
import TransactionStore

@Suite("PostgreSQL addresses")
struct PostgreSQLAddressTests {
    private func refusal(_ url: String) -> TransactionStoreError? {
        do {
            _ = try PostgreSQLTransactionStore(url: url)
            return nil
        } catch {
            return error as? TransactionStoreError
        }
    }

    @Test(
        "An invalid PostgreSQL URL is rejected as such, and its password is not repeated",
        arguments: [
            "", "mysql://u:hunter2@h/d", "postgresql//u:hunter2@h", "postgresql://u:hunter2@h:port/d",
            "postgresql://u:hunter2@[::1/d", "postgresql://u:hunter2@h/d?nonsense=1", "postgresql://u:hunter2 @h/%",
            "postgresql://u:hunter2@h/d?schema=", "postgresql://u:hunter2@h/d?schema=pg_x",
            "postgresql://u:hunter2@h/d?schema=a&schema=b", "postgresql://u:hunter2@h/d?schema=%zz",
            "postgresql://u:hunter2@h/d?connections=0", "postgresql://u:hunter2@h/d?connections=x",
            "postgresql://u:hunter2@h/d?schema=%00",
        ])
    func invalid(url: String) throws {
        let error = try #require(refusal(url), "\(url)")
        #expect(error.code == .invalidURL)
        #expect(!error.description.contains("hunter2"))
    }

    @Test(
        "URLs of every form that libpq reads are taken",
        arguments: [
            "postgresql://", "postgres://h", "postgresql://u:p@h:1/d?sslmode=require&application_name=x",
            "postgresql://h1:1,h2:2/d?target_session_attrs=read-write", "postgresql:///d?host=/run/x&schema=a%20%22b",
            "postgresql://h/d?connections=3&schema=s",
        ])
    func valid(url: String) { #expect(refusal(url) == nil) }

    @Test(
        "A server that is not there is unavailable, and the message holds no password",
        arguments: [
            ("hunter2", ""), ("hunter2", "&sslpassword=hunter2"), ("hunter2more", "&sslpassword=hunter2"),
            ("hunter2more", "&password=hunter2&sslpassword=hunter2more"), ("hunter%092", "&password=hunter%092"),
        ])
    func away(folder: String, options: String) async throws {
        let store = try PostgreSQLTransactionStore(
            url: "postgresql://someone:\(folder)@/d?host=/nonexistent/\(folder)\(options)")
        do {
            try await store.checkReadiness()
            Issue.record("a server answered")
        } catch let error as TransactionStoreError {
            #expect(error.code == .unavailable)
            #expect(error.isTransient)
            // The host is named by us; what libpq says, which quotes the path, comes without the secret.
            let host = try #require("at /nonexistent/\(folder)".removingPercentEncoding)
            let rest = error.description.replacing(host, with: "")
            #expect(rest.contains("/nonexistent/…/") && !rest.contains("hunter"), "\(rest)")
        }
        try await store.close()
    }
}
