import Foundation
import ReceiptForge
import TestSupport
import Testing

@Suite("migrate: failures", .timeLimit(.minutes(10)))
struct MigrateFailureTests {
    @Test("An output inside an input is rejected, by any path")
    func outputInsideInput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.bulk[0])
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "in")
        for output in ["in", "in/out", "./in/../in/new/deep", "link/out", folder.file("in/out")] {
            for options in [["--output", output], ["--into", "sqlite:\(output)/a.sqlite"]] {
                let outcome = try await Command.run(["migrate", "in"] + options, in: folder)
                #expect(outcome.status == 2)
                #expect(
                    outcome.error.contains("lies inside the input in and would be read as input"), "\(outcome.error)")
            }
        }
        for option in ["--summary", "--html"] {
            let outcome = try await folder.migrate("in", "--into", "sqlite:a.sqlite", option, "in/a")
            #expect(outcome.status == 2 && outcome.error.contains("The output in/a lies inside the input in"))
        }
        #expect(folder.names("in") == ["receipt"])
    }

    @Test("A path that does not exist is an error before any work, if there is no other input")
    func missingInput() async throws {
        let folder = try Folder.withRoot()
        for inputs in [["nothing.csv"], ["nothing.csv", "none-*.csv"]] {
            for option in [["--stream"], ["--output", "out"]] {
                let outcome = try await Command.run(["migrate"] + inputs + option, in: folder)
                #expect(outcome.status == 2)
                #expect(outcome.output.isEmpty)
                #expect(outcome.error == "Error: Cannot open nothing.csv: No such file or directory.\n")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    }

    @Test("The file of a database is an error before any work that says how to read it; beside others, it is reported")
    func databaseFile() async throws {
        let folder = try Folder.withRoot()
        try folder.write("app.db", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4_096))
        let advice = "app.db is a SQLite database. Read it with sqlite:PATH --query \"SELECT …\"."
        for options in [["migrate", "--stream"], ["migrate", "--output", "out"], ["plan"]] {
            let outcome = try await Command.run(options + ["app.db"], in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
            #expect(outcome.error == "Error: \(advice)\n")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
        try folder.write("dump.ndjson", Forged.ndjson(1))
        let both = try await folder.migrate("app.db", "dump.ndjson", "--output", "out")
        #expect(both.status == 1 && both.error == "\(advice) It is quarantined, and the others are read.\n", "\(both)")
        #expect(try folder.object("out/summary.json")["migrated"] as? Int == 1)
    }

    @Test("A missing path among other inputs is reported and quarantined; the same command reads it later")
    func missingBesideOthers() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(1))
        let report =
            "Cannot open nothing.ndjson: No such file or directory. It is quarantined, and the others are read.\n"
        let stream = try await folder.stream("nothing.ndjson", "dump.ndjson", to: "lines")
        #expect(stream.status == 1 && stream.error.contains(report))
        #expect(try folder.text("lines/quarantine.ndjson").contains("\"input\":\"nothing.ndjson\""))
        #expect(try folder.lines("lines/transactions.ndjson").count == 2)
        let plan = try await Command.run(
            ["plan", "nothing.ndjson", "dump.ndjson", "--trust-root", "root.der"], in: folder)
        #expect(plan.status == 1 && plan.output.contains("Cannot open nothing.ndjson"), "\(plan)")
        let first = try await folder.migrate("nothing.ndjson", "dump.ndjson", "--output", "out")
        #expect(first.status == 1 && first.error == report, "\(first)")
        try folder.write("nothing.ndjson", Forged.ndjson(2))
        let second = try await folder.migrate("nothing.ndjson", "dump.ndjson", "--output", "out")
        #expect(second.status == 0 && second.error.isEmpty, "\(second)")
        #expect(try folder.object("out/summary.json")["recordsRead"] as? Int == 3)
    }

    @Test("A file in a folder that may not be read is quarantined by its name", .enabled(if: geteuid() != 0))
    func notPermitted() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/a", Forged.bulk[0])
        let secret = try folder.write("in/b", Forged.bulk[1])
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: secret)
        let outcome = try await folder.stream("in", to: "out")
        #expect(outcome.status == 1)
        #expect(try folder.text("out/quarantine.ndjson").contains("in/b: Permission denied"))
        #expect(try folder.lines("out/transactions.ndjson").count == 2)
    }

    @Test("A broken link in a folder is quarantined by its name, and the rest is migrated")
    func brokenLink() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/a", Forged.bulk[0])
        try FileManager.default.createSymbolicLink(atPath: folder.file("in/b"), withDestinationPath: "nothing")
        try folder.write("in/c", Forged.bulk[1])
        let outcome = try await folder.stream("in", to: "out")
        #expect(outcome.status == 1, "\(outcome.error)")
        let line = try #require(try folder.lines("out/quarantine.ndjson").first)
        #expect(line["reason"] as? String == "unreadable")
        #expect(line["message"] as? String == "Cannot open in/b: No such file or directory.")
        #expect((line["source"] as? [String: Any])?["input"] as? String == "in/b")
        #expect(try folder.lines("out/transactions.ndjson").count == 4)
        #expect(try folder.object("out/summary.json")["recordsRead"] as? Int == 3)
    }

    @Test("An output folder that is a file or cannot be created is an error that names it")
    func badOutput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("file", [1])
        for output in ["file", "file/below"] {
            let outcome = try await folder.migrate("-", "--output", output, input: Forged.ndjson(1))
            #expect(outcome.status == 2)
            #expect(outcome.error.contains("The output folder \(output) cannot be created"), "\(outcome.error)")
        }
        #expect(try folder.bytes("file") == [1])
    }

    @Test(
        "A run that stops before its first record leaves no new store behind, and keeps one that was there",
        arguments: [["--into", "sqlite:store.sqlite"], ["--output", "out"]])
    func nothingRead(arguments: [String]) async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(3))
        try folder.write("dump.csv", Array("id,receipt\n1,nonsense\n".utf8))
        let before = folder.names("")
        let migrate = ["migrate", "--quiet", "--trust-root", "root.der"]
        let wrong = try await Command.run(
            migrate + ["dump.csv", "--column", "payload"] + arguments, in: folder)
        #expect(wrong.status == 2 && wrong.error.contains("dump.csv has no column payload"), "\(wrong)")
        #expect(folder.names("") == before)
        let right = try await Command.run(migrate + ["dump.ndjson"] + arguments, in: folder)
        #expect(right.status == 0, "\(right)")
        let files = (folder.names(""), folder.names("out"))
        _ = try await Command.run(migrate + ["dump.csv", "--column", "payload"] + arguments, in: folder)
        #expect(folder.names("") == files.0 && folder.names("out") == files.1)
        let store = arguments[0] == "--into" ? "store.sqlite" : "out/purchases.sqlite"
        let stats = try await Command.run("store", "stats", "--store", "sqlite:\(store)", in: folder)
        #expect(stats.status == 0, "\(stats)")
    }

    @Test("A run that stops after its first records keeps its new store")
    func somethingRead() async throws {
        let folder = try Folder.withRoot()
        try folder.write("a.csv", Array("id,payload\n1,nonsense\n".utf8))
        try folder.write("b.csv", Array("id,receipt\n1,nonsense\n".utf8))
        let outcome = try await folder.migrate("a.csv", "b.csv", "--column", "payload", "--into", "sqlite:store.sqlite")
        #expect(outcome.status == 2 && outcome.error.contains("b.csv has no column payload"), "\(outcome)")
        #expect(folder.names("").contains("store.sqlite"))
    }

    @Test("A store at its size limit ends with an error, and the same command continues when there is room")
    func fileSizeLimit() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600) + Array("{\"receipt\":\"nonsense\"}\n".utf8))
        let command = "\"$COMMAND\" migrate dump.ndjson --trust-root root.der --output out"
        let outcome = try await Command.shell("ulimit -f 64; exec \(command)", in: folder)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.hasPrefix("Error: ") && !folder.names("out").contains("summary.json"))
        let again = try await Command.shell(command, in: folder)
        #expect(again.status == 1, "\(again)")
        #expect(try folder.object("out/summary.json")["recordsRead"] as? Int == 601)
    }

    @Test(
        "A full disk ends with an error, and the same command continues later", .enabled(if: FullDisk.isPossible)
    )
    func fullDisk() async throws {
        let folder = try Folder.withRoot()
        // The quarantine keeps the records, so that the store grows: 7.5 MB, more than the disk has.
        let junk = String(repeating: "{\"receipt\":\"\(String(repeating: "junk ", count: 1_000))\"}\n", count: 1_500)
        try folder.write("dump.ndjson", Forged.ndjson(20) + Array(junk.utf8))
        let script = """
            mkdir disk && mount -t tmpfs -o size=4m tmpfs disk || exit 77
            "$COMMAND" migrate dump.ndjson --trust-root root.der --output disk/out; first=$?
            mount -o remount,size=128m disk
            "$COMMAND" migrate dump.ndjson --trust-root root.der --output disk/out; second=$?
            cp -r disk/out out; umount disk
            exit $((10 * first + second))
            """
        let outcome = try await Command.shell(script, in: folder)
        #expect(outcome.status == 21, "\(outcome)")
        #expect(outcome.error.contains("full. Repair it. Run the same command to continue where it stopped."))
        #expect(folder.names("out") == ["purchases.sqlite", "report.html", "summary.json"])
        #expect(try folder.object("out/summary.json")["migrated"] as? Int == 20)
    }
}

/// Whether a small file system can be mounted here.
enum FullDisk {
    static let isPossible: Bool = {
        guard geteuid() == 0, let folder = try? Folder() else { return false }
        let script = "mount -t tmpfs -o size=64k tmpfs '\(folder.url.path)' && umount '\(folder.url.path)'"
        return (try? ChildProcess.runWhileBlocking("sh", ["-c", script]))?.status == 0
    }()
}
