import ArgumentParser

/// `--store` of the commands that need a store.
struct StoreOption: ParsableArguments {
    @Option(name: .customLong("store"), help: .value("url", "The store: sqlite:PATH or postgres://…"))
    var url: String
}
