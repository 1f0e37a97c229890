import AppStoreModels
import Foundation
import Migration
import TestSupport
import Testing

@Suite("patterns as inputs")
struct PatternTests {
    /// The inputs in the order in which their records were read, without the folder.
    private static func read(_ inputs: [String], in folder: TemporaryFolder) async throws -> [String] {
        let output = folder.file("output-\(UUID())")
        _ = try await streamRecords(MigrationOptions(), inputs: inputs, to: output)
        let quarantine = try Data(contentsOf: URL(fileURLWithPath: output + "/quarantine.ndjson"))
        return try FixtureRun.lines([UInt8](quarantine)).compactMap { line in
            line["source"]?["input"]?.string.map { String($0.dropFirst(folder.path.count + 1)) }
        }
    }

    @Test("a pattern that no shell expanded is its matches in the order of their names")
    func matches() async throws {
        let folder = try TemporaryFolder()
        for name in ["2019-b.txt", "2019-a.txt", "2019-B.txt", "2020-a.txt", ".2019-a.txt"] {
            try folder.write(name, "1000000000000001")
        }
        let read = try await Self.read([folder.file("2019-*.txt"), folder.file("20[12]?-a.*")], in: folder)
        #expect(read == ["2019-B.txt", "2019-a.txt", "2019-b.txt", "2019-a.txt", "2020-a.txt"])
    }

    @Test("a path that exists is no pattern, with any name")
    func existing() async throws {
        let folder = try TemporaryFolder()
        try folder.write("[ab].txt", "1000000000000001")
        try folder.write("a.txt", "1000000000000001")
        #expect(try await Self.read([folder.file("[ab].txt")], in: folder) == ["[ab].txt"])
    }

    @Test("a pattern without a match is an error that names it")
    func noMatch() async throws {
        let folder = try TemporaryFolder()
        let error = await #expect(throws: MigrationError.self) {
            try await Self.read([folder.file("none-*.csv")], in: folder)
        }
        #expect(error?.code == .input)
        #expect(error?.message == "No file matches \(folder.file("none-*.csv")).")
    }

    @Test("a match that cannot be read is quarantined under its name, and the rest is read")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        try folder.write("a.txt", "1000000000000001")
        try folder.link("b.txt", to: "nowhere")
        try folder.write("c.txt", "1000000000000003")
        #expect(try await Self.read([folder.file("*.txt")], in: folder) == ["a.txt", "b.txt", "c.txt"])
    }

    @Test("an output inside a match is an error")
    func output() throws {
        let folder = try TemporaryFolder()
        try folder.write("data-1/a.txt", "1000000000000001")
        let error = #expect(throws: MigrationError.self) {
            try MigrationOptions().check(folder.file("data-1/out"), isOutside: [folder.file("data-*")])
        }
        #expect(error?.code == .outputConflict)
    }
}
