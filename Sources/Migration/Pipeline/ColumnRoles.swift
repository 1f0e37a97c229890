internal import AppStoreModels
internal import Foundation
internal import Purchases

/// The columns or members of the caller's own that state something about the documents beside them. They count for unsigned
/// documents only, and only where a document itself states nothing: bare rows, for example, name no app and no environment.
public struct DocumentColumns: Sendable, Hashable {
    /// What a column states.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        /// The bundle id of the app.
        case bundleId
        /// Production or sandbox.
        case environment
        /// The `appAccountToken`, a UUID.
        case appAccountToken
        /// When the document was stored: a number of seconds or milliseconds since 1970, or a date as in ISO 8601; without a
        /// time zone, in UTC.
        case recordedAt
    }

    /// The names that the caller gave. The other columns are found by their names.
    public var names: [Role: String]

    public init(_ names: [Role: String] = [:]) { self.names = names }

    /// What the columns beside a document state about it.
    func surroundings(_ columns: [CarriedColumn]) -> RecordedSurroundings {
        var result = RecordedSurroundings()
        func text(_ role: Role) -> (text: String, name: String)? {
            column(role, columns).flatMap { column in column.content.map { ($0, column.name) } }
        }
        if let (id, name) = text(.bundleId), Self.isBundleId(id) { result.bundleId = .init(id, name) }
        if let (text, name) = text(.environment), let environment = RecordedSurroundings.environment(text) {
            result.environment = .init(environment, name)
        }
        if let (token, name) = text(.appAccountToken), UUID(uuidString: token) != nil {
            result.appAccountToken = .init(token, name)
        }
        if let (text, name) = text(.recordedAt), let date = Self.date(text) { result.recordedAt = .init(date, name) }
        return result
    }

    /// The column with a role; nil if there is none.
    func column(_ role: Role, _ columns: [CarriedColumn]) -> CarriedColumn? {
        if let name = names[role] { return columns.last { $0.isNamed(name) } }
        return columns.nearest { Self.names(of: role).firstIndex(of: $0) }
    }

    /// Names in lower case and without separators; the first one counts.
    fileprivate static func names(of role: Role) -> [String] {
        switch role {
        case .bundleId: ["bundleid", "appbundleid", "bundleidentifier", "bundle", "appid"]
        case .environment: ["environment", "appstoreenvironment", "receiptenvironment", "env"]
        case .appAccountToken: ["appaccounttoken", "accounttoken"]
        // Not `created_at`, which is often the date of the user.
        case .recordedAt: ["recordedat", "verifiedat", "validatedat", "receivedat", "fetchedat", "requestdate"]
        }
    }

    /// Columns such as `app_id` also hold numbers.
    private static func isBundleId(_ text: String) -> Bool {
        guard (3...155).contains(text.utf8.count), text.contains(".") else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    /// In milliseconds since 1970-01-01T00:00:00Z; nil for what is no date of the App Store's time.
    package static func date(_ text: String) -> Int64? {
        let date: Int64
        if let number = Int64(text) {
            date = number < 100_000_000_000 ? number.multipliedReportingOverflow(by: 1_000).partialValue : number
        } else {
            guard text.utf8.count <= 40, let parsed = written(text) else { return nil }
            date = parsed
        }
        // From the opening of the App Store on.
        return (1_215_648_000_000...PacificTime.range.upperBound).contains(date) ? date : nil
    }

    /// Databases write a blank for the T, fractions of a second, and time zones such as `+00`.
    private static func written(_ text: String) -> Int64? {
        var text = text
        if text.utf8.count > 10, text.utf8.dropFirst(10).first == UInt8(ascii: " ") {
            text = text.prefix(10) + "T" + text.dropFirst(11)
        }
        var milliseconds: Int64 = 0
        if let point = text.firstIndex(of: "."), text.utf8.count > 10 {
            let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
            guard let fraction = Int64(digits.prefix(3).padding(toLength: 3, withPad: "0", startingAt: 0)) else {
                return nil
            }
            milliseconds = fraction
            text.removeSubrange(point..<digits.endIndex)
        }
        let zone = text.dropFirst(10)
        if zone.isEmpty {
            text += "T00:00:00Z"
        } else if let sign = zone.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            if zone[sign...].count == 3 { text += ":00" }
        } else if !zone.hasSuffix("Z") {
            text += "Z"
        }
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        return Int64(date.timeIntervalSince1970) * 1_000 + milliseconds
    }
}

/// The roles that the caller gave to columns by name. A quarantined record keeps them, so that `--retry` needs no options.
struct ColumnRoles: Sendable {
    var users: UserColumns
    var documents: DocumentColumns
    var receipt: String?

    /// The names.
    var all: [String] {
        [users.user].compactMap(\.self) + users.carried.sorted() + documents.names.values.sorted()
    }

    /// Whether no role was given.
    var isEmpty: Bool { all.isEmpty && receipt == nil }

    /// The roles that a run gives come before those that the record has.
    func overridden(by run: ColumnRoles) -> ColumnRoles {
        ColumnRoles(
            users: UserColumns(user: run.users.user ?? users.user, carried: users.carried.union(run.users.carried)),
            documents: DocumentColumns(documents.names.merging(run.documents.names) { $1 }),
            receipt: run.receipt ?? receipt)
    }

    // MARK: In a line of the quarantine

    init(users: UserColumns, documents: DocumentColumns, receipt: String?) {
        self.users = users
        self.documents = documents
        self.receipt = receipt
    }

    init(quarantined value: JSONValue?) {
        users = UserColumns(
            user: value?["user"]?.string, carried: Set((value?["carry"]?.array ?? []).compactMap(\.string)))
        receipt = value?["receipt"]?.string
        documents = DocumentColumns()
        for role in DocumentColumns.Role.allCases { documents.names[role] = value?[role.rawValue]?.string }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receipt", receipt)
        writer.member("user", users.user)
        for role in DocumentColumns.Role.allCases {
            guard let name = documents.names[role] else { continue }
            writer.key(role.rawValue)
            writer.string(name)
        }
        if !users.carried.isEmpty {
            writer.key("carry")
            writer.beginArray()
            for name in users.carried.sorted() { writer.string(name) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension CarriedColumn {
    /// The content as text; nil for an empty text, an object, an array or null.
    var content: String? {
        switch value {
        case .text(let text): return text.isEmpty ? nil : text
        case .json(let json):
            guard let first = json.utf8.first, first != 0x5B, first != 0x7B, json != "null" else { return nil }
            return json
        }
    }

    /// Whether it is the column with this name, or a member with it beside a document inside the record.
    func isNamed(_ name: String) -> Bool { self.name == name || self.name.hasSuffix("." + name) }

    /// Whether a role is found by this name.
    var hasNameOfRole: Bool {
        let name = plainName
        return UserColumns.names.contains(name)
            || DocumentColumns.Role.allCases.contains { DocumentColumns.names(of: $0).contains(name) }
    }

    /// The last part of the name, in lower case and without separators.
    fileprivate var plainName: String {
        let last = name.split(separator: ".").last ?? ""
        return String(
            decoding: last.lowercased().utf8.filter { $0 != 0x5F && $0 != 0x2D && $0 != 0x20 }, as: UTF8.self)
    }

    /// The number of containers around the column in its record.
    fileprivate var depth: Int { name.utf8.count { $0 == UInt8(ascii: ".") } }
}

extension [CarriedColumn] {
    /// The column with the best name, and of several the one nearest to the document.
    /// - Parameter rank: the rank of a name in lower case and without separators; nil for another column.
    func nearest(_ rank: (String) -> Int?) -> CarriedColumn? {
        var best: (rank: Int, column: CarriedColumn)?
        for column in self {
            guard let rank = rank(column.plainName) else { continue }
            if let best {
                guard rank < best.rank || (rank == best.rank && column.depth > best.column.depth) else { continue }
            }
            best = (rank, column)
        }
        return best?.column
    }
}
