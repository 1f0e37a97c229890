import ArgumentParser

/// `--store` of the commands that need a store.
struct StoreOption: ParsableArguments {
    @Option(name: .customLong("store"), help: ArgumentHelp("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var url: String
}
