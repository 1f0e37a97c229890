import AppStoreModels
public import ArgumentParser
public import Migration

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
