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

    @Test(
        "The description of a server is its address without secrets, which can be pasted into a command",
        arguments: [
            ("postgres://localhost/purchases", "postgres://localhost/purchases", false),
            ("postgresql:///db", "postgresql:///db", false), ("postgres://", "postgres://", false),
            ("postgres://u@h:5433/db?sslmode=require", "postgres://u@h:5433/db?sslmode=require", false),
            ("postgres://u:secret@h:5433/db?sslmode=require", "postgres://u@h:5433/db?sslmode=require", true),
            ("postgres://u:@h/db", "postgres://u@h/db", false), ("postgres://:secret@h/db", "postgres://@h/db", true),
            ("postgres://u%40azure:se%40cr%2Fet@h/db", "postgres://u%40azure@h/db", true),
            ("postgres://u:sec?ret#%20:x@h/db", "postgres://u@h/db", true),
            ("postgres://u:secret@h1:1,h2:2,[::1]:3/db", "postgres://u@h1:1,h2:2,[::1]:3/db", true),
            ("postgres://%2Fvar%2Frun/db", "postgres://%2Fvar%2Frun/db", false),
            (
                "postgresql:///db?host=/var/run&user=u&password=secret&schema=s",
                "postgresql:///db?host=/var/run&user=u&schema=s", true
            ),
            ("postgres://h/db?password=secret", "postgres://h/db", true),
            ("postgres://h/db?password=&connections=4", "postgres://h/db?connections=4", false),
            ("postgres://h/db?options=-csearch_path%3Da", "postgres://h/db?options=-csearch_path%3Da", false),
            ("postgres://h/db?passfile=/run/pgpass", "postgres://h/db?passfile=/run/pgpass", false),
        ])
    func shownServers(_ text: String, _ shown: String, _ hasPassword: Bool) throws {
        let url = try StoreURL(text)
        #expect("\(url)" == shown)
        #expect(url.omission.map { $0.contains("PGPASSWORD") } == (hasPassword ? true : nil))
        #expect(try StoreURL(shown).description == shown)
    }

    @Test("The secrets of a key are left out, and named")
    func shownWithoutKey() throws {
        let url = try StoreURL("postgres://u:secret@h/db?sslkey=k&sslpassword=hidden&scram_client_key=hidden")
        #expect("\(url)" == "postgres://u@h/db?sslkey=k")
        #expect(url.omission?.contains("password, sslpassword, scram_client_key") == true)
    }

    @Test(
        "Options for the server are left out, because a setting can have a secret value; a search path alone is shown",
        arguments: [
            "-c%20app.jwt_secret%3Dhidden", "-c%20shop.pin=hidden", "-csearch_path%3Da%20-cshop.pin%3Dhidden",
        ])
    func shownWithoutOptions(_ options: String) throws {
        let url = try StoreURL("postgres://u@h/db?options=\(options)&schema=s")
        #expect("\(url)" == "postgres://u@h/db?schema=s")
        #expect(url.omission == "The address of the store is shown without options. Add what is missing.")
    }

    @Test(
        "An address whose password cannot be told from the rest is not shown",
        arguments: [
            "postgres://u:se@cret@h/db", "postgres://u:secret@@h/db", "postgres://u:se/cret@h/db",
            "postgres://u:1/secret@h/db",
            "postgres://u:secret/db", "postgres://u:1/x?user=secret@h", "postgres://h/db?password=se&cret",
            "postgres://h/db?password=x&secret=1", "postgres://h/db?p%61ssword=secret", "postgres://u%3Asecret@h/db",
            "postgres:///db?dbname=password%3Dsecret", "postgres://h/password=secret",
            "postgres:///x?dbname=postgres://u:secret/db", "postgres:password=secret",
            "postgres://u:secret@\u{301}h/db", "postgres://h/db?passwords=secret",
        ])
    func hiddenServers(_ text: String) throws {
        let url = try StoreURL(text)
        #expect("\(url)" == "postgres://…")
        #expect(url.omission?.contains("Insert the address that you gave") == true)
    }

    @Test(
        "An address with a password that is none of PostgreSQL by mistake is no path of a file",
        arguments: [
            "host=localhost dbname=purchases password=secret", "host=localhost password = secret",
            " postgres://u:secret@h/db", "'postgresql://u:secret@h/db'", "\u{FEFF}POSTGRES://u:secret@h/db",
        ])
    func passwordsAreNoPath(_ text: String) {
        let error = #expect(throws: TransactionStoreError.self) { try StoreURL(text) }
        #expect(error?.code == .invalidURL && error?.message.contains("secret") == false)
    }
}
