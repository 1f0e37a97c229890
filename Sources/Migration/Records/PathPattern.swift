import Foundation

/// A path with wildcards that no shell expanded, because it was quoted or matches too many files for a command line.
enum PathPattern {
    /// Whether a path that does not exist has wildcards (POSIX.1-2017, XCU 2.13).
    static func isPattern(_ path: String) -> Bool {
        path.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
    }

    /// Whether a pattern has matches.
    static func isMatched(_ path: String) -> Bool { isPattern(path) && (try? matches(of: path)) != nil }

    /// The paths that match, in the order of their bytes.
    ///
    /// - Throws: ``InputError/Code/notFound`` if there are none.
    static func matches(of pattern: String) throws(InputError) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        let status = glob(pattern, GLOB_NOSORT, nil, &found)
        guard status == 0 || status == GLOB_NOMATCH else {
            let reason = status == GLOB_NOSPACE ? "out of memory" : "a folder cannot be read"
            throw InputError(code: .unreadable, input: pattern, message: "Cannot expand \(pattern): \(reason).")
        }
        var paths: [String] = []
        for index in 0..<Int(found.gl_pathc) {
            guard let name = found.gl_pathv[index] else { continue }
            guard let path = String(validatingCString: name) else {
                throw InputError(
                    code: .nameNotUTF8, input: pattern,
                    message: "\(pattern) matches the name \(String(cString: name)), which is not UTF-8; rename it.")
            }
            paths.append(path)
        }
        guard !paths.isEmpty else {
            throw InputError(code: .notFound, input: pattern, message: "No file matches \(pattern).")
        }
        return paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
