import Foundation
import Testing

/// Comments cite Documentation/Reference.md by section: `Reference.md V7.5`, `Reference.md V3.5 and V9.2`.
@Suite struct ReferenceTests {
    @Test func everyCitedSectionIsInTheReference() throws {
        let known = try sections()
        #expect(known.count > 50)
        var citations = 0
        for file in try swiftFiles() {
            for citation in try labels(in: file) {
                citations += 1
                #expect(known.contains(citation), "\(file) cites \(citation), and Reference.md has no such section")
            }
        }
        #expect(citations > 250)
    }

    @Test func noCommentCitesAReferenceThatIsNotInTheRepository() throws {
        for file in try swiftFiles() where !file.hasSuffix("ReferenceTests.swift") {
            let comments = try comments(of: file)
            #expect(!comments.contains(/(?i)(verifyreceipt|clients|catalog|server) reference\b/), "\(file)")
            #expect(!comments.contains(/\breference,? (section )?[0-9]/), "\(file)")
        }
    }

    @Test(arguments: [
        ("/// A rule (Reference.md V7.5).", ["V7.5"]),
        ("// See Reference.md\n    // S4 and S5.4; more.", ["S4", "S5.4"]),
        ("/// Reference.md V1.2 to V1.4, C3: a body", ["V1.2", "V1.4", "C3"]), ("/// The order (V3.5).", ["V3.5"]),
        ("/// No number here: Notifications V2, P256.", []),
    ])
    func citationsAreFound(comment: String, expected: [String]) throws {
        #expect(labels(inText: joined(comment)) == expected)
    }

    /// The labels of the headings.
    private func sections() throws -> Set<String> {
        let document = try text("Documentation/Reference.md")
        let headings = document.matches(of: /(?m)^#{2,3} ([VSCP][0-9]+(?:\.[0-9]+)?)\b/)
        return Set(headings.map { String($0.1) })
    }

    private func labels(in file: String) throws -> [String] {
        labels(inText: try comments(of: file))
    }

    /// What follows the name of the file, and labels with a dot anywhere.
    private func labels(inText text: String) -> [String] {
        let list = /Reference\.md ((?:[VSCP][0-9]+(?:\.[0-9]+)?(?:, | and | to |; )?)+)|\b([VSCP][0-9]+\.[0-9]+)\b/
        return text.matches(of: list).flatMap { match in
            String(match.0).matches(of: /[VSCP][0-9]+(?:\.[0-9]+)?/).map { String($0.0) }
        }
    }

    /// The comments and the texts of a file in one line, so that a citation may be wrapped. Regular expressions are slow on
    /// a whole package, so a file without the letter combination of any citation is empty.
    private func comments(of file: String) throws -> String {
        let content = try text(file)
        guard content.contains("eference") || file.hasPrefix("Sources/VerifyReceipt/") else { return "" }
        return joined(
            content.split(separator: "\n").filter { $0.contains("//") || $0.contains("\"") }.joined(separator: "\n"))
    }

    private func joined(_ text: String) -> String {
        text.split(separator: "\n")
            .map { line in
                let trimmed = line.drop { $0 == " " }
                return trimmed.hasPrefix("//") ? trimmed.drop { $0 == "/" }.drop { $0 == " " } : trimmed
            }
            .joined(separator: " ")
    }

    private func swiftFiles() throws -> [String] {
        let root = try #require(root)
        return ["Sources", "Tests", "tools"].flatMap { folder in
            (FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap { $0 as? String }
                ?? [])
                .filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.map { "\(folder)/\($0)" }
        }
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: #require(root).appending(path: path), encoding: .utf8)
    }
}
