import AppStoreModels
import Crypto
import Encodings
import Foundation
import Migration
import Mustache
import Purchases

/// The page of the inspector: forms for a document and for an id of a customer, and what there is to show. It only formats: the
/// parts come from `inspect`, `customer` and the endpoint.
///
/// The template is inspector.html, for Mustache. Values from documents are only between its tags, where Mustache escapes them.
/// Attributes contain numbers, names of tables, and the id of the request, which Mustache escapes too.
struct InspectorPage {
    private typealias Object = [String: Any]

    private var blocks: [Object] = []
    private let id: String

    /// - Parameter id: the id to show in the form.
    init(id: String = "") { self.id = id }

    /// - Throws: the error of a template that cannot be read.
    func html() throws -> [UInt8] {
        var page: Object = ["style": Self.style, "script": Self.script, "id": id, "blocks": blocks]
        // A screen reader says the title first. It is only a heading, because browsers keep titles in their history.
        page["title"] = blocks.first?["heading"]
        let template = String(decoding: PackageResources.inspector_html, as: UTF8.self)
        return Array(try MustacheTemplate(string: template).render(page).utf8)
    }

    private static let style = text(PackageResources.inspector_css)
    /// Reads a file that is chosen or dropped into the text field: text as it is, because only receipts may be base64, and bytes
    /// as base64. Without it, documents are pasted.
    private static let script = text(PackageResources.inspector_js)

    /// Without the line feed at the end of the file.
    private static func text(_ file: [UInt8]) -> String { String(decoding: file.dropLast(), as: UTF8.self) }

    /// Nothing is loaded, the page is in no frame, and forms go only to where the page comes from.
    static let contentSecurityPolicy = """
        default-src 'none'; style-src '\(hash(style))'; script-src '\(hash(script))'; \
        form-action 'self'; frame-ancestors 'none'; base-uri 'none'
        """

    private static func hash(_ text: String) -> String {
        "sha256-" + Base64.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }

    // MARK: Parts

    /// A heading with a sentence.
    mutating func add(heading: String, _ text: String = "", isFailure: Bool = false) {
        var block: Object = ["heading": heading, "isFailure": isFailure]
        if !text.isEmpty { block["text"] = text }
        blocks.append(block)
    }

    /// JSON that a person can copy.
    mutating func add(folded: String, json: String) {
        blocks.append(["folded": folded, "pre": json])
    }

    mutating func add(table caption: String, columns: [String], rows: [[String?]]) {
        guard !rows.isEmpty else { return }
        let table: Object = [
            "caption": caption, "columns": columns.map { ["column": $0] as Object },
            "rows": rows.map { row in ["cells": row.map { ["cell": $0 ?? ""] as Object }] as Object },
        ]
        blocks.append(["table": table])
    }

    // MARK: Inspections

    /// How many documents within one another are shown.
    private static let maximumDocuments = 50

    /// The kind and the checks of a document, from the JSON of `inspect`.
    mutating func add(inspection json: [UInt8], heading: String = "The document") {
        guard let object = try? JSONValue.parse(json).object else { return }
        var rest = Self.maximumDocuments
        add(inspection: object, heading, &rest)
    }

    private mutating func add(inspection object: JSONObject, _ heading: String, _ rest: inout Int) {
        guard rest > 0 else { return }
        rest -= 1
        let path = object["path"]?.string ?? ""
        let (verdict, isFailure) = Self.verdict(object)
        add(heading: path.isEmpty ? heading : "\(heading): \(Printable.text(path))", verdict, isFailure: isFailure)
        let checks = object["checks"]?.array ?? []
        add(
            table: "Every check", columns: ["check", "outcome", "why"],
            rows: checks.map { check in
                let reason = [check["code"]?.string, check["message"]?.string].compactMap(\.self).joined(
                    separator: ": ")
                return [check["check"]?.string, check["outcome"]?.string, Printable.text(reason)]
            })
        let scalars = object.members.compactMap { member -> [String?]? in
            guard !["path", "verdict", "code", "message"].contains(member.key),
                let text = Self.scalar(member.key, member.value)
            else { return nil }
            return [member.key, text]
        }
        add(table: "What it is", columns: ["name", "value"], rows: scalars)
        for member in object.members where member.key != "checks" {
            let inner = member.value.array?.compactMap(\.object) ?? []
            if ["documents", "nested", "receipts"].contains(member.key) {
                for document in inner { add(inspection: document, "Inside", &rest) }
            } else if member.value.array != nil || member.value.object != nil {
                add(folded: member.key, json: member.value.indented)
            }
        }
    }

    private static func verdict(_ object: JSONObject) -> (String, isFailure: Bool) {
        let message = Printable.text(object["message"]?.string ?? "")
        switch object["verdict"]?.string {
        case "genuine": return ("Genuine: signed by Apple, or by an authority that you trust.", false)
        case "notGenuine": return ("Not genuine. \(message)", true)
        case "notSigned": return ("It has no signature: anyone can have written it.", true)
        case "notAReceipt": return ("Not a document of the App Store. \(message)", true)
        default: return ("Several documents.", false)
        }
    }

    private static func scalar(_ name: String, _ value: JSONValue) -> String? {
        if let text = value.string { return Printable.text(text) }
        if let number = value.integer {
            let isDate = ["date", "time", "before", "after"].contains { name.lowercased().hasSuffix($0) }
            return isDate ? "\(DateText.iso(number)) (\(number))" : String(number)
        }
        return value.bool.map { $0 ? "true" : "false" }
    }

    /// With line breaks, for people.
    static func pretty(_ json: [UInt8]) -> String {
        (try? JSONValue.parse(json))?.indented ?? String(decoding: json, as: UTF8.self)
    }

    // MARK: Customers

    /// The tables of a customer, with the timeline of the subscriptions.
    mutating func add(_ report: CustomerReport, heading: String, _ text: String, now: Int64) {
        add(heading: heading, text)
        for section in report.sections {
            let table = CustomerText.table(section)
            if section.table.name == "periods", let timeline = Timeline(report.periods, now: now) {
                blocks.append(["timeline": timeline.object])
            }
            add(table: section.table.name, columns: table.columns, rows: table.rows)
        }
    }
}

/// The periods of the subscriptions as bars, a line for each subscription group.
private struct Timeline {
    let object: [String: Any]

    /// Pixels of the drawing. All attributes are numbers, so no text of a document can be part of one.
    private static let (width, barHeight, gap) = (640.0, 14.0, 8.0)
    private static let maximumBars = 500

    /// Nil if each period ends when it begins.
    init?(_ periods: [SubscriptionTimelinePeriod], now: Int64) {
        let periods = periods.suffix(Self.maximumBars).filter { $0.start < $0.end }
        let dates = periods.flatMap { [$0.start, $0.end] } + [now]
        guard !periods.isEmpty, let first = dates.min(), let last = dates.max(), first < last else { return nil }
        func x(_ date: Int64) -> Double {
            ((Double(date - first) / Double(last - first) * Self.width) * 10).rounded() / 10
        }
        var lanes: [String] = []
        let bars = periods.map { period -> [String: Any] in
            let (from, to, payload) = (period.start, period.end, period.transaction)
            let group = period.group ?? ""
            let lane = group.isEmpty ? payload.originalTransactionId ?? "" : group
            if !lanes.contains(lane) { lanes.append(lane) }
            let (state, words) =
                switch PurchaseState(revocationDate: payload.revocationDate, isUpgraded: payload.isUpgraded == true) {
                case .purchased: ("paid", "")
                case .revoked: ("revoked", ", refunded or revoked")
                case .upgraded: ("upgraded", ", upgraded")
                }
            return [
                "class": state, "x": x(from), "width": max(1, x(to) - x(from) - 0.5),
                "y": Double(lanes.firstIndex(of: lane) ?? 0) * (Self.barHeight + Self.gap), "height": Self.barHeight,
                "title": Printable.text(payload.productId ?? "") + ": \(DateText.iso(from)) to \(DateText.iso(to))"
                    + words,
            ]
        }
        object = [
            "bars": bars, "now": x(now), "height": Double(lanes.count) * (Self.barHeight + Self.gap),
            "from": String(DateText.iso(first).prefix(10)), "to": String(DateText.iso(last).prefix(10)),
        ]
    }
}
