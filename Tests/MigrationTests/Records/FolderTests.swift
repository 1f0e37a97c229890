import Foundation
import Migration
import TestSupport
import Testing

@Suite("Files and folders")
struct FolderTests {
    @Test("a folder is read in the order of its paths' bytes, without hidden entries")
    func order() throws {
        let folder = try TemporaryFolder()
        for (index, name) in ["b/z.b64", "b.b64", "b-1.b64", "a.b64", "B.b64", "b/a/x.b64", ".hidden", ".git/x.b64"]
            .enumerated()
        {
            try folder.write(name, Made.receipt(index))
        }
        let reading = Reading([.path(folder.path)])
        let names = reading.records.map { String($0.place.input.dropFirst(folder.path.count + 1)) }
        #expect(names == ["B.b64", "a.b64", "b-1.b64", "b.b64", "b/a/x.b64", "b/z.b64"])
        #expect(reading.statistics.inputs == 6)
        #expect(Reading([.path(folder.path + "/")]).records.map(\.place.input) == reading.records.map(\.place.input))
    }

    @Test("the file of a database says how to read it", arguments: ["SQLite format 3\u{0}", "PGDMP\u{1}\u{e}"])
    func databaseFiles(magic: String) throws {
        let bytes = Array(magic.utf8) + [UInt8](repeating: 0, count: 4_096)
        let piped = Reading([.bytes(bytes, name: "-")])
        #expect(piped.records.isEmpty)
        let folder = try TemporaryFolder()
        try folder.write("app.db", bytes)
        try folder.write("b.b64", Made.receipt(1))
        let reading = Reading([.path(folder.path)])
        #expect(reading.kinds == ["unreadable", "receipt"])
        guard case .unrecognized(let problem) = reading.records[0].payload else { return }
        for message in [problem.message, piped.errors.first?.message ?? ""] {
            #expect(message.contains("--query \"SELECT …\""))
            #expect(message.contains(magic.hasPrefix("PG") ? "pg_restore" : "sqlite:PATH"))
        }
    }

    @Test("symbolic links are followed, loops are not")
    func links() throws {
        let folder = try TemporaryFolder()
        try folder.write("a/one.b64", Made.receipt(1))
        try folder.link("a/loop", to: "..")
        try folder.link("a/self", to: ".")
        try folder.link("again", to: "a")
        try folder.link("file", to: "a/one.b64")
        let reading = Reading([.path(folder.path)])
        #expect(reading.errors.isEmpty)
        #expect(
            reading.records.map { String($0.place.input.dropFirst(folder.path.count + 1)) } == ["a/one.b64", "file"])
    }

    @Test("a named column that no object has stops at once, with an object in each file")
    func columnOfNoFile() throws {
        let folder = try TemporaryFolder()
        let with = { (name: String, seed: Int) in "{\n\"user\":1,\n\"\(name)\":\"\(Made.receipt(seed))\"\n}\n" }
        for number in 1...3 { try folder.write("\(number).json", with("data", number)) }
        let files = (1...3).map { InputArgument.path(folder.file("\($0).json")) }
        var options = InputOptions(receiptColumns: ["receipt"])
        for arguments in [[InputArgument.path(folder.path)], files] {
            let reading = Reading(arguments, options: options)
            #expect(reading.records.isEmpty && reading.errors.map(\.code) == [.columnNotFound])
            let message = reading.errors.first?.message ?? ""
            #expect(message.contains("None of the first 3 files has a member receipt."), "\(message)")
            #expect(message.contains("1.json are: user, data."), "\(message)")
        }
        // One object may be incomplete.
        #expect(Reading([files[0]], options: options).kinds == ["missingColumn"])
        options.columnsAppearLater = true
        #expect(Reading(files, options: options).kinds == ["missingColumn", "missingColumn", "missingColumn"])
        options.columnsAppearLater = false
        try folder.write("3.json", with("receipt", 3))
        #expect(Reading(files, options: options).kinds == ["missingColumn", "missingColumn", "receipt"])
        // Files without any document are no records of the caller.
        for number in 1...3 { try folder.write("\(number).json", "{\"user\":\(number)}") }
        #expect(Reading(files, options: options).kinds == ["missingColumn", "missingColumn", "missingColumn"])
    }

    @Test("an unreadable file is a record that names it, and the rest is read")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.b64", Made.receipt(1))
        try folder.link("b", to: "nowhere")
        try folder.write("c.b64", Made.receipt(2))
        let reading = Reading([.path(folder.path), .path(folder.path + "/absent"), .path(folder.path + "/c.b64")])
        #expect(reading.receipts == [Made.receipt(1), "-", Made.receipt(2), "-", Made.receipt(2)])
        #expect(reading.kinds == ["receipt", "unreadable", "receipt", "unreadable", "receipt"])
        #expect(reading.records[1].place.input == folder.path + "/b")
        #expect(reading.records[3].place.input == folder.path + "/absent")
        #expect(reading.errors.isEmpty)
    }

    @Test("a name that is not UTF-8, and folders nested beyond the limit, are records of their own")
    func namesAndDepth() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.b64", Made.receipt(1))
        let name = Array("\(folder.path)/b\\".utf8) + [0xFF, 0x0A]
        let descriptor = (name + [0]).withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return -1 }
            return open(start.assumingMemoryBound(to: CChar.self), O_WRONLY | O_CREAT, 0o600)
        }
        // Not every file system takes such a name.
        try #require(descriptor >= 0)
        close(descriptor)
        var deep = "d"
        for _ in 0...InputLimits.folderDepth { deep += "/d" }
        try folder.write(deep + "/too-deep.b64", Made.receipt(2))
        try folder.write("e.b64", Made.receipt(3))
        let reading = Reading([.path(folder.path)])
        #expect(reading.errors.isEmpty)
        #expect(reading.kinds == ["receipt", "unreadable", "unreadable", "receipt"])
        #expect(reading.records[1].place.input == folder.path + #"/b\x5C\xFF\x0A"#)
        #expect(reading.records[2].place.input.hasPrefix(folder.path + "/d/d/"))
        #expect(reading.receipts.last == Made.receipt(3))
    }

    @Test("a file without permission is named", .enabled(if: getuid() != 0))
    func permission() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.b64", Made.receipt())
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.path + "/a.b64")
        #expect(Reading([.path(folder.path)]).kinds == ["unreadable"])
    }

    @Test("a FIFO inside a folder does not block")
    func fifo() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.b64", Made.receipt())
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(Reading([.path(folder.path)]).records.count == 1)
    }

    @Test("an error of a table does not take the files before it away")
    func errorsKeepRecords() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.b64", Made.receipt(1))
        try folder.write("b.csv", "x,y\n1,2\n")
        try folder.write("c.b64", Made.receipt(3))
        let reading = Reading([.path(folder.path)])
        #expect(reading.receipts == [Made.receipt(1), Made.receipt(3)])
        #expect(reading.errors.map(\.code) == [.columnUndetectable])
    }

    @Test("a minus sign is standard input")
    func minus() {
        #expect(InputArgument("-") == .standardInput)
        #expect(InputArgument("x") == .path("x"))
    }

    @Test("every real file is one record of the kind its folder says", .enabled(if: RealRecordFiles.folder != nil))
    func realFiles() throws {
        let folder = try #require(RealRecordFiles.folder)
        let reading = Reading([.path(folder)])
        #expect(reading.errors.isEmpty)
        // The index is an array, and some elements name a transaction.
        let (index, files) = (
            reading.records.filter { $0.place.input.hasSuffix("/index.json") },
            reading.records.filter { !$0.place.input.hasSuffix("/index.json") }
        )
        #expect(reading.statistics.inputs == files.count + 1)
        #expect(!index.isEmpty)
        #expect(index.allSatisfy { $0.payload.kind == "unknownForm" || $0.payload.kind.hasPrefix("id ") })
        for record in files {
            let expected: Set<String>
            let name = record.place.input.dropFirst(folder.count + 1)
            switch name.split(separator: "/").first {
            // The receipt of this reply has rows in a member that is not Apple's, `recip`.
            case "responses" where name == "responses/048.json": expected = ["reply+transactions"]
            case "responses", "pairs": expected = ["reply"]
            case "notifications-v1": expected = ["notification"]
            default: expected = ["receipt"]
            }
            #expect(expected.contains(record.payload.kind), "\(record.place)")
            #expect(record.original.count == record.length)
        }
    }

    @Test(
        "the real receipts give the same payloads out of NDJSON, CSV and a JSON array",
        .enabled(if: RealRecordFiles.folder != nil))
    func realReceiptsInContainers() throws {
        let folder = try #require(RealRecordFiles.folder)
        let expected = Reading(["production", "sandbox", "ios6", "xcode"].map { .path(folder + "/" + $0) }).receipts
        #expect(!expected.isEmpty)
        let objects = expected.enumerated().map {
            "{\"user_id\":\($0),\"receipt\":\"\($1.replacing("/", with: "\\/"))\"}"
        }
        let csv = "user_id;receipt\n" + expected.enumerated().map { "\($0);\"\($1)\"\r\n" }.joined()
        for text in [
            objects.joined(separator: "\n"), "[" + objects.joined(separator: ",") + "]", csv,
            expected.joined(separator: "\n"),
        ] {
            #expect(Reading(text).receipts == expected)
        }
        for receipt in expected {
            for width in [64, 76] {
                let wrapped = Made.wrapped(receipt, at: width)
                #expect(Reading(wrapped + "\n").receipts == [wrapped])
            }
        }
    }
}
