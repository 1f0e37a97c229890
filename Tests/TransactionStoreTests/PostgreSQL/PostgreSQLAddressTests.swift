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
            "postgresql://u:hunter2@h/d?schema=%00", "postgresql://u:x@hunter2@h/d", "postgresql://u:hunter2@@h",
            "postgresql://u:x@hunter2@h?sslmode=require",
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

    @Test("An @ in a password is refused, with the way to write it")
    func secondAt() throws {
        let error = try #require(refusal("postgres://me:hunter@2@h/x"))
        #expect(error.code == .invalidURL && error.message.contains("write an @ in a user or a password as %40"))
    }

    @Test(
        "The name of a server in messages is the host and database, or nothing if a part of a password could be in it",
        arguments: [
            ("postgres://u:hunter2@h:5433/d?sslmode=require", "PostgreSQL at h:5433, database d"),
            ("postgres://u:hunter%402@h/d?options=-c%20a.b%3Dhunter2", "PostgreSQL at h, database d"),
            ("postgres://u:1/hunter2@h", "PostgreSQL at postgres://…"),
            ("postgres://u:1/d?user=hunter2@h", "PostgreSQL at postgres://…"),
        ])
    func name(_ url: String, _ name: String) throws { #expect(try PostgreSQLQuery.server(of: url) == name) }

    @Test("Databases differ for the resumption of a migration, also if their addresses are not shown")
    func identity() throws {
        let urls = ["postgres://u:1/a@h", "postgres://u:1/b@h", "postgres://u@h/a", "postgres://u@h/b"]
        #expect(Set(try urls.map { try PostgreSQLQuery.identity(of: $0) }).count == urls.count)
    }

    @Test("The failure of a server whose address is not shown does not quote the address")
    func hiddenFailure() async throws {
        let store = try PostgreSQLTransactionStore(
            url: "postgres://u:1/hunter2@h?host=/nonexistent/hunter2,/nonexistent/hunter3")
        let error = await #expect(throws: TransactionStoreError.self) { try await store.checkReadiness() }
        #expect(error?.code == .unavailable)
        #expect(error?.description.contains("hunter") == false, "\(String(describing: error))")
        try await store.close()
    }

    @Test(
        "A secret that no environment variable can pass to pg_dump is not passed in its arguments",
        arguments: ["sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"])
    func secretArguments(_ parameter: String) async {
        // An older libpq knows only the first one, and refuses the others.
        let error = await #expect(throws: TransactionStoreError.self) {
            try await PostgreSQLTransactionStore.backUp(
                from: "postgres:///d?host=/nonexistent&\(parameter)=hunter2", to: "/nonexistent/copy")
        }
        #expect(error?.code == .invalidURL && error?.description.contains("hunter2") == false)
    }

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
