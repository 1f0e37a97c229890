import Foundation

/// Paths without links and dots, for comparison.
enum CanonicalPath {
    /// The path with links resolved as far as it exists. The part that does not exist is appended unchanged.
    static func of(_ path: String) -> String {
        if let resolved = resolved(path) { return resolved }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let last = parts.last else { return resolved(".") ?? path }
        let parent = parts.dropLast().joined(separator: "/")
        let folder = path.hasPrefix("/") ? "/" + parent : parent
        if folder.isEmpty { return "\(resolved(".") ?? ".")/\(last)" }
        return folder == "/" ? "/\(last)" : "\(of(folder))/\(last)"
    }

    private static func resolved(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
