import Testing
import TransactionStore

@Suite("Addresses of stores")
struct StoreURLTests {
    @Test(arguments: [
        ("store.sqlite", "store.sqlite"), ("/var/lib/store.db", "/var/lib/store.db"), ("sqlite:store.db", "store.db"),
        ("sqlite:/var/x", "/var/x"), ("sqlite:///var/x", "/var/x"), ("SQLite:x", "x"), ("file:///var/x", "/var/x"),
        ("./a:b", "./a:b"), ("C:x", "C:x"), ("sqlite:a b%20c?d", "a b%20c?d"),
    ])
    func filesAreSQLite(_ text: String, _ path: String) throws {
        #expect(try StoreURL(text) == .sqlite(path: path))
    }

    @Test(arguments: ["postgres://u:secret@host/db?sslmode=require", "postgresql:///db", "POSTGRES://host"])
    func serversArePostgreSQL(_ text: String) throws {
        let url = try StoreURL(text)
        #expect(url == .postgreSQL(text))
        #expect(!url.description.contains("secret"))
    }

    @Test(arguments: [
        "", "sqlite:", "sqlite://", "sqlite://host/x", "mysql://u:secret@h/db", "http://x", "sqlite::memory:",
        ":memory:", "a\u{0}b", "sqlite:a\nb",
    ])
    func otherAddressesAreRefused(_ text: String) {
        let error = #expect(throws: TransactionStoreError.self) { try StoreURL(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("secret") == false)
    }
}
