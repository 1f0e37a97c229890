import ArgumentParser
import Foundation
import Migration

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what migrate would do, from a sample.",
        discussion: """
            Takes the arguments of migrate and writes nothing. Reads the first records of each source with the same \
            reader and verifier, and prints:

              - how each column or member would be read, and why
              - how many records of the sample would be migrated, by kind
              - the reasons of records that would be quarantined, each with an example
              - the data that would not be read or not be kept
              - the expected number of records, time and disk space
              - the migrate command to run

            EXIT STATUS:
              0  every record of the sample would be migrated
              1  some records or documents would be quarantined, or look like
                 documents and would not be read
              2  usage or input error, or another number of records than
                 --expect-records

            EXAMPLES:
              legacy-receipts plan dump.csv
              legacy-receipts plan receipts/ dump.ndjson --sample 5000
              legacy-receipts plan dump.csv --into postgres://localhost/purchases \\
                --user-column account_id --carry country --json
            """)

    @Option(help: .value("n", "Records to read from each source; a folder is one source."), transform: Self.sample)
    var sample = 1_000

    @Flag(help: "Print the plan as JSON.")
    var json = false

    @OptionGroup(title: "Arguments of migrate")
    var migrate: MigrateCommand

    // ArgumentParser takes an option group that is a command for the parent of a command whose `validate()` fails.
    private static func sample(_ text: String) throws -> Int {
        guard let number = Int(text), (1...1_000_000).contains(number) else {
            throw ValidationError("--sample takes a number from 1 to 1000000.")
        }
        return number
    }

    func run() async throws {
        if migrate.retry { throw CommandFailure("plan reads inputs; --retry has none.") }
        // The printed command is without the passwords of addresses that can be read.
        if let into = migrate.into { try StoreOpener.checkAddress(into) }
        let arguments = PlannedCommand.migrateArguments(CommandLine.arguments)
        let isStore = !migrate.stream
        let planner = MigrationPlanner(
            options: migrate.storeOptions(try migrate.migrationOptions()), engine: isStore ? migrate.engine : nil,
            sample: sample)
        let plan = try planner.plan(inputs: migrate.inputs)
        let command = PlannedCommand.command(
            arguments,
            expectedRecords: plan.isWhole && migrate.expectedRecords == nil ? plan.records : nil)
        if json {
            try Terminal.output(plan.json(command: command.words))
            for omission in command.omissions { Terminal.error(omission) }
        } else {
            try Terminal.output(PlanText(plan: plan, isStore: isStore, command: command).text)
        }
        let missing = migrate.missingText(plan.summary, isStored: false)
        if let missing { Terminal.error(missing) }
        if plan.isWhole, let expected = migrate.expectedRecords, let records = plan.records, records != expected {
            throw CommandFailure(
                """
                \(expected) records were expected, and the inputs have \(records). migrate would end with status 2. Check \
                whether the inputs are complete.
                """)
        }
        if !plan.summary.isClean || missing != nil { throw ExitStatus.someQuarantined }
    }
}

/// The command line of `migrate` that belongs to one of `plan`.
enum PlannedCommand {
    static func command(_ arguments: [String], expectedRecords: Int?) -> ShownCommand {
        let expected = expectedRecords.map { ["--expect-records", "\($0)"] } ?? []
        return ShownCommand(["legacy-receipts", "migrate"] + expected + arguments)
    }

    /// Without `plan` and the options that only `plan` has.
    static func migrateArguments(_ arguments: [String]) -> [String] {
        ShellWord.arguments(
            arguments.dropFirst().drop { $0 == "plan" }, withoutOptions: ["--sample"], flags: ["--json"])
    }
}
