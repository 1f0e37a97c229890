import AppStoreModels
public import ArgumentParser
public import Migration
import ProductCatalog

extension MigrationOptions.RecordFormat: ExpressibleByArgument {}
extension MigrationOptions.OutputFormat: ExpressibleByArgument {}

enum FormatArguments {
    static let environments: [Environment] = [.production, .sandbox, .xcode]

    /// - Throws: `ValidationError` for a name that no receipt can have, which would quarantine everything.
    static func environment(_ name: String) throws -> Environment {
        guard let environment = environments.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else {
            throw ValidationError("--environment takes Production, Sandbox or Xcode, not '\(name)'.")
        }
        return environment
    }
}

enum CatalogArguments {
    /// The catalog of `--catalog`; nil without files.
    /// - Throws: ``CommandFailure`` with the file and the line of the mistake.
    static func catalog(_ paths: [String]) throws -> ProductCatalog? {
        guard !paths.isEmpty else { return nil }
        do throws(CatalogError) {
            return try ProductCatalog.load(paths: paths)
        } catch {
            throw CommandFailure("The catalog cannot be used: \(error)")
        }
    }
}
