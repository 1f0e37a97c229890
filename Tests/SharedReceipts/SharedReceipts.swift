public import Foundation

/// Real receipts, recorded replies and notifications, which live beside the package and are no part of it. Tests that need
/// them are skipped where they are not there.
public enum SharedReceipts {
    /// `../shared/receipts` as seen from the folder that holds Package.swift.
    public static let folder: URL? = {
        var place = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        while place.path != "/" {
            if FileManager.default.fileExists(atPath: place.appending(path: "Package.swift").path) {
                let receipts = place.deletingLastPathComponent().appending(path: "shared/receipts")
                let index = receipts.appending(path: "index.json").path
                return FileManager.default.fileExists(atPath: index) ? receipts : nil
            }
            place.deleteLastPathComponent()
        }
        return nil
    }()

    public static var arePresent: Bool { folder != nil }

    /// The files of one kind, which is the name of a folder, by name.
    public static func files(_ kind: String) throws -> [URL] {
        guard let folder else { return [] }
        return try FileManager.default.contentsOfDirectory(
            at: folder.appending(path: kind), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    public static func bytes(_ file: URL) throws -> [UInt8] { Array(try Data(contentsOf: file)) }
}
