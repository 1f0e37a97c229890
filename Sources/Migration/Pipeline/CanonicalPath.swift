import Foundation

/// Paths without links and dots, for comparison.
enum CanonicalPath {
    /// The path with links resolved as far as it exists. The part that does not exist is appended unchanged. A link whose target
    /// does not exist is resolved too, so that the path is the same when the target is there.
    static func of(_ path: String) -> String { of(path, links: maximumLinks) }

    /// The system follows at most this many.
    private static let maximumLinks = 40

    private static func of(_ path: String, links: Int) -> String {
        if let resolved = resolved(path) { return resolved }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let last = parts.last else { return resolved(".") ?? path }
        let parent = parts.dropLast().joined(separator: "/")
        let folder = path.hasPrefix("/") ? "/" + parent : parent
        let beside = folder.isEmpty || folder == "/" ? folder : folder + "/"
        if links > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: beside + last) {
            return of(target.hasPrefix("/") ? target : beside + target, links: links - 1)
        }
        if folder.isEmpty { return "\(resolved(".") ?? ".")/\(last)" }
        return folder == "/" ? "/\(last)" : "\(of(folder, links: links))/\(last)"
    }

    private static func resolved(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
