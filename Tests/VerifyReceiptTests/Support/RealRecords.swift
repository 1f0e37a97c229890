import Foundation

/// Real receipts and replies, which live beside the package and not in it; tests that need them are skipped without them.
enum RealRecords {
    static let folder: URL? = {
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

    static func files(_ name: String) throws -> [URL] {
        guard let folder else { return [] }
        return try FileManager.default.contentsOfDirectory(
            at: folder.appending(path: name), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    static func bytes(_ file: URL) throws -> [UInt8] { Array(try Data(contentsOf: file)) }
}
