import Foundation
import ReceiptForge
import Testing

@Suite("migrate: failures leave nothing that could be taken for whole", .timeLimit(.minutes(10)))
struct MigrateFailureTests {
    @Test("Files of an earlier migration are not touched without --overwrite, and replaced with it")
    func overwrite() async throws {
        let folder = try Folder.withRoot()
        let first = try await folder.migrate("-", "--output", "out", input: Forged.ndjson(1))
        #expect(first.status == 0)
        let before = try folder.bytes("out/transactions.ndjson")
        let refused = try await folder.migrate("-", "--output", "out", input: Forged.ndjson(2))
        #expect(refused.status == 2)
        #expect(refused.error.contains("out/transactions.ndjson") && refused.error.contains("--overwrite"))
        #expect(try folder.bytes("out/transactions.ndjson") == before)
        #expect(folder.names("out").count == 5)
        let replaced = try await folder.migrate("-", "--output", "out", "--overwrite", input: Forged.ndjson(2))
        #expect(replaced.status == 0)
        #expect(try folder.lines("out/transactions.ndjson").count == 4)
    }

    @Test(
        "With --overwrite the transactions of another format do not stay behind; without, they are an earlier migration"
    )
    func otherFormat() async throws {
        let folder = try Folder.withRoot()
        _ = try await folder.migrate("-", "--output", "out", "--format", "csv", input: Forged.ndjson(1))
        for name in folder.names("out") where name != "transactions.csv" {
            try FileManager.default.removeItem(atPath: folder.file("out/\(name)"))
        }
        let refused = try await folder.migrate("-", "--output", "out", input: Forged.ndjson(2))
        #expect(refused.status == 2)
        #expect(refused.error.contains("out/transactions.csv"))
        let replaced = try await folder.migrate("-", "--output", "out", "--overwrite", input: Forged.ndjson(2))
        #expect(replaced.status == 0)
        #expect(!folder.names("out").contains("transactions.csv"))
    }

    @Test("An output folder inside an input is refused, by whatever path")
    func outputInsideInput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.bulk[0])
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "in")
        for output in ["in", "in/out", "./in/../in/new/deep", "link/out", folder.file("in/out")] {
            let outcome = try await folder.migrate("in", "--output", output)
            #expect(outcome.status == 2)
            #expect(outcome.error.contains("lies inside the input in and would be read as input"), "\(outcome.error)")
        }
        #expect(folder.names("in") == ["receipt"])
    }

    @Test("An input that is one of the output files is refused, even with --overwrite")
    func inputIsOutput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("out/quarantine.ndjson", Forged.ndjson(1))
        let outcome = try await folder.migrate("out/quarantine.ndjson", "--output", "out", "--overwrite")
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("would be replaced"))
        #expect(try folder.bytes("out/quarantine.ndjson") == Forged.ndjson(1))
    }

    @Test("A path that names nothing is told before any work, whichever place it has")
    func missingInput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(1))
        let outcome = try await folder.migrate("dump.ndjson", "nothing.csv", "--output", "out")
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error == "Error: Cannot open nothing.csv: No such file or directory.\n")
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    }

    @Test("A file in a folder that may not be read is quarantined by its name", .enabled(if: geteuid() != 0))
    func notPermitted() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/a", Forged.bulk[0])
        let secret = try folder.write("in/b", Forged.bulk[1])
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: secret)
        let outcome = try await folder.migrate("in", "--output", "out")
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
        let outcome = try await folder.migrate("in", "--output", "out")
        #expect(outcome.status == 1, "\(outcome.error)")
        let line = try #require(try folder.lines("out/quarantine.ndjson").first)
        #expect(line["reason"] as? String == "unreadable")
        #expect(line["message"] as? String == "Cannot open in/b: No such file or directory.")
        #expect((line["source"] as? [String: Any])?["input"] as? String == "in/b")
        #expect(try folder.lines("out/transactions.ndjson").count == 4)
        #expect(try folder.object("out/summary.json")["recordsRead"] as? Int == 3)
    }

    @Test("A link that waits under the name of an output file is replaced and never written through")
    func plantedLink() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(1))
        try folder.write("precious", Array("precious".utf8))
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
        for name in ["transactions.ndjson.partial", "summary.json.partial"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("out/\(name)"), withDestinationPath: "../precious")
        }
        let outcome = try await folder.migrate("dump.ndjson", "--output", "out")
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try folder.text("precious") == "precious")
        #expect(try folder.lines("out/transactions.ndjson").count == 2)
        // A link under a final name is a file of an earlier migration, also where it leads nowhere.
        try FileManager.default.removeItem(atPath: folder.file("out"))
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("out/summary.json"), withDestinationPath: "../nothing")
        let refused = try await folder.migrate("dump.ndjson", "--output", "out")
        #expect(refused.status == 2)
        #expect(refused.error.contains("out/summary.json"))
    }

    @Test(
        "Interrupted, a run says so, leaves no file, and exits as shells expect",
        arguments: [("INT", 130), ("TERM", 143)])
    func interrupted(signal: String, status: Int) async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600))
        // The pipe stays open and silent: the run waits for more when the signal comes. Two jobs and one.
        for jobs in ["1", "2"] {
            let script = """
                rm -rf pipe out; mkfifo pipe
                "$COMMAND" migrate - --quiet --jobs \(jobs) --trust-root root.der --output out <pipe &
                exec 3>pipe
                cat dump.ndjson >&3
                for turn in $(seq 600); do
                    [ -s out/transactions.ndjson.partial ] && break
                    sleep 0.1
                done
                kill -\(signal) $!
                wait $!
                status=$?
                ls out
                exit $status
                """
            let outcome = try await Command.shell(script, in: folder)
            #expect(Int(outcome.status) == status, "\(outcome)")
            #expect(outcome.output.isEmpty, "\(outcome.output)")
            #expect(outcome.error.hasPrefix("Interrupted after "), "\(outcome.error)")
            #expect(outcome.error.contains("No file of this migration was kept in out."))
        }
    }

    @Test("An output that is no folder, or cannot be made, is an error that names it")
    func badOutput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("file", [1])
        for output in ["file", "file/below"] {
            let outcome = try await folder.migrate("-", "--output", output, input: Forged.ndjson(1))
            #expect(outcome.status == 2)
            #expect(outcome.error.contains("The output folder \(output) "), "\(outcome.error)")
        }
        #expect(try folder.bytes("file") == [1])
    }

    @Test("A file that may not grow further ends with an error, and with no file at all")
    func fileSizeLimit() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600))
        let outcome = try await Command.shell(
            "ulimit -f 64; exec \"$COMMAND\" migrate dump.ndjson --trust-root root.der --output out", in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains("out/transactions.ndjson cannot be written: File too large."))
        #expect(folder.names("out").isEmpty)
    }

    @Test(
        "A full disk ends with an error; an earlier migration on it stays as it was", .enabled(if: FullDisk.isPossible))
    func fullDisk() async throws {
        let folder = try Folder.withRoot()
        try folder.write("small.ndjson", Forged.ndjson(1))
        try folder.write("dump.ndjson", Forged.ndjson(600))
        let script = """
            mkdir disk && mount -t tmpfs -o size=128k tmpfs disk || exit 77
            "$COMMAND" migrate small.ndjson --trust-root root.der --output disk/out >/dev/null || echo first
            cp -r disk/out before
            "$COMMAND" migrate dump.ndjson --trust-root root.der --output disk/out --overwrite; status=$?
            cp -r disk/out after; umount disk
            exit $status
            """
        let outcome = try await Command.shell(script, in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains("cannot be written: No space left on device."))
        #expect(folder.names("before").count == 5)
        #expect(folder.names("after") == folder.names("before"))
        for name in folder.names("before") {
            #expect(try folder.bytes("after/\(name)") == folder.bytes("before/\(name)"))
        }
    }

    @Test("Killed halfway, a run leaves files that end in .partial; the next run replaces them")
    func killed() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600))
        // The pipe stays open: the run waits for more when it is killed.
        let script = """
            mkfifo pipe
            "$COMMAND" migrate - --quiet --jobs 1 --trust-root root.der --output out <pipe &
            exec 3>pipe
            cat dump.ndjson >&3
            for turn in $(seq 200); do
                [ -s out/transactions.ndjson.partial ] && break
                sleep 0.1
            done
            kill -9 $!
            wait
            ls out
            """
        let outcome = try await Command.shell(script, in: folder)
        let names = outcome.output.split(separator: "\n").map(String.init)
        #expect(names.count == 5, "\(outcome)")
        #expect(names.allSatisfy { $0.hasSuffix(".partial") })
        let again = try await folder.migrate("dump.ndjson", "--output", "out")
        #expect(again.status == 0)
        #expect(folder.names("out").count == 5)
        #expect(folder.names("out").allSatisfy { !$0.hasSuffix(".partial") })
        #expect(try folder.lines("out/transactions.ndjson").count == 1200)
    }

    @Test("Two migrations into one folder at the same time: the second is refused, the first is whole")
    func twoAtOnce() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600))
        let script = """
            { cat dump.ndjson; while [ ! -e second ]; do sleep 0.1; done; } \\
                | "$COMMAND" migrate - --quiet --jobs 1 --trust-root root.der --output out >first &
            for turn in $(seq 200); do
                [ -s out/transactions.ndjson.partial ] && break
                sleep 0.1
            done
            "$COMMAND" migrate dump.ndjson --trust-root root.der --output out --overwrite; status=$?
            touch second
            wait
            exit $status
            """
        let outcome = try await Command.shell(script, in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.error == "Error: Another migration is writing into the output folder out at this moment.\n")
        #expect(try folder.lines("out/transactions.ndjson").count == 1200)
        #expect(try folder.object("out/summary.json")["recordsRead"] as? Int == 600)
    }
}

/// Whether a small file system can be mounted here.
enum FullDisk {
    static let isPossible: Bool = {
        guard geteuid() == 0, let folder = try? Folder() else { return false }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "mount -t tmpfs -o size=64k tmpfs '\(folder.url.path)' && umount '\(folder.url.path)'",
        ]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
