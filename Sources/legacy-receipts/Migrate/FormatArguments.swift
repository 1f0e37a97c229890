import AppStoreModels
public import ArgumentParser
public import Migration
import ProductCatalog

extension InputFormat: ExpressibleByArgument {}
extension TableOptions.Dialect: ExpressibleByArgument {}

extension DocumentColumns.Role {
    /// What the column states, in help and messages.
    var fact: String {
        switch self {
        case .bundleId: "app"
        case .environment, .appAccountToken: rawValue
        case .recordedAt: "date"
        }
    }

    /// The option of `migrate` that names the column.
    var option: String {
        switch self {
        case .bundleId: "--bundle-id-column"
        case .environment: "--environment-column"
        case .appAccountToken: "--account-token-column"
        case .recordedAt: "--recorded-at-column"
        }
    }
}

enum FormatArguments {
    /// The environment of a receipt, in any case.
    /// - Throws: `ValidationError` for a name that no receipt can have, which would quarantine everything.
    static func environment(_ name: String) throws -> Environment {
        guard let environment = named(name, in: [.production, .sandbox, .xcode]) else {
            throw ValidationError("--environment takes Production, Sandbox or Xcode, not '\(name)'.")
        }
        return environment
    }

    /// One of the App Store's two environments, in any case.
    /// - Throws: `ValidationError` for another name.
    static func appStoreEnvironment(_ name: String) throws -> Environment {
        guard let environment = named(name, in: [.production, .sandbox]) else {
            throw ValidationError("--environment takes Production or Sandbox, not '\(name)'.")
        }
        return environment
    }

    /// - Throws: `ValidationError` for a name other than those of the App Store's two environments.
    static func defaultEnvironment(_ name: String) throws -> Environment {
        guard let environment = named(name, in: [.production, .sandbox]) else {
            throw ValidationError("--default-environment takes Production or Sandbox, not '\(name)'.")
        }
        return environment
    }

    private static func named(_ name: String, in environments: [Environment]) -> Environment? {
        environments.first { $0.rawValue.lowercased() == name.lowercased() }
    }

    /// - Throws: `ValidationError` for a text that is no bundle id, such as the number of an app.
    static func defaultBundleId(_ text: String) throws -> String {
        guard DocumentDefaults.isBundleId(text) else {
            throw ValidationError("--default-bundle-id takes a bundle id such as com.example.app, not '\(text)'.")
        }
        return text
    }

    /// - Throws: `ValidationError` for what cannot separate fields.
    static func delimiter(_ text: String) throws -> Unicode.Scalar {
        let text = ["tab", "\\t"].contains(text) ? "\t" : text
        guard let character = text.unicodeScalars.first, text.unicodeScalars.count == 1,
            TableOptions.isDelimiter(character)
        else {
            throw ValidationError(
                "--delimiter takes tab, or one ASCII character that is not a letter, digit, quote or backslash.")
        }
        return character
    }

    /// - Throws: `ValidationError` for a character that cannot be the quote.
    static func quote(_ text: String) throws -> Unicode.Scalar {
        guard let character = text.unicodeScalars.first, text.unicodeScalars.count == 1,
            TableOptions.isQuote(character)
        else {
            throw ValidationError(
                "--quote takes one ASCII character that is not a letter, digit, blank or backslash, such as \"'\".")
        }
        return character
    }

    /// The name of a column that is given by its number.
    static func columnName(_ text: String, hasHeader: Bool) -> String {
        guard !hasHeader, let number = Int(text), number > 0 else { return text }
        return "column \(number)"
    }
}

enum CatalogArguments {
    /// The catalog of `--catalog`; nil without files.
    /// - Throws: ``CommandFailure`` with the file and the line of the mistake.
    static func catalog(_ paths: [String]) throws -> ProductCatalog? {
        guard !paths.isEmpty else { return nil }
        return try CommandFailure.naming("The catalog cannot be used") { try ProductCatalog.load(paths: paths) }
    }
}
