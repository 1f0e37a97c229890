import AppStoreModels
import Foundation
import Migration
import Mustache
import ProductCatalog
import Purchases
import TransactionStore

/// The numbers of a store as one HTML page that needs nothing else: no network, no script.
///
/// The template is report.html, for Mustache. Values from documents stand only between its tags, where Mustache escapes them;
/// attributes hold numbers.
struct ReportPage {
    let report: StoreReport
    private let url: StoreURL
    /// The paths of the catalog; empty if there is none.
    private let catalogFiles: [String]
    /// The address of the store without a password.
    private var store: String { "\(url)" }

    /// Products and other names in a table; the rest is one row.
    private static let maximumRows = 200
    /// Each migration has a table.
    private static let maximumSources = 20
    /// Columns named in a cell.
    private static let maximumColumns = 5

    /// - Parameters:
    ///   - store: is read as a whole.
    ///   - url: the address of the store. The page has no password.
    ///   - catalog: adds types, groups, levels and durations.
    ///   - catalogFiles: the paths of the catalog, for the commands in the page.
    ///   - date: of the statuses, in milliseconds since 1970.
    /// - Throws: `TransactionStoreError`.
    init(
        of store: any CompleteTransactionStore, at url: StoreURL, catalog: ProductCatalog?, catalogFiles: [String],
        date: Int64
    ) async throws {
        report = try await StoreReport(store, catalog: catalog, date: date)
        self.url = url
        self.catalogFiles = catalogFiles
    }

    /// - Throws: ``CommandFailure`` if the file cannot be written, or the error of a template that cannot be read.
    func write(to path: String) throws { try OutputFile.write(try html().utf8, to: path) }

    private func html() throws -> String {
        let sections = [
            totals, purchases, receipts, subscriptions, trials, refunds, terms, sources, quarantine, conflicts,
            uncarried, questions, next,
        ].compactMap(\.self)
        let moment = DateText.iso(report.date)
        let template = String(decoding: PackageResources.report_html, as: UTF8.self)
        return try MustacheTemplate(string: template).render([
            "day": String(moment.prefix(10)), "moment": moment, "store": Printable.text(store), "sections": sections,
        ])
    }

    // MARK: Sections

    private typealias Object = [String: Any]

    /// Nil if `isShown` is false: then there is nothing to show.
    private func section(
        _ heading: String, _ note: String = "", if isShown: Bool = true, cards: [(Int, String)] = [],
        tables: [Object] = [], chart: Object? = nil, commands: [(String, String)] = []
    ) -> Object? {
        guard isShown else { return nil }
        var object: Object = [
            "heading": heading, "hasCards": !cards.isEmpty,
            "cards": cards.map { ["number": Self.number($0.0), "label": $0.1] as Object }, "tables": tables,
            "commands": commands.map { ["purpose": $0.0, "command": $0.1] as Object },
        ]
        if !note.isEmpty { object["note"] = note }
        if let chart { object["chart"] = chart }
        return object
    }

    private var totals: Object? {
        section(
            "Totals",
            cards: [
                (report.customers, "customers"), (report.customersWithAccess, "customers with access"),
                (report.transactions, "transactions"), (report.subscriptions, "subscriptions"),
                (report.entitlements, "entitlements"), (report.refunds, "refunds and revocations"),
                (report.quarantined, "in quarantine"), (report.conflicts, "conflicts"),
            ])
    }

    private var purchases: Object? {
        section(
            "Transactions", "Each transaction counts once, even if several documents state it.",
            if: report.transactions > 0,
            tables: [
                counts("by type", "type", report.transactionsByType),
                counts("by year of purchase", "year", report.transactionsByYear, isByName: true),
                counts("by environment", "environment", report.transactionsByEnvironment),
                counts(
                    "by evidence: with or without a verified signature", "evidence",
                    report.transactionsByEvidence),
                counts(
                    "by kind of document; a transaction counts for each kind that states it", "document",
                    Self.named(report.transactionsByDocument)),
                counts("by the document whose values count", "document", Self.named(report.transactionsBySource)),
                counts("by product", "product", report.transactionsByProduct),
            ])
    }

    private var receipts: Object? {
        let names = ["app": "app receipts", "transaction": "iOS 6 receipts"]
        let counts = report.receiptsByForm.map { (names[$0.key] ?? $0.key, $0.value) }
        return section(
            "Receipts",
            "The store keeps the newest receipt of each form of each customer. Older ones are merged in the transactions.",
            if: !report.receiptsByForm.isEmpty,
            tables: [self.counts(nil, "form", Dictionary(uniqueKeysWithValues: counts))])
    }

    /// Counts by the raw values of `FactSource`, with names for people.
    private static func named(_ counts: [String: Int]) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: counts.map { name, count in
                (FactSource(rawValue: name).map(Self.name) ?? name, count)
            })
    }

    private static func name(_ source: FactSource) -> String {
        switch source {
        case .receipt: "receipt"
        case .signedTransaction: "StoreKit 2 JWS"
        case .appStoreServerAPI: "answer of the App Store Server API"
        case .notificationV2: "notification, version 2"
        case .recordedReply: "recorded reply"
        case .notificationV1: "notification, version 1"
        case .recordedNotificationV1: "stored notification, version 1"
        case .recordedStoreKit2: "StoreKit 2 JSON without a signature"
        }
    }

    private var subscriptions: Object? {
        let rows = report.months.reversed().map { month in
            row(Self.name(month), [month.active, month.started, month.ended])
        }
        return section(
            "Subscriptions",
            """
            A subscription starts when it was first bought. It ended when its access ended, if it has none now; one that lapsed and \
            resubscribed counts as active in between.
            """, if: report.subscriptions > 0,
            tables: [
                counts("by status", "status", report.subscriptionsByStatus),
                table(nil, "month", heads: ["active", "started", "ended"], rows: rows, folded: "Numbers by month"),
            ], chart: chart)
    }

    private var chart: Object? {
        guard let first = report.months.first, let last = report.months.last else { return nil }
        let highest = max(1, report.months.reduce(0) { max($0, $1.active) })
        let highestChange = max(1, report.months.reduce(0) { max($0, $1.started, $1.ended) })
        let step = 640 / Double(report.months.count)
        let width = min(step * 0.8, 48)
        let columns = report.months.enumerated().map { place, month -> Object in
            let x = (Double(place) + 0.5) * step - width / 2
            func height(_ count: Int, of highest: Int, _ room: Double) -> Double {
                room * Double(max(0, count)) / Double(highest)
            }
            let active = height(month.active, of: highest, 120)
            let started = height(month.started, of: highestChange, 58)
            let ended = height(month.ended, of: highestChange, 58)
            let numbers: [String: Double] = [
                "x": x, "width": width, "half": width / 2, "middle": x + width / 2, "activeY": 120 - active,
                "activeHeight": active, "startedY": 60 - started, "startedHeight": started, "endedY": 60 - ended,
                "endedHeight": ended,
            ]
            return numbers.mapValues(Self.decimal)
        }
        return [
            "columns": columns, "highest": "up to \(Self.number(highest))",
            "highestChange": "up to \(Self.number(highestChange))", "firstMonth": Self.name(first),
            "lastMonth": Self.name(last),
        ]
    }

    private var trials: Object? {
        section(
            "Free trials to paid",
            "Subscriptions with a free trial, and how many of them had a later period that was neither free nor refunded.",
            if: report.trials > 0,
            tables: [
                counts(
                    nil, "subscriptions",
                    ["with a free trial": report.trials, "paid after the trial": report.trialsPaid])
            ])
    }

    private var refunds: Object? {
        section(
            "Refunds and revocations", "Upgrades are not among them. Old documents do not state the type.",
            if: report.refunds > 0,
            tables: [
                counts("by year", "year", report.refundsByYear, isByName: true),
                counts("by type", "type", report.refundsByType),
            ])
    }

    private var terms: Object? {
        var rows = report.terms.prefix(Self.maximumRows).map {
            row(Printable.text($0.productId), [$0.terms, $0.running])
        }
        let others = report.terms.dropFirst(Self.maximumRows)
        if !others.isEmpty {
            rows.append(row("other", [others.reduce(0) { $0 + $1.terms }, others.reduce(0) { $0 + $1.running }]))
        }
        return section(
            "Terms of non-renewing subscriptions", if: !report.terms.isEmpty,
            tables: [table(nil, "product", heads: ["terms", "running"], rows: rows)])
    }

    private var sources: Object? {
        let rest = report.sources.count - Self.maximumSources
        return section(
            "Sources",
            """
            What each migration read, over all its runs; of a query without --key, only the last run. A record is migrated or in \
            quarantine; later migrations may have taken it from there. A record that a retry does not migrate counts in each retry. \
            Records that enrich completed, and those of stores that merge copied, are not counted here.\(rest > 0 ? " \(Self.number(rest)) more migrations are not shown." : "")
            """, if: !report.sources.isEmpty, tables: report.sources.prefix(Self.maximumSources).map { table($0) })
    }

    private func table(_ source: StoreReport.Source) -> Object {
        let summary = source.summary
        let unread = summary.unreadColumns.map { ($0.role?.fact ?? "user", $0.count) }
        let columns = Dictionary(uniqueKeysWithValues: unread)
        let (notRead, leftOut) = (summary.columns(.looksLikeDocument), summary.columns(.leftOut))
        var rows = [
            row("records", [summary.recordsRead], cells: [""]), row("migrated", [summary.migrated], cells: [""]),
            row("in quarantine", [summary.quarantined], cells: [""]),
            row("documents in quarantine", [summary.documentsQuarantined], cells: ["in migrated records"]),
            row("documents not read", [summary.documentsNotRead], cells: [Self.columns(notRead)]),
            row("columns not read", [columns.values.reduce(0, +)], cells: [Self.columns(columns)]),
        ]
        let others = [
            ("documents outside of --column", summary.documentsLeftOut, Self.columns(leftOut)),
            ("replies not read", summary.repliesNotRead, "they granted nothing"),
            ("rows not read", summary.rowsNotRead, "next to a document, without a date that can be read"),
            ("rows of other tables", summary.rowsOfOtherTables, "of dumps and exports; they are not records"),
        ]
        rows += others.filter { $0.1 > 0 }.map { row($0.0, [$0.1], cells: [$0.2]) }
        let more = source.inputCount - source.inputs.count
        let inputs = source.inputs.map(Printable.text).joined(separator: ", ")
        return table(
            more > 0 ? "\(inputs) and \(Self.number(more)) more" : inputs, "counted", heads: ["number"],
            texts: ["where"], rows: rows)
    }

    /// The most frequent columns with their counts.
    private static func columns(_ counts: [String: Int]) -> String {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = sorted.prefix(maximumColumns).map { "\(Printable.text($0.key)): \(number($0.value))" }
        return shown.joined(separator: ", ") + (sorted.count > maximumColumns ? ", …" : "")
    }

    private var uncarried: Object? {
        section(
            "Missing fields",
            """
            Fields of Apple's modern transaction that no document states, and no catalog of this report. The number is how many of the \
            \(Self.number(report.transactions)) transactions lack the field.
            """, if: !report.uncarriedFields.isEmpty,
            tables: [
                table(
                    nil, "field", heads: ["transactions"], texts: ["where to get it"],
                    rows: report.uncarriedFields.map { field in
                        row(field.field, [field.transactions], cells: [Self.place(field.remedy)])
                    })
            ])
    }

    private static func place(_ remedy: StoreReport.UncarriedField.Remedy) -> String {
        switch remedy {
        case .appStore: "The App Store Server API has it: enrich queries it."
        case .catalog: "A product catalog (--catalog), or the App Store Server API: enrich queries it."
        case .app:
            "Only your app or your server: app-store set-account-token sets it for known purchases, and the app for new ones."
        }
    }

    private var quarantine: Object? {
        let examples = report.quarantine.prefix(Self.maximumRows).flatMap { reason in
            reason.examples.map { example in
                row(
                    Printable.text(reason.reason), [],
                    cells: [Printable.text(example.message), Printable.text(String(example.sha256.prefix(12)))])
            }
        }
        let embedded = report.embeddedReceiptsQuarantined
        let note =
            embedded == 0
            ? ""
            : """
             \(Self.number(embedded)) of them are receipts inside migrated replies and notifications: the rows of these \
            documents are in the store, and the receipt is not verified.
            """
        return section(
            "Quarantine",
            "Records, or documents of records, that were not migrated. The store keeps their original bytes.\(note)",
            if: report.quarantined > 0,
            tables: [
                counts(
                    "by reason", "reason",
                    Dictionary(uniqueKeysWithValues: report.quarantine.map { ($0.reason, $0.rows) })),
                table(
                    "Examples; the hash is the beginning of sha256 in the table quarantine", "reason",
                    texts: ["message", "hash"], rows: examples),
            ])
    }

    private var conflicts: Object? {
        let rows = report.conflictExamples.map { conflict in
            row(
                Printable.text(conflict.originalTransactionId), [],
                cells: [conflict.userIds.map(Printable.text).joined(separator: ", ")])
        }
        return section(
            "Conflicts",
            """
            \(Self.number(report.conflicts)) purchases for which records name several users. Decide which user owns each; the table conflicts \
            of the export lists them.
            """, if: report.conflicts > 0,
            tables: [table("Examples", "originalTransactionId", texts: ["users"], rows: rows)])
    }

    private var questions: Object? {
        let rows = report.questions.map { question in
            row(question.reason, [question.purchases], cells: [Self.meaning(question.reason)])
        }
        var tables: [Object] = []
        if !rows.isEmpty {
            tables.append(
                table("to_ask_apple", "reason", heads: ["purchases"], texts: ["what to query"], rows: rows))
        }
        if let enrichmentRuns { tables.append(enrichmentRuns) }
        return section(
            "App Store Server API",
            """
            It has the fields that the documents lack. The table to_ask_apple of the export lists the purchases, in the order of what an \
            answer could change.
            """,
            if: report.purchases + report.bareTransactionIds + report.questions.count + report.enrichmentRuns > 0,
            cards: [
                (report.customersAnswered, "customers with an answer"),
                (report.purchasesAnswered, "purchases with an answer"),
                (report.purchases - report.purchasesAnswered, "purchases without an answer"),
                (report.bareTransactionIds, "bare transaction ids in quarantine"),
                (report.unknownToAppStore, "answers that it does not know an id"),
            ], tables: tables, commands: enrichment)
    }

    private var enrichmentRuns: Object? {
        guard report.enrichmentRuns > 0 else { return nil }
        let counts = report.enrichment
        return table(
            "All runs of enrich", "counted", heads: ["number"], texts: ["meaning"],
            rows: [
                row("runs", [report.enrichmentRuns], cells: ["that queried the App Store"]),
                row("requests", [counts.requests], cells: ["repeated ones too"]),
                row("answered", [counts.answered], cells: ["customers and bare transaction ids"]),
                row("unknown", [counts.unknown], cells: ["the App Store knows none of their transactions"]),
                row("failed", [counts.failed], cells: ["the next run queries them again"]),
                row("refused", [counts.refused], cells: ["runs whose app or key the App Store did not accept"]),
                row("new facts", [counts.newFacts], cells: ["new to the store, or newer than its own"]),
            ])
    }

    /// The command that queries the rest; none if there is no rest.
    private var enrichment: [(String, String)] {
        guard report.purchases > report.purchasesAnswered || report.bareTransactionIds > 0 else { return [] }
        // Nothing names the app of a bare id.
        let apps = report.appsToQuery.isEmpty ? ["ID"] : report.appsToQuery.map { ShellWord.quoted(Printable.text($0)) }
        let arguments = apps.map { "--bundle-id \($0)" }.joined(separator: " ")
        return [
            (
                "Query the App Store for the rest. This prints the number of calls; with a key and without --dry-run, it sends them:",
                "legacy-receipts enrich --store \(ShellWord.quoted(Printable.text(store))) \(arguments) --dry-run"
            )
        ]
    }

    private static func meaning(_ reason: String) -> String {
        switch reason {
        case "unconfirmedCancellation":
            "Get Transaction Info: an unsigned document states a cancellation that no signed one confirms."
        case "unexplainedCancellation": "Get Transaction Info: whether a cancellation was a refund or an upgrade."
        case "unsigned": "Get Transaction Info: no signed document states the transaction."
        case "notCurrent": "Get All Subscription Statuses: the last known period is over; did it renew?"
        default: "Get Transaction History: price, currency, storefront and other fields that receipts lack."
        }
    }

    private var next: Object? {
        let store = ShellWord.quoted(Printable.text(store))
        let catalog = catalogFiles.map { " --catalog \(ShellWord.quoted(Printable.text($0)))" }.joined()
        var commands = [
            ("Write all purchases as tables:", "legacy-receipts export --store \(store) --to tables\(catalog)")
        ]
        if report.quarantined > 0 {
            commands.append(
                (
                    "After you have fixed the reasons, read the quarantine again:",
                    "legacy-receipts migrate --retry --into \(store)"
                ))
        }
        commands.append(
            ("Answer verifyReceipt requests from the store:", "legacy-receipts serve --port 8080 --store \(store)"))
        return section("Next steps", url.omission ?? "", commands: commands)
    }

    // MARK: Tables

    private func row(_ name: String, _ values: [Int], cells: [String] = [], bar: Int? = nil) -> Object {
        var object: Object = [
            "name": name, "values": values.map { ["value": Self.number($0)] as Object },
            "cells": cells.map { ["cell": $0] as Object },
        ]
        if let bar { object["bar"] = ["length": String(bar)] as Object }
        return object
    }

    private func table(
        _ caption: String?, _ first: String, heads: [String] = [], texts: [String] = [], rows: [Object],
        hasBars: Bool = false, folded: String? = nil
    ) -> Object {
        var object: Object = [
            "first": first, "heads": heads.map { ["head": $0] as Object },
            "texts": texts.map { ["text": $0] as Object },
            "rows": rows, "hasBars": hasBars, "isWide": !texts.isEmpty || folded != nil,
        ]
        if let caption { object["caption"] = caption }
        if let folded { object["folded"] = folded }
        return object
    }

    /// The most frequent names, or all by name, with a bar for each.
    private func counts(_ caption: String?, _ first: String, _ counts: [String: Int], isByName: Bool = false) -> Object
    {
        let frequent = counts.filter { $0.key != "(other)" }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var shown = Array(frequent.prefix(Self.maximumRows))
        let rest = frequent.dropFirst(Self.maximumRows).reduce(counts["(other)"] ?? 0) { $0 + $1.value }
        let highest = max(1, shown.reduce(rest) { max($0, $1.value) })
        if isByName { shown.sort { $0.key < $1.key } }
        var rows = shown.map {
            row(Printable.text($0.key), [$0.value], bar: Int((1_000 * Double($0.value) / Double(highest)).rounded()))
        }
        if rest > 0 { rows.append(row("other", [rest], bar: Int((1_000 * Double(rest) / Double(highest)).rounded()))) }
        return table(caption, first, heads: ["number"], rows: rows, hasBars: true)
    }

    // MARK: Text

    private static func name(_ month: StoreReport.Month) -> String {
        "\(month.year)-\(month.month < 10 ? "0" : "")\(month.month)"
    }

    /// With a comma before each three digits, in all locales.
    private static func number(_ number: Int) -> String {
        number.formatted(IntegerFormatStyle<Int>(locale: Locale(identifier: "en_US")))
    }

    /// One decimal, which is the same on every machine.
    private static func decimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
