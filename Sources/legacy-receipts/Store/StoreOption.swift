import ArgumentParser
import Foundation
import TransactionStore

/// `--store` of the commands that need a store.
struct StoreOption: ParsableArguments {
    @Option(name: .customLong("store"), help: ArgumentHelp("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var url: String

    /// The address without passwords, for a command line in a message. One that cannot be read is not shown.
    var shown: String {
        guard case .postgreSQL(let address)? = try? StoreURL(url) else { return url }
        // libpq reads a password up to "@", also with "#" and "?", where a URL would end it.
        guard var parts = URLComponents(string: address), parts.fragment == nil, parts.query?.contains("@") != true
        else { return "postgres://…" }
        parts.password = nil
        parts.percentEncodedQueryItems?.removeAll { item in
            let name = item.name.removingPercentEncoding ?? "password"
            return ["password", "secret"].contains { name.hasSuffix($0) } || name.hasPrefix("scram_")
        }
        return parts.string ?? "postgres://…"
    }
}
