package import Foundation

/// The folder of the package, for tests that read its documents, fixtures and scripts.
package enum PackageFolder {
    /// The folder that contains Package.swift.
    package static let url = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The path of a file or a folder of the package.
    package static func path(_ name: String) -> String { url.appending(path: name).path }
}
