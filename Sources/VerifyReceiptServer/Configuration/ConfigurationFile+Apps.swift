import Configuration
import Foundation
import VerifyReceipt

// The list `apps`, of which each entry is one app.

extension ConfigurationFile {
    /// One app before its files are read.
    struct AppEntry {
        var bundleId = ""
        var secrets: [String] = []
        var secretFiles: [String] = []
        var appleId: Int64?
        var catalogs: [String] = []
        var order: EndpointConfiguration.Order?
        var freshness = FreshnessEntry()
        var appStoreServer = AppStoreServerEntry()
        let key: String
        let place: String
    }

    /// How current an app's answers have to be, as far as its entry says.
    struct FreshnessEntry {
        var mode: Freshness.Source?
        /// Seconds.
        var maximumAge: Double?
        var isRequired: Bool?
    }

    /// The In-App Purchase key of an app, as far as its entry says.
    struct AppStoreServerEntry {
        var issuerID: String?
        var keyID: String?
        var privateKeyFile: String?
    }

    mutating func readApps(_ member: ConfigurationNode.Member) {
        guard let elements = member.value.elements else {
            note("apps", member.line, "has to be a list")
            return
        }
        guard !elements.isEmpty else { return note("apps", member.line, ConfigurationValues.isEmpty) }
        for (index, element) in elements.enumerated() {
            let key = "apps[\(index)]"
            guard let members = element.members else {
                note(key, element.line, "has to hold keys and values")
                continue
            }
            var app = AppEntry(key: key, place: "\(path):\(element.line)")
            for member in members { read(member, of: &app) }
            if app.bundleId.isEmpty {
                note("\(key).bundle-id", element.line, "is missing")
            } else if let other = apps.first(where: { $0.bundleId == app.bundleId }) {
                note("\(key).bundle-id", element.line, "\(app.bundleId) is at \(other.place) already")
            }
            apps.append(app)
        }
    }

    private mutating func read(_ member: ConfigurationNode.Member, of app: inout AppEntry) {
        let key = "\(app.key).\(member.key)"
        switch member.key {
        case "bundle-id":
            guard let text = member.value.text, Self.isBundleId(text) else {
                note(key, member.line, "has to be a bundle id: letters, digits, dots and hyphens")
                return
            }
            app.bundleId = text
        case "apple-id":
            guard let number = member.value.word.flatMap({ Int64($0) }), number > 0 else {
                note(key, member.line, "has to be a whole number above 0")
                return
            }
            app.appleId = number
        case "shared-secrets", "shared-secret-files", "catalogs":
            guard let texts = texts(member.value), !texts.contains("") else {
                return note(key, member.line, "has to be a list of texts")
            }
            // An app without a secret takes every password.
            let mayBeEmpty = member.key == "catalogs" && !member.value.isAbsent
            guard mayBeEmpty || !texts.isEmpty else { return note(key, member.line, ConfigurationValues.isEmpty) }
            switch member.key {
            case "shared-secrets":
                if !texts.allSatisfy(Self.isSecret) { note(key, member.line, Self.secretExpectation) }
                app.secrets = texts
            case "shared-secret-files": app.secretFiles = texts.map(resolved)
            default: app.catalogs = texts.map(resolved)
            }
        case "order":
            guard let order = member.value.text.flatMap(EndpointConfiguration.Order.init(rawValue:)) else {
                let orders = EndpointConfiguration.Order.allCases.map(\.rawValue).joined(separator: ", ")
                return note(key, member.line, "has to be one of \(orders)")
            }
            app.order = order
        case "freshness":
            readMembers(of: member, key: key) { inner, key, file in file.read(inner, key, of: &app.freshness) }
        case "app-store-server":
            readMembers(of: member, key: key) { inner, key, file in file.read(inner, key, of: &app.appStoreServer) }
        default:
            note(key, member.line, "there is no such key")
        }
    }

    private mutating func readMembers(
        of member: ConfigurationNode.Member, key: String,
        _ read: (ConfigurationNode.Member, String, inout ConfigurationFile) -> Void
    ) {
        guard let members = member.value.members else {
            return note(key, member.line, "has to hold keys and values")
        }
        for inner in members { read(inner, "\(key).\(inner.key)", &self) }
    }

    private mutating func read(_ member: ConfigurationNode.Member, _ key: String, of entry: inout FreshnessEntry) {
        switch member.key {
        case "mode":
            guard let mode = member.value.text.flatMap(Freshness.Source.init(rawValue:)) else {
                let modes = Freshness.Source.allCases.map(\.rawValue).joined(separator: ", ")
                return note(key, member.line, "has to be one of \(modes)")
            }
            entry.mode = mode
        case "maximum-age":
            guard let seconds = member.value.word.flatMap({ Double($0) }), Setting.maximumAges.contains(seconds) else {
                return note(key, member.line, "has to be \(Setting.Kind.seconds(Setting.maximumAges).expectation)")
            }
            entry.maximumAge = seconds
        case "required":
            guard let isRequired = member.value.word.flatMap({ Bool($0) }) else {
                return note(key, member.line, "has to be true or false")
            }
            entry.isRequired = isRequired
        default: note(key, member.line, "there is no such key")
        }
    }

    private mutating func read(_ member: ConfigurationNode.Member, _ key: String, of entry: inout AppStoreServerEntry) {
        guard ["issuer-id", "key-id", "private-key-file"].contains(member.key) else {
            return note(key, member.line, "there is no such key")
        }
        guard let text = member.value.text, !text.isEmpty else {
            return note(key, member.line, "has to be a text")
        }
        switch member.key {
        case "issuer-id": entry.issuerID = text
        case "key-id": entry.keyID = text
        default: entry.privateKeyFile = resolved(text)
        }
    }

    static let secretExpectation = "has to hold secrets that are not blank, without blanks at their ends"

    /// Whether a text can be what App Store Connect shows. Blanks at its ends come from copying; in files they do not count.
    static func isSecret(_ text: String) -> Bool {
        !text.isEmpty && text == text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Apple's rule (CFBundleIdentifier), and the underscore that some have nevertheless.
    private static func isBundleId(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
