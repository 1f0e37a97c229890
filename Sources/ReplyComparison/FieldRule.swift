/// What is known of one member of a reply: where its value comes from. The comparison sorts differences by it, and the
/// coverage table of Documentation/Replies.md is printed from it.
package struct FieldRule: Sendable {
    package enum Origin: Sendable, Equatable {
        /// The endpoint itself decides: status, environment.
        case answer
        /// Whoever signed the receipt stated it.
        case signed
        /// The receipt states it where it has the attribute; Apple's database knows it in any case.
        case signedWhereStated
        /// The moment of the request.
        case clock
        /// Apple's database.
        case database
        /// `latest_receipt`.
        case reissued
        /// Ours on purpose, or Apple's without documentation.
        case addition, undocumented
        /// An object or a list with rules of its own.
        case container
    }

    /// Which forms of a date a member has (Reference.md V3.4 and V4).
    package enum Form: Sendable {
        case single
        /// `X`, `X_ms`, `X_pst`.
        case date
        /// `expires_date` in milliseconds, `expires_date_formatted`, `expires_date_formatted_pst` of iOS 6 replies.
        case formattedDate
    }

    /// How far our replies have it.
    package enum Support: String, Sendable {
        case yes
        /// Where the receipt, the store or the catalogue knows it.
        case whereKnown = "where known"
        case no
    }

    package let name: String
    package let form: Form
    package let origin: Origin
    package let support: Support
    /// For people: the attribute, the database …
    package let source: String
    /// Replies before this moment did not have the member; milliseconds since 1970-01-01T00:00:00Z.
    package let since: Int64?

    init(
        _ name: String, _ form: Form, _ origin: Origin, _ support: Support, _ source: String, since: Int64? = nil
    ) {
        self.name = name
        self.form = form
        self.origin = origin
        self.support = support
        self.source = source
        self.since = since
    }

    /// What is always there where it belongs.
    init(_ name: String, _ form: Form, _ origin: Origin, _ source: String, since: Int64? = nil) {
        self.init(name, form, origin, .yes, source, since: since)
    }

    init(_ name: String, _ origin: Origin, _ support: Support, _ source: String, since: Int64? = nil) {
        self.init(name, .single, origin, support, source, since: since)
    }

    init(_ name: String, _ origin: Origin, _ source: String, since: Int64? = nil) {
        self.init(name, .single, origin, .yes, source, since: since)
    }

    /// The keys on the wire.
    package var keys: [String] {
        switch form {
        case .single: [name]
        case .date: [name, name + "_ms", name + "_pst"]
        case .formattedDate: [name, name + "_formatted", name + "_formatted_pst"]
        }
    }

    /// The keys as the coverage table shows them.
    package var title: String {
        switch form {
        case .single: name
        case .date: name + "(_ms, _pst)"
        case .formattedDate: name + "(_formatted, _formatted_pst)"
        }
    }
}

/// The members of one kind of object.
package struct FieldRules: Sendable {
    package let rules: [FieldRule]
    private let byKey: [String: Int]

    init(_ rules: [FieldRule]) {
        self.rules = rules
        var byKey: [String: Int] = [:]
        for (index, rule) in rules.enumerated() {
            for key in rule.keys { byKey[key] = index }
        }
        self.byKey = byKey
    }

    subscript(key: String) -> FieldRule? { byKey[key].map { rules[$0] } }
}
