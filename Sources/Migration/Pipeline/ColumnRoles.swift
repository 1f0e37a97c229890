internal import AppStoreModels
internal import Encodings
internal import Foundation
internal import Purchases

/// The columns or members of the caller's own that state something about the documents beside them. They count for unsigned
/// documents only, and only where a document itself states nothing: bare rows, for example, name no app and no environment.
public struct DocumentColumns: Sendable, Hashable {
    /// The content of a column.
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

    /// - Parameter names: the columns or members that the caller names. Those with other roles are found by usual
    ///   names, such as `bundle_id`.
    public init(_ names: [Role: String] = [:]) { self.names = names }

    /// What the columns beside a document state about it.
    func surroundings(_ columns: [CarriedColumn]) -> RecordedSurroundings { read(columns).stated }

    /// What the columns beside a document state about it, and the roles whose column has a value that cannot be read.
    func read(_ columns: [CarriedColumn]) -> (stated: RecordedSurroundings, unread: [Role]) {
        var stated = RecordedSurroundings()
        var unread: [Role] = []
        for role in Role.allCases {
            guard let column = column(role, columns) else { continue }
            if let text = column.content {
                if !Self.set(role, text, column.name, in: &stated), isDefinite(role) { unread.append(role) }
            } else if column.isContainer, isDefinite(role) {
                unread.append(role)
            }
        }
        return (stated, unread)
    }

    /// Whether a text states what the role says.
    private static func set(_ role: Role, _ text: String, _ name: String, in stated: inout RecordedSurroundings) -> Bool
    {
        switch role {
        case .bundleId:
            stated.bundleId = bundleId(text).map { .init($0, name) }
            return stated.bundleId != nil
        case .environment:
            stated.environment = RecordedSurroundings.environment(text).map { .init($0, name) }
            return stated.environment != nil
        case .appAccountToken:
            stated.appAccountToken = UUID(uuidString: text).map { _ in .init(text, name) }
            return stated.appAccountToken != nil
        case .recordedAt:
            stated.recordedAt = Self.date(text).map { .init($0, name) }
            return stated.recordedAt != nil
        }
    }

    /// Whether a column with the role can be nothing else. One that was found by a name such as `app_id` can.
    private func isDefinite(_ role: Role) -> Bool {
        names[role] != nil || role == .recordedAt || role == .environment
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

    /// The bundle id in a text. Columns such as `app_id` also hold numbers, versions, and App IDs: a bundle id after the id of
    /// the team.
    static func bundleId(_ text: String) -> String? {
        guard (3...155).contains(text.utf8.count), text.contains("."), text.contains(where: \.isLetter) else {
            return nil
        }
        guard text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || ".-".utf8.contains($0) }) else { return nil }
        let team = text.prefix { $0 != "." }
        let id = text.dropFirst(11)
        let isAppId = team.count == 10 && team.allSatisfy { $0.isUppercase || $0.isNumber } && id.contains(".")
        return isAppId ? String(id) : text
    }

    /// In milliseconds since 1970-01-01T00:00:00Z; nil for what is no date of the App Store's time.
    package static func date(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let trimmed = text.drop { $0.isWhitespace }
        guard let date = number(trimmed) ?? written(trimmed) else { return nil }
        // From the opening of the App Store on.
        return (1_215_648_000_000...PacificTime.range.upperBound).contains(date) ? date : nil
    }

    /// Seconds since 1970, also with a fraction, or milliseconds, microseconds or nanoseconds: their sizes differ.
    private static func number(_ text: Substring) -> Int64? {
        let whole = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(whole) else { return nil }
        let rest = text[whole.endIndex...]
        if number < 100_000_000_000, let fraction = RecordedDate.fraction(rest),
            fraction.rest.allSatisfy(\.isWhitespace)
        {
            return number * 1_000 + fraction.milliseconds
        }
        guard rest.allSatisfy(\.isWhitespace) else { return nil }
        switch number {
        case ..<100_000_000_000: return number * 1_000
        case ..<100_000_000_000_000: return number
        case ..<100_000_000_000_000_000: return number / 1_000
        // Up to the year 2100; larger numbers are no dates.
        case ..<4_102_444_800_000_000_000: return number / 1_000_000
        default: return nil
        }
    }

    /// A date as in ISO 8601. It can have slashes, no seconds, or only the day.
    private static func written(_ text: Substring) -> Int64? {
        let day = text.prefix(10).replacing("/", with: "-")
        let rest = text.dropFirst(10)
        guard !rest.isEmpty else { return RecordedDate.text("\(day)T00:00:00Z")?.milliseconds }
        let time = rest.dropFirst().prefix { $0.isASCII && ($0.isNumber || $0 == ":") }
        let seconds = time.count == 5 ? ":00" : ""
        return RecordedDate.text(
            "\(day)\(rest[..<time.endIndex])\(seconds)\(rest[time.endIndex...])", assumesUTC: true)?
            .milliseconds
    }
}

/// The roles that the caller gave to columns by name, and the defaults for what no column states. A quarantined record keeps them, so
/// that `--retry` needs no options.
struct ColumnRoles: Sendable {
    var users: UserColumns
    var documents: DocumentColumns
    var receipts: [String]
    var defaults = DocumentDefaults()

    /// The names.
    var all: [String] {
        [users.user].compactMap(\.self) + users.carried.sorted() + documents.names.values.sorted()
    }

    /// Whether no role and no default was given.
    var isEmpty: Bool { all.isEmpty && receipts.isEmpty && defaults.isEmpty }

    /// The roles of the columns of a record. The roles of this run override those of an earlier run.
    func roles(of record: InputRecord) -> ColumnRoles { record.roles?.overridden(by: self) ?? self }

    private func overridden(by run: ColumnRoles) -> ColumnRoles {
        ColumnRoles(
            users: UserColumns(user: run.users.user ?? users.user, carried: users.carried.union(run.users.carried)),
            documents: DocumentColumns(documents.names.merging(run.documents.names) { $1 }),
            receipts: run.receipts.isEmpty ? receipts : run.receipts,
            defaults: DocumentDefaults(
                bundleId: run.defaults.bundleId ?? defaults.bundleId,
                environment: run.defaults.environment ?? defaults.environment))
    }
}

/// In a line of the quarantine.
extension ColumnRoles {
    init(quarantined value: JSONValue?) {
        users = UserColumns(
            user: value?["user"]?.string, carried: Set((value?["carry"]?.array ?? []).compactMap(\.string)))
        receipts = value?["receipt"]?.string.map { [$0] } ?? (value?["receipt"]?.array ?? []).compactMap(\.string)
        documents = DocumentColumns()
        for role in DocumentColumns.Role.allCases { documents.names[role] = value?[role.rawValue]?.string }
        defaults = DocumentDefaults(
            bundleId: value?["defaultBundleId"]?.string,
            environment: value?["defaultEnvironment"]?.string.map { Environment(rawValue: $0) })
    }

    func writeMembers(to writer: inout JSONWriter) {
        if receipts.count > 1 {
            writer.array("receipt", receipts) { $0.string($1) }
        } else {
            writer.member("receipt", receipts.first)
        }
        writer.member("user", users.user)
        for role in DocumentColumns.Role.allCases {
            guard let name = documents.names[role] else { continue }
            writer.key(role.rawValue)
            writer.string(name)
        }
        writer.member("defaultBundleId", defaults.bundleId)
        writer.member("defaultEnvironment", defaults.environment?.rawValue)
        if !users.carried.isEmpty {
            writer.array("carry", users.carried.sorted()) { $0.string($1) }
        }
    }
}

extension CarriedColumn {
    /// The content as text; nil for an empty text, an object, an array, null, or a word in place of null.
    var content: String? {
        switch value {
        case .text(let text): return text.isEmpty || StoredText.nullWords.contains(text) ? nil : text
        case .json(let json): return isContainer || json.isEmpty || json == "null" ? nil : json
        }
    }

    /// Whether the value is a JSON object or array.
    var isContainer: Bool {
        guard case .json(let json) = value, let first = json.utf8.first else { return false }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// The id of a user: the content, or the id in an object that describes the user.
    var userId: String? {
        guard isContainer, case .json(let json) = value else { return content }
        let user = (try? JSONValue.parse(Array(json.utf8)))?.object
        let members = (user?.members ?? []).compactMap { member -> CarriedColumn? in
            switch member.value {
            case .string(let text): CarriedColumn(name: member.key, value: .text(text))
            case .integer(let number): CarriedColumn(name: member.key, value: .json(String(number)))
            default: nil
            }
        }
        let names = ["id", "objectid"] + UserColumns.names
        return members.nearest { names.firstIndex(of: $0) }?.content
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
        SimilarNames.plain(depth == 0 ? name[...] : name.split(separator: ".").last ?? "")
    }

    /// The number of containers around the column in its record.
    fileprivate var depth: Int { name.utf8.count { $0 == UInt8(ascii: ".") } }
}

extension [CarriedColumn] {
    /// Of the columns that have a value, the one with the best name, and of several the one nearest to the document.
    /// - Parameter rank: the rank of a name in lower case and without separators; nil for another column.
    func nearest(_ rank: (String) -> Int?) -> CarriedColumn? {
        var best: (rank: Int, column: CarriedColumn)?
        for column in self {
            guard let rank = rank(column.plainName) else { continue }
            if let best {
                guard rank < best.rank || (rank == best.rank && column.depth > best.column.depth) else { continue }
            }
            guard column.isContainer || column.content != nil else { continue }
            best = (rank, column)
        }
        return best?.column
    }
}
