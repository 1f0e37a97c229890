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
        guard var parts = URLComponents(string: address) else { return "postgres://…" }
        parts.password = nil
        parts.percentEncodedQueryItems?.removeAll { $0.name.hasSuffix("password") }
        return parts.string ?? "postgres://…"
    }
}
